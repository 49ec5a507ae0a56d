//! Executables and libraries, by the processes that map them: the candidates for locking.
//!
//! A file is as hot as the number of processes that have it mapped to be executed. When the pages of a
//! shared file are gone, all programs that share it stall.
//!
//! A process whose cgroup has a limit does not count, because locked pages stay charged to their cgroup.
use super::limits::Limits;
use std::collections::BTreeMap;
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
