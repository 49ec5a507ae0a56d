//! Executables and libraries, by the processes that map them: the candidates for locking.
//!
//! A file is as hot as the number of processes that have it mapped to be executed. When the pages of a
//! shared file are gone, all programs that share it stall.
//!
//! Only files of hotsetd's own user, root, are locked: nobody else can bring memory into the lock by their files. A
//! process whose cgroup has a limit does not count, because locked pages stay charged to their cgroup.
use super::limits::Limits;
use crate::os::fixed_string::Text;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::mm::{mlock_with, mmap, munmap, MapFlags, MlockFlags, ProtFlags};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a process's maps that are looked at: some ten thousand lines.
const MAPS: u64 = 1 << 20;
/// Files that are told apart. Users may map files without end.
const KNOWN: usize = 16 << 10;
/// Bytes of a path that is kept.
const PATH: usize = 512;

/// A file that may be locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    pub path: PathBuf,
    pub inode: u64,
    /// Processes that have the file mapped to be executed.
    pub users: u32,
}

/// Reads /proc/PID/maps of all processes below `root`. The hottest file comes first.
#[must_use]
pub fn mapped(root: &Path) -> Vec<Executable> {
    let mut users: BTreeMap<(String, u64), u32> = BTreeMap::new();
    let mut limits = Limits::new(root);
    for entry in std::fs::read_dir(root.join("proc"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let number = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.parse::<u32>().is_ok());
        if !number {
            continue;
        }
        // The process has ended meanwhile. A kernel thread has an empty file.
        let Ok(text) = beginning(&entry.path().join("maps")) else {
            continue;
        };
        let mut seen: Vec<(&str, u64)> = text.lines().filter_map(executable).collect();
        if seen.is_empty() || limits.has_one(&entry.path()) {
            continue;
        }
        seen.sort_unstable();
        seen.dedup();
        for (path, inode) in seen {
            let key = (path.to_owned(), inode);
            if users.len() < KNOWN || users.contains_key(&key) {
                *users.entry(key).or_default() += 1;
            }
        }
    }
    let mut hot: Vec<Executable> = users
        .into_iter()
        .map(|((path, inode), users)| Executable {
            path: path.into(),
            inode,
            users,
        })
        .collect();
    hot.sort_by_key(|hot| std::cmp::Reverse(hot.users));
    hot
}

/// The first lines of a process's maps. A user may have 65,530 mappings of a path of 4,096 bytes, in each of thousands of
/// processes.
fn beginning(maps: &Path) -> std::io::Result<String> {
    let mut text = Vec::new();
    std::fs::File::open(maps)?
        .take(MAPS)
        .read_to_end(&mut text)?;
    if text.len() as u64 == MAPS {
        text.truncate(text.iter().rposition(|&byte| byte == b'\n').unwrap_or(0));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The file of a line of maps and its inode, if the file is mapped to be executed and still has a name.
fn executable(line: &str) -> Option<(&str, u64)> {
    let mut fields = line.splitn(6, ' ');
    let permissions = fields.nth(1)?;
    let inode = fields.nth(2)?.parse().ok()?;
    let path = fields.next()?.trim_start();
    let there = path.len() <= PATH
        && path.starts_with('/')
        && !path.ends_with(" (deleted)")
        && !path.starts_with("/memfd:");
    (permissions.contains('x') && there).then_some((path, inode))
}

/// A locked part of a file. Dropping it unlocks the part.
pub struct Locked {
    at: *mut c_void,
    length: usize,
    pub path: PathBuf,
    /// Bytes that were locked.
    pub bytes: u64,
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
    let all = vec![1; length.div_ceil(page)];
    populate(locked.at, length, &all, page);
    locked.bytes = (all.len() * page) as u64;
    Ok(locked)
}

/// Maps a part of a file. Only the kernel touches the mapping on hotsetd's behalf, so a file that shrinks
/// raises no SIGBUS.
fn map(file: &OwnedFd, path: &Path, begin: u64, length: usize) -> rustix::io::Result<Locked> {
    let (protection, none) = (ProtFlags::READ, std::ptr::null_mut());
    // SAFETY: a new mapping at a place of the kernel's choice.
    let at = unsafe {
        mmap(
            none,
            length,
            protection,
            MapFlags::SHARED,
            file.as_fd(),
            begin,
        )?
    };
    // mlockall(MCL_FUTURE) would lock every page of the mapping that is ever touched.
    // SAFETY: our own mapping.
    let _ = unsafe { rustix::mm::munlock(at, length) };
    Ok(Locked {
        at,
        length,
        path: path.to_owned(),
        bytes: 0,
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
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOATIME;
    let open = |flags| rustix::fs::open(place.as_str(), flags, Mode::empty());
    let file = open(flags).or_else(|_| open(flags.difference(OFlags::NOATIME)))?;
    map_and_lock(&file, &hot.path, length, budget, page)
}

/// Whether files of this user may be locked: root's, and those of the user that runs hotsetd.
fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

fn map_and_lock(
    file: &OwnedFd,
    path: &Path,
    length: usize,
    budget: u64,
    page: usize,
) -> rustix::io::Result<Option<Locked>> {
    let mut locked = map(file, path, 0, length)?;
    let at = locked.at;
    let mut resident = vec![0u8; length.div_ceil(page)];
    // SAFETY: `at` is a mapping of `length` bytes, and `resident` has a byte for each of its pages.
    if unsafe { libc::mincore(at, length, resident.as_mut_ptr()) } != 0 {
        return Err(rustix::io::Errno::from_raw_os_error(
            std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
        ));
    }
    for (from, to) in ranges(&resident) {
        let room = ((budget.saturating_sub(locked.bytes)) / page as u64) as usize;
        let pages = (to - from).min(room);
        if pages == 0 {
            break;
        }
        // SAFETY: within the mapping, whose pages are `resident`'s.
        let start = unsafe { at.byte_add(from * page) };
        let bytes = (pages * page).min(length - from * page);
        // SAFETY: a range of our own mapping. ONFAULT: pages that are not in memory are not read in.
        unsafe { mlock_with(start, bytes, MlockFlags::ONFAULT)? };
        populate(start, bytes, &resident[from..from + pages], page);
        let there = resident[from..from + pages]
            .iter()
            .filter(|&&byte| byte & 1 != 0)
            .count();
        locked.bytes += (there * page) as u64;
    }
    Ok((locked.bytes > 0).then_some(locked))
}

/// Has the kernel map the pages of the range that are in memory: only a mapped page is locked.
/// MADV_POPULATE_READ (Linux 5.14 on) fails where touching a page would raise SIGBUS.
fn populate(start: *mut c_void, bytes: usize, resident: &[u8], page: usize) {
    const MADV_POPULATE_READ: libc::c_int = 22;
    let mut at = 0;
    while at < resident.len() {
        let same = resident[at..]
            .iter()
            .take_while(|&&byte| byte & 1 != 0)
            .count();
        if same == 0 {
            at += 1;
            continue;
        }
        let length = (same * page).min(bytes - at * page);
        // SAFETY: within the range, which is mapped; pages in memory are only mapped. Older kernels map them by
        // mlock(2), which raises no SIGBUS either.
        unsafe {
            let from = start.byte_add(at * page);
            if libc::madvise(from, length, MADV_POPULATE_READ) != 0 {
                libc::mlock(from, length);
            }
        }
        at += same;
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
    fn only_executable_mappings_of_named_files_count() {
        let line = "7f00-7f10 r-xp 00001000 08:01 42                         /usr/lib/lib c.so.6";
        assert_eq!(executable(line), Some(("/usr/lib/lib c.so.6", 42)));
        for line in [
            "7f00-7f10 r--p 00001000 08:01 42    /usr/lib/libc.so.6",
            "7f00-7f10 r-xp 00001000 08:01 42    /usr/lib/libc.so.6 (deleted)",
            "7f00-7f10 r-xp 00000000 00:00 0     [vdso]",
            "7f00-7f10 r-xp 00000000 00:00 0",
        ] {
            assert_eq!(executable(line), None, "{line}");
        }
    }

    #[test]
    fn the_file_that_most_processes_map_comes_first() {
        let root = tempfile::tempdir().unwrap();
        for (pid, libraries) in [("1", &["/a", "/b"][..]), ("2", &["/b"]), ("self", &["/c"])] {
            let folder = root.path().join("proc").join(pid);
            std::fs::create_dir_all(&folder).unwrap();
            let lines = libraries
                .iter()
                .map(|path| format!("1-2 r-xp 0 08:01 7 {path}\n"));
            std::fs::write(folder.join("maps"), lines.collect::<String>()).unwrap();
        }
        let found: Vec<_> = mapped(root.path())
            .into_iter()
            .map(|hot| (hot.path, hot.users))
            .collect();
        assert_eq!(found, [("/b".into(), 2), ("/a".into(), 1)]);
    }

    /// A user maps files without end, by paths as long as a path may be.
    #[test]
    fn maps_without_end_cost_no_memory_without_end() {
        let root = tempfile::tempdir().unwrap();
        let put = |pid: &str, maps: &str| {
            let folder = root.path().join("proc").join(pid);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("maps"), maps).unwrap();
            folder.join("maps")
        };
        let line = |path: &str| format!("1-2 r-xp 0 08:01 7 {path}\n");
        put("1", &line("/lib.so"));
        let long = line(&format!("/{}", "p".repeat(4_000)));
        let maps = put("2", &(line("/lib.so") + &long.repeat(1_000)));
        let read = beginning(&maps).unwrap();
        assert!(read.len() as u64 <= MAPS && read.ends_with(long.trim_end()));
        for pid in ["3", "4"] {
            let many = (0..12_000).map(|file| line(&format!("/{pid}{file}")));
            put(pid, &many.collect::<String>());
        }
        let found = mapped(root.path());
        assert_eq!(
            (found[0].path.as_path(), found[0].users),
            (Path::new("/lib.so"), 2)
        );
        assert_eq!(found.len(), KNOWN);
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
