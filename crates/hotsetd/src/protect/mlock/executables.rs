//! Locks the pages of executables and libraries that are in memory.
//!
//! Only files of hotsetd's own user, root, are locked: nobody else can bring memory into the lock by their files.
use super::mapped::Executable;
use crate::os::fixed_string::Text;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{
    madvise, mlock, mlock_with, mmap, munlock, munmap, Advice, MapFlags, MlockFlags, ProtFlags,
};
use rustix::path::Arg;
use std::ffi::c_void;
use std::path::{Path, PathBuf};

/// A locked part of a file. Dropping it unlocks the part.
pub struct Locked {
    at: *mut c_void,
    length: usize,
    pub path: PathBuf,
    /// Bytes that were locked.
    pub bytes: u64,
    /// Processes that map the file; 0: it is data that is read.
    pub users: u32,
}

// SAFETY: the mapping is this value's own, and only its drop unmaps it.
unsafe impl Send for Locked {}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: mapped by `lock` with this length, and nobody else has the address.
        let _ = unsafe { munmap(self.at, self.length) };
    }
}

/// Locks `length` bytes of `file` from `begin` on, a multiple of the page size. Pages that are not in memory
/// are read in, because a program is about to read them.
///
/// # Errors
/// When the part cannot be mapped, or locking is refused (RLIMIT_MEMLOCK).
pub fn lock_part(
    file: &OwnedFd,
    path: &Path,
    begin: u64,
    length: usize,
    page: usize,
) -> rustix::io::Result<Locked> {
    let mut locked = map(file, path, begin, length)?;
    // SAFETY: our own mapping.
    unsafe { mlock_with(locked.at, length, MlockFlags::ONFAULT)? };
    populate(locked.at, length);
    locked.bytes = length.next_multiple_of(page) as u64;
    Ok(locked)
}

/// Maps a part of a file. Only the kernel touches the mapping on hotsetd's behalf, so a file that shrinks
/// raises no SIGBUS.
fn map(file: &OwnedFd, path: &Path, begin: u64, length: usize) -> rustix::io::Result<Locked> {
    let (none, read, shared) = (std::ptr::null_mut(), ProtFlags::READ, MapFlags::SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice.
    let at = unsafe { mmap(none, length, read, shared, file, begin)? };
    // mlockall(MCL_FUTURE) would lock every page of the mapping that is ever touched.
    // SAFETY: our own mapping.
    let _ = unsafe { munlock(at, length) };
    Ok(Locked {
        at,
        length,
        path: path.to_owned(),
        bytes: 0,
        users: 0,
    })
}

/// A gap of fewer pages than this between resident ones is bridged.
const GAP: usize = 4;
/// Ranges of one file, at most: the kernel keeps a mapping for each.
const RANGES: usize = 256;
/// Bytes of a file that are looked at, from its beginning on. A sparse file may have many terabytes.
const LOOKED_AT: usize = 1 << 30;

/// Locks the pages of a file that are in memory now, up to `budget` bytes. `None`: no page is in memory, or the file is
/// somebody else's, or another one by now.
///
/// # Errors
/// When the file cannot be opened or mapped, or locking is refused (RLIMIT_MEMLOCK).
pub fn lock(
    root: &Path,
    hot: &Executable,
    budget: u64,
    page: usize,
) -> rustix::io::Result<Option<Locked>> {
    let place = Text::<1024>::of(format_args!("{}{}", root.display(), hot.path.display()));
    // The path is one of the process's, whose root and links may be others. O_PATH opens nothing that acts when it
    // is opened, as a device does.
    let found = rustix::fs::open(
        place.as_str(),
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let stat = rustix::fs::fstat(&found)?;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let length = usize::try_from(stat.st_size).unwrap_or(0).min(LOOKED_AT);
    if !regular || length == 0 || stat.st_ino != hot.inode || !is_trusted(stat.st_uid) {
        return Ok(None);
    }
    let place = Text::<64>::of(format_args!("/proc/self/fd/{}", found.as_raw_fd()));
    let file = open_quietly(place.as_str())?;
    map_and_lock(&file, hot, length, budget, page)
}

/// Opens a file to be read: without a trace in its access time, where that is allowed.
pub(super) fn open_quietly(place: impl Arg + Copy) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = |flags| rustix::fs::open(place, flags, Mode::empty());
    open(flags | OFlags::NOATIME).or_else(|_| open(flags))
}

/// Whether files of this user may be locked: root's, and those of the user that runs hotsetd.
fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

fn map_and_lock(
    file: &OwnedFd,
    hot: &Executable,
    length: usize,
    budget: u64,
    page: usize,
) -> rustix::io::Result<Option<Locked>> {
    let mut locked = map(file, &hot.path, 0, length)?;
    locked.users = hot.users;
    let at = locked.at;
    let mut resident = vec![0u8; length.div_ceil(page)];
    // SAFETY: `at` is a mapping of `length` bytes, and `resident` has a byte for each of its pages.
    if unsafe { libc::mincore(at, length, resident.as_mut_ptr()) } != 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    // SAFETY: `from` is a page of the mapping.
    let place = |from: usize| unsafe { at.byte_add(from * page) };
    let bytes = |from: usize, pages: usize| (pages * page).min(length - from * page);
    for (mut from, to) in ranges(&resident) {
        let room = ((budget.saturating_sub(locked.bytes)) / page as u64) as usize;
        let pages = (to - from).min(room);
        if pages == 0 {
            break;
        }
        // SAFETY: a range of our own mapping. ONFAULT: pages that are not in memory are not read in.
        unsafe { mlock_with(place(from), bytes(from, pages), MlockFlags::ONFAULT)? };
        let range = &resident[from..from + pages];
        for alike in range.chunk_by(|one, next| one & 1 == next & 1) {
            if alike[0] & 1 != 0 {
                populate(place(from), bytes(from, alike.len()));
                locked.bytes += (alike.len() * page) as u64;
            }
            from += alike.len();
        }
    }
    Ok((locked.bytes > 0).then_some(locked))
}

/// Has the kernel map pages of a mapping: only a mapped page is locked. MADV_POPULATE_READ (Linux 5.14 on) fails where
/// touching a page would raise SIGBUS.
fn populate(start: *mut c_void, bytes: usize) {
    // SAFETY: pages of our own mapping are only mapped. Older kernels map them by mlock(2), which raises no SIGBUS
    // either.
    unsafe {
        if madvise(start, bytes, Advice::LinuxPopulateRead).is_err() {
            let _ = mlock(start, bytes);
        }
    }
}

/// Ranges of resident pages, with small gaps bridged.
fn ranges(resident: &[u8]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in resident
        .iter()
        .enumerate()
        .filter(|(_, &byte)| byte & 1 != 0)
    {
        let full = ranges.len() == RANGES;
        match ranges.last_mut() {
            Some((_, end)) if at < *end + GAP => *end = at + 1,
            _ if full => break,
            _ => ranges.push((at, at + 1)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};

    #[test]
    fn ranges_bridge_small_gaps_and_no_large_ones() {
        assert_eq!(ranges(&[0, 1, 1, 0, 1, 0, 0, 0, 0, 1]), [(1, 5), (9, 10)]);
        assert!(ranges(&[0; 9]).is_empty());
    }

    #[test]
    fn resident_pages_are_locked_within_the_budget_until_the_lock_is_dropped() {
        let page = rustix::param::page_size();
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, vec![7u8; 64 * page]).unwrap();
        let locked_kib = || {
            let status = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let mut inside = false;
            let mut kib = 0;
            for line in status.lines() {
                if line.contains('-') && line.contains(" r--s ") {
                    inside = line.contains(file.to_str().unwrap());
                }
                if let (true, Some(rest)) = (inside, line.strip_prefix("Locked:")) {
                    kib += rest
                        .trim()
                        .trim_end_matches(" kB")
                        .parse::<usize>()
                        .unwrap();
                }
            }
            kib
        };
        let root = Path::new("");
        let budget = (16 * page) as u64;
        let mut hot = Executable {
            path: file.clone(),
            inode: std::fs::metadata(&file).unwrap().ino(),
            users: 2,
        };
        let locked = lock(root, &hot, budget, page).unwrap().unwrap();
        assert_eq!(locked.bytes, budget);
        assert_eq!(locked_kib(), 16 * page / 1024);
        drop(locked);
        assert_eq!(locked_kib(), 0);
        hot.inode += 1;
        assert!(lock(root, &hot, budget, page).unwrap().is_none());
    }

    /// A sparse file of 16 TB: a byte for each of its pages would be 4 GiB.
    #[test]
    fn of_a_file_the_first_gigabyte_is_looked_at() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let path = folder.path().join("file");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(15 << 40).unwrap();
        let page = rustix::param::page_size();
        let hot = Executable {
            path: path.clone(),
            inode: file.metadata().unwrap().ino(),
            users: 2,
        };
        let root = Path::new("");
        file.write_all_at(&[7], LOOKED_AT as u64).unwrap();
        assert!(lock(root, &hot, 1 << 20, page).unwrap().is_none());
        file.write_all_at(&[7], LOOKED_AT as u64 - 1).unwrap();
        assert!(lock(root, &hot, 1 << 20, page).unwrap().is_some());
    }

    #[test]
    fn nobody_fills_the_lock_with_files_of_their_own() {
        let own = rustix::process::geteuid().as_raw();
        assert!(is_trusted(0) && is_trusted(own));
        assert!(![own + 1, 1000 + own, 65_534].into_iter().any(is_trusted));
    }
}
