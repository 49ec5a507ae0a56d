//! Units and pods that live or die as a whole: cgroups with `memory.oom.group` (Documentation/admin-guide/cgroup-v2.rst).
use crate::os::fixed_string::Text;
use rustix::fs::{Mode, OFlags};
use std::path::{Path, PathBuf};

/// The topmost cgroup at or above `path` whose processes the kernel would kill together. `cgroups`: where cgroup v2 is
/// mounted; `path`: as in /proc/PID/cgroup. Allocates only where there is one.
pub(super) fn of(cgroups: &Path, path: &str) -> Option<PathBuf> {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
    for end in ends.chain([path.len()]).filter(|&end| end > 1) {
        let cgroup = Text::<512>::of(format_args!("{}{}", cgroups.display(), &path[..end]));
        let file = Text::<512>::of(format_args!("{cgroup}/memory.oom.group"));
        if says_yes(file.as_str()) {
            return Some(cgroup.as_str().into());
        }
    }
    None
}

fn says_yes(file: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut text = [0; 4];
    let read = rustix::fs::open(file, flags, Mode::empty())
        .and_then(|file| rustix::io::read(file, &mut text));
    read.is_ok() && text[0] == b'1'
}

/// The processes of a cgroup and of all below it.
pub(super) fn processes(cgroup: &Path) -> Vec<i32> {
    let mut found = Vec::new();
    let mut folders = vec![cgroup.to_owned()];
    while let Some(folder) = folders.pop() {
        let text = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        found.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topmost_group_counts_with_all_below_it() {
        let root = tempfile::tempdir().unwrap();
        for (cgroup, group, pids) in [
            ("system.slice", "0", ""),
            ("system.slice/db.service", "1", "10\n11\n"),
            ("system.slice/db.service/helper", "1", "12\n"),
            ("system.slice/web.service", "0", "20\n"),
        ] {
            let folder = root.path().join(cgroup);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("memory.oom.group"), format!("{group}\n")).unwrap();
            std::fs::write(folder.join("cgroup.procs"), pids).unwrap();
        }
        let found = of(root.path(), "/system.slice/db.service/helper").unwrap();
        assert_eq!(found, root.path().join("system.slice/db.service"));
        let mut pids = processes(&found);
        pids.sort_unstable();
        assert_eq!(pids, [10, 11, 12]);
        assert_eq!(of(root.path(), "/system.slice/web.service"), None);
        assert_eq!(of(root.path(), "/"), None);
    }
}
