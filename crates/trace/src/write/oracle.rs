//! Writes oracleGeneral. Each record has the next access of its object, so all requests are stored first.
use crate::{Batch, Error, Renumber};
use std::path::{Path, PathBuf};

/// Records written at a time.
const CHUNK: usize = 1 << 14;

pub(super) struct Oracle {
    renumber: Renumber,
    ids: Vec<u32>,
    times: Vec<u32>,
    sizes: Vec<u32>,
    /// The number of each object in the file, by dense id.
    keys: Vec<u64>,
    size: u32,
    /// The file's name, for errors.
    file: PathBuf,
}

impl Oracle {
    pub fn new(file: &Path, size: u32) -> Oracle {
        Oracle {
            renumber: Renumber::new(1 << 20),
            ids: Vec::new(),
            times: Vec::new(),
            sizes: Vec::new(),
            keys: Vec::new(),
            size,
            file: file.to_path_buf(),
        }
    }

    pub fn put(&mut self, batch: &Batch) -> Result<(), Error> {
        let from = self.ids.len();
        let taken = self.renumber.extend(&batch.ids, &mut self.ids);
        if taken.is_err() || self.ids.len() > u32::MAX as usize - 1 {
            return Err(Error::File {
                file: self.file.clone(),
                problem:
                    "more than 4294967294 requests do not fit oracleGeneral; write text or csv"
                        .into(),
            });
        }
        for (&id, &key) in self.ids[from..].iter().zip(&batch.ids) {
            if id as usize == self.keys.len() {
                self.keys.push(key);
            }
        }
        if let Some(at) = batch.times.iter().position(|&t| t >= 2f64.powi(32)) {
            let (request, time) = (from + at + 1, batch.times[at]);
            return Err(Error::File {
                file: self.file.clone(),
                problem: format!(
                    "request {request}: a time of {time} s does not fit oracleGeneral, which ends at 4294967295"
                ),
            });
        }
        // The conversion rounds down.
        self.times.extend(batch.times.iter().map(|&t| t as u32));
        self.sizes.extend_from_slice(&batch.sizes);
        Ok(())
    }

    /// Gives the records to `to`, with their number each time.
    pub fn write(
        &mut self,
        mut to: impl FnMut(&[u8], u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let next = next_accesses(&self.ids, self.keys.len());
        let mut bytes = Vec::with_capacity(CHUNK * 24);
        for (at, (&id, &next)) in self.ids.iter().zip(&next).enumerate() {
            let time = self.times.get(at).copied().unwrap_or(0);
            let size = self.sizes.get(at).copied().unwrap_or(self.size);
            let next = match next {
                0 => -1,
                n => i64::from(n),
            };
            bytes.extend_from_slice(&time.to_le_bytes());
            bytes.extend_from_slice(&self.keys[id as usize].to_le_bytes());
            bytes.extend_from_slice(&size.to_le_bytes());
            bytes.extend_from_slice(&next.to_le_bytes());
            if bytes.len() == CHUNK * 24 {
                to(&bytes, CHUNK as u64)?;
                bytes.clear();
            }
        }
        to(&bytes, (bytes.len() / 24) as u64)
    }
}

/// The number of each request's next request for the same object, from 1; 0 where there is none.
fn next_accesses(ids: &[u32], objects: usize) -> Vec<u32> {
    let mut next = vec![0; ids.len()];
    let mut last = vec![0u32; objects];
    for (at, (&id, next)) in ids.iter().zip(&mut next).enumerate().rev() {
        let last = &mut last[id as usize];
        *next = *last;
        *last = at as u32 + 1;
    }
    next
}
