//! The pages of the index and of the records: their places in the files, their residency, and
//! locking.
use anyhow::{ensure, Context, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Error;
use std::os::fd::AsRawFd;
use std::path::Path;

pub const PAGE: u64 = 4096;

/// The file with the places, beside the database.
const MADE: &str = "made.json";

/// A database as it was made.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub records: u64,
    pub files: Vec<Parts>,
}

/// The first page, and the number of pages.
pub type Stretch = (u64, u64);

/// The pages of one file of a database, in two parts. Other pages of the file are never read.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    pub file: String,
    pub index: Vec<Stretch>,
    pub records: Vec<Stretch>,
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

/// Rising page numbers, as stretches.
pub fn stretches(pages: impl IntoIterator<Item = u64>) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for page in pages {
        match out.last_mut() {
            Some((first, count)) if *first + *count == page => *count += 1,
            _ => out.push((page, 1)),
        }
    }
    out
}

/// The written parts of a file. A hole at its end is space that an engine has reserved.
pub fn written(path: &Path) -> Result<Vec<Stretch>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    // SEEK_DATA need not report data that is not on the disk yet.
    file.sync_all()?;
    let end = file.metadata()?.len();
    let mut out = Vec::new();
    let seek = |from: u64, whence| {
        // SAFETY: lseek(2) takes no memory.
        let at = unsafe { libc::lseek(file.as_raw_fd(), from as i64, whence) };
        u64::try_from(at).ok()
    };
    let mut from = 0;
    while let Some(data) = seek(from, libc::SEEK_DATA) {
        from = seek(data, libc::SEEK_HOLE).unwrap_or(end);
        out.push((data / PAGE, (from - data).div_ceil(PAGE)));
    }
    ensure!(!out.is_empty(), "{} is empty", path.display());
    Ok(out)
}

/// A file of a database, mapped for mincore(2) and mlock(2). Nothing is read through the mapping.
pub struct Map {
    at: *mut libc::c_void,
    pages: u64,
    parts: [Vec<Stretch>; 2],
    residency: Vec<u8>,
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
        let context = || format!("mapping {}", path.display());
        let file = File::open(&path).with_context(context)?;
        let pages = file.metadata().with_context(context)?.len().div_ceil(PAGE);
        let parts = [parts.index.clone(), parts.records.clone()];
        let ends = { parts.iter().flatten() }.map(|(first, count)| first + count);
        let end = ends.max().unwrap_or(0);
        ensure!(
            end > 0 && end <= pages,
            "{} has {pages} pages, fewer than the {end} that were made",
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
        ensure!(
            at != libc::MAP_FAILED,
            "{}: {}",
            context(),
            Error::last_os_error()
        );
        Ok(Map {
            at,
            pages,
            parts,
            residency: vec![0; pages as usize],
        })
    }

    pub fn pages(&self) -> Split {
        self.split(|(_, count)| count)
    }

    /// The pages that are in memory.
    pub fn resident(&mut self) -> Result<Split> {
        let len = (self.pages * PAGE) as usize;
        // SAFETY: the whole mapping, and a byte for each of its pages.
        let result = unsafe { libc::mincore(self.at, len, self.residency.as_mut_ptr()) };
        ensure!(result == 0, "mincore: {}", Error::last_os_error());
        Ok(self.split(|(first, count)| {
            let pages = &self.residency[first as usize..(first + count) as usize];
            pages.iter().map(|page| u64::from(page & 1)).sum()
        }))
    }

    fn split(&self, of: impl Fn(Stretch) -> u64) -> Split {
        let sum = |part: &[Stretch]| part.iter().map(|stretch| of(*stretch)).sum();
        Split {
            index: sum(&self.parts[0]),
            records: sum(&self.parts[1]),
        }
    }

    /// Locks the index in memory, which reads all of it.
    pub fn lock_index(&self) -> Result<()> {
        for (first, count) in &self.parts[0] {
            let len = (count * PAGE) as usize;
            // SAFETY: within the mapping, as `open` has checked.
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
    fn consecutive_pages_make_one_stretch() {
        let made = stretches([0, 1, 2, 7, 9, 10]);
        assert_eq!(made, [(0, 3), (7, 1), (9, 2)]);
        assert_eq!(stretches([]), []);
    }

    #[test]
    fn pages_are_counted_and_locked_by_part() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), vec![1; 10 * PAGE as usize]).unwrap();
        let mut parts = Parts {
            file: "a".into(),
            index: vec![(1, 2), (8, 2)],
            records: vec![(3, 5)],
        };
        let mut map = Map::open(folder.path(), &parts).unwrap();
        let all = Split {
            index: 4,
            records: 5,
        };
        assert_eq!(map.pages(), all);
        map.lock_index().unwrap();
        // Written just now, and locked.
        assert_eq!(map.resident().unwrap().index, 4);
        assert!(map.resident().unwrap().records <= 5);
        parts.index.push((10, 1));
        assert!(Map::open(folder.path(), &parts).is_err());
    }
}
