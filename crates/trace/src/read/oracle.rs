//! oracleGeneral: libCacheSim's records of 24 bytes, little-endian and packed.
use super::source::{Batch, Context, Source};
use crate::{CutOff, Error, Place};
use std::io::{ErrorKind, Read};

/// Bytes: u32 seconds, u64 object, u32 bytes, i64 next access.
pub(crate) const RECORD: usize = 24;

pub(crate) struct Oracle<R> {
    input: R,
    buffer: Vec<u8>,
    /// Records before the buffer.
    records: u64,
}

impl<R: Read> Oracle<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            records: 0,
        }
    }
}

impl<R: Read + Send> Source for Oracle<R> {
    fn has_flags(&self) -> bool {
        false
    }

    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error> {
        self.buffer.resize(context.room * RECORD, 0);
        let mut got = 0;
        while got < self.buffer.len() {
            match self.input.read(&mut self.buffer[got..]) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The requests before the cut come first; the next call finds the cut again.
                Err(e) if CutOff::is(&e) && got >= RECORD => {
                    got -= got % RECORD;
                    break;
                }
                Err(e) => {
                    let whole = self.records + (got / RECORD) as u64;
                    context.end_early(Place::Record(whole), e)?;
                    got = 0;
                    break;
                }
            }
        }
        if got == 0 {
            return Ok(false);
        }
        let records = self.buffer[..got].chunks_exact(RECORD);
        let (count, rest) = (records.len() as u64, records.remainder());
        if records.clone().all(|r| next(r) >= UNKNOWN) {
            batch.ids.extend(records.clone().map(id));
            batch.times.extend(records.clone().map(time));
            batch.sizes.extend(records.map(size));
        } else {
            for (at, record) in records.enumerate() {
                if next(record) < UNKNOWN {
                    let found = format!("{}; is it another format?", next(record));
                    let place = Place::Record(self.records + at as u64 + 1);
                    context.malformed(place, "a next access of -1 or a later record", found)?;
                    continue;
                }
                batch.ids.push(id(record));
                batch.times.push(time(record));
                batch.sizes.push(size(record));
            }
        }
        self.records += count;
        if !rest.is_empty() {
            let found = format!(
                "{} bytes; the file is cut off or in another format",
                rest.len()
            );
            context.malformed(Place::Record(self.records + 1), "24 bytes", found)?;
        }
        Ok(true)
    }
}

/// libCacheSim's value for an unknown next access. -1 stands for no next access.
const UNKNOWN: i64 = -2;

fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&record[at..at + N]);
    out
}

fn time(record: &[u8]) -> f64 {
    f64::from(u32::from_le_bytes(bytes(record, 0)))
}

fn id(record: &[u8]) -> u64 {
    u64::from_le_bytes(bytes(record, 4))
}

fn size(record: &[u8]) -> u32 {
    u32::from_le_bytes(bytes(record, 12))
}

fn next(record: &[u8]) -> i64 {
    i64::from_le_bytes(bytes(record, 16))
}
