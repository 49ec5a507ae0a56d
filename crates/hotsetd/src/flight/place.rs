//! Where the file may be, and how large.
use rustix::fs::statfs;
use std::path::Path;

/// The largest share of what is free on the disk.
const SHARE: u64 = 16;
/// f_type of file systems in memory (linux/magic.h): tmpfs, ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Bytes of the file, at most `wanted`.
///
/// # Errors
/// The disk is full, or the file would lie in memory.
pub fn bytes(path: &Path, wanted: u64) -> Result<u64, Refusal> {
    let there = std::fs::metadata(path).map_or(0, |found| found.len());
    let room = room(path);
    match room {
        // What a file has it keeps, also on a disk that has filled up since.
        Ok(room) if wanted <= room + there => Ok(wanted),
        _ if there >= flight::LEAST => Ok(there.min(wanted)),
        room => Ok(room?.min(wanted)),
    }
}

/// Why there is no file.
pub enum Refusal {
    /// Memory is what the record is to save.
    InMemory,
    /// Another time there may be one.
    Now(String),
}

/// Bytes that a new file may have.
fn room(path: &Path) -> Result<u64, Refusal> {
    let there = path.ancestors().skip(1).find(|folder| folder.is_dir());
    let there = there.ok_or_else(|| Refusal::Now("there is no such folder".into()))?;
    let found = statfs(there).map_err(|errno| Refusal::Now(names::io_error(&errno.into())))?;
    if IN_MEMORY.contains(&(found.f_type as u64)) {
        return Err(Refusal::InMemory);
    }
    let free = found.f_bavail as u64 * found.f_bsize as u64;
    match free / SHARE {
        bytes if bytes >= flight::LEAST => Ok(bytes),
        _ => Err(Refusal::Now(format!("the disk has {} MB free", free >> 20))),
    }
}
