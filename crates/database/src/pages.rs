//! Which pages of which file are the index's; whether they are in memory, and how they are kept there.
use anyhow::{ensure, Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Error;
use std::os::fd::AsRawFd;
use std::path::Path;

pub const PAGE: u64 = 4096;

/// What `make` leaves beside a database for those who look up.
const MADE: &str = "made.json";

/// A database as it was made.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub records: u64,
    pub files: Vec<Parts>,
}

/// One file of a database.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    pub file: String,
    /// Pages of the index: the first and how many, rising. All others are the records'.
    pub index: Vec<(u64, u64)>,
}

impl Made {
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(MADE);
        let text = serde_json::to_string(self)?;
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    pub fn read(folder: &Path) -> Result<Made> {
        let path = folder.join(MADE);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("reading {}: no database yet?", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("in {}", path.display()))
    }
}

/// Page numbers, rising, as stretches.
pub fn stretches(pages: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut out: Vec<(u64, u64)> = Vec::new();
    for page in pages {
        match out.last_mut() {
            Some((first, count)) if *first + *count == page => *count += 1,
            _ => out.push((page, 1)),
        }
    }
    out
}

/// A file of a database, mapped to be asked about and to be locked; nothing is read through it.
pub struct Map {
    at: *mut libc::c_void,
    pages: u64,
    index: Vec<(u64, u64)>,
    room: Vec<u8>,
}

/// Pages of the index and of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    pub index: u64,
    pub records: u64,
}

impl Map {
    pub fn open(folder: &Path, parts: &Parts) -> Result<Map> {
        let path = folder.join(&parts.file);
        let what = || format!("mapping {}", path.display());
        let file = File::open(&path).with_context(what)?;
        let pages = file.metadata().with_context(what)?.len().div_ceil(PAGE);
        let end = parts.index.last().map_or(0, |(first, count)| first + count);
        ensure!(
            pages > 0 && end <= pages,
            "{}: {pages} pages, and the index is said to end at {end}",
            path.display()
        );
        // SAFETY: a fresh mapping, which is never unmapped; the descriptor lives through the call.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                (pages * PAGE) as usize,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        ensure!(at != libc::MAP_FAILED, "{}: {}", what(), Error::last_os_error());
        Ok(Map {
            at,
            pages,
            index: parts.index.clone(),
            room: vec![0; pages as usize],
        })
    }

    pub fn pages(&self) -> Split {
        let index = self.index.iter().map(|(_, count)| count).sum();
        Split {
            index,
            records: self.pages - index,
        }
    }

    /// Those that are in memory.
    pub fn resident(&mut self) -> Result<Split> {
        let len = (self.pages * PAGE) as usize;
        // SAFETY: the whole of our mapping, and a byte for each of its pages.
        let result = unsafe { libc::mincore(self.at, len, self.room.as_mut_ptr()) };
        ensure!(result == 0, "mincore: {}", Error::last_os_error());
        let count = |pages: &[u8]| pages.iter().map(|page| u64::from(page & 1)).sum::<u64>();
        let of_index = |(first, many): &(u64, u64)| {
            let first = *first as usize;
            count(&self.room[first..first + *many as usize])
        };
        let index = self.index.iter().map(of_index).sum();
        Ok(Split {
            index,
            records: count(&self.room) - index,
        })
    }

    /// Locks the index in memory, which reads it.
    pub fn lock_index(&self) -> Result<()> {
        for (first, count) in &self.index {
            let len = (count * PAGE) as usize;
            // SAFETY: within our mapping, as `open` has seen.
            let result = unsafe { libc::mlock(self.at.byte_add((first * PAGE) as usize), len) };
            let why = Error::last_os_error();
            ensure!(result == 0, "locking {len} bytes of the index: {why}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_make_one_stretch() {
        let made = stretches([0, 1, 2, 7, 9, 10]);
        assert_eq!(made, [(0, 3), (7, 1), (9, 2)]);
        assert_eq!(stretches([]), []);
    }

    #[test]
    fn a_page_is_the_indexs_or_the_records() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), vec![1; 10 * PAGE as usize]).unwrap();
        let mut parts = Parts {
            file: "a".into(),
            index: vec![(1, 2), (8, 2)],
        };
        let mut map = Map::open(folder.path(), &parts).unwrap();
        let all = Split {
            index: 4,
            records: 6,
        };
        assert_eq!(map.pages(), all);
        map.lock_index().unwrap();
        // Written just now, and locked.
        assert_eq!(map.resident().unwrap().index, 4);
        assert!(map.resident().unwrap().records <= 6);
        parts.index.push((10, 1));
        assert!(Map::open(folder.path(), &parts).is_err());
    }
}
