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
/// The file would lie in memory, which is what it is to save, or the disk is full.
pub fn bytes(path: &Path, wanted: u64) -> Result<u64, String> {
    let there = std::fs::metadata(path).map_or(0, |found| found.len());
    let room = room(path);
    match room {
        // What a file has it keeps, also on a disk that has filled up since.
        Ok(room) if wanted <= room + there => Ok(wanted),
        _ if there >= flight::LEAST => Ok(there.min(wanted)),
        room => Ok(room?.min(wanted)),
    }
}

/// Bytes that a new file may have.
fn room(path: &Path) -> Result<u64, String> {
    let there = path.ancestors().skip(1).find(|folder| folder.is_dir());
    let there = there.ok_or("there is no such folder")?;
    let found = statfs(there).map_err(|errno| names::io_error(&errno.into()))?;
    if IN_MEMORY.contains(&(found.f_type as u64)) {
        return Err("its folder lies in memory (tmpfs), which a record would use up".into());
    }
    let free = found.f_bavail as u64 * found.f_bsize as u64;
    match free / SHARE {
        bytes if bytes >= flight::LEAST => Ok(bytes),
        _ => Err(format!("the disk has {} MB free", free >> 20)),
    }
}
