//! Writes SPC and lackey. An object is a page, as for [`crate::Reader`] with the same page size.
use crate::{Batch, Error, Flags};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Bits of a page's number. The SPC unit is in the bits above.
const UNIT: u32 = 48;

pub(super) struct Spc {
    page: u32,
}

impl Spc {
    /// # Errors
    /// Pages are smaller than a block of 512 bytes.
    pub fn new(path: &Path, page: u32) -> Result<Spc, Error> {
        if page >= 512 {
            return Ok(Spc { page });
        }
        Err(Error::File {
            file: path.to_path_buf(),
            problem: format!("pages of {page} bytes do not fit spc, whose blocks have 512"),
        })
    }

    /// `unit,block,bytes,R or W,seconds`, blocks of 512 bytes.
    pub fn rows(&self, batch: &Batch, to: &mut Vec<u8>) {
        for (at, &id) in batch.ids.iter().enumerate() {
            let (unit, page) = (id >> UNIT, id & ((1 << UNIT) - 1));
            let block = u128::from(page) * u128::from(self.page) / 512;
            let write = batch.flags.get(at).is_some_and(|f| f.has(Flags::WRITE));
            let op = if write { 'W' } else { 'R' };
            let time = batch.times.get(at).copied().unwrap_or(0.0);
            // Writing to a Vec cannot fail.
            let _ = writeln!(to, "{unit},{block},{},{op},{time}", self.page);
        }
    }
}

pub(super) struct Lackey {
    file: PathBuf,
    shift: u32,
}

impl Lackey {
    pub fn new(path: &Path, page: u32) -> Lackey {
        Lackey {
            file: path.to_path_buf(),
            shift: page.trailing_zeros(),
        }
    }

    /// `I`, `L` or `S`, then the page's first address and one byte.
    pub fn rows(&self, batch: &Batch, to: &mut Vec<u8>) -> Result<(), Error> {
        for (at, &id) in batch.ids.iter().enumerate() {
            let flags = batch.flags.get(at).copied().unwrap_or(Flags::NONE);
            let kind = match (flags.has(Flags::EXEC), flags.has(Flags::WRITE)) {
                (true, _) => "I ",
                (_, true) => " S",
                _ => " L",
            };
            let address = id.checked_mul(1 << self.shift).ok_or_else(|| Error::File {
                file: self.file.clone(),
                problem: format!("page {id}: its address does not fit 64 bits, as lackey has them"),
            })?;
            // Writing to a Vec cannot fail.
            let _ = writeln!(to, "{kind} {address:08x},1");
        }
        Ok(())
    }
}
