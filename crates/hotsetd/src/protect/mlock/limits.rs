//! Cgroups with a limit of memory. Locked pages stay charged to the cgroup that read them, and the kernel cannot reclaim
//! them there: a cgroup at its limit would be killed for pages that hotsetd holds.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Cgroups above each other that are looked at. Users nest their own by the thousand.
const DEEP: usize = 64;

/// Which cgroups have a limit, each looked up once.
pub struct Limits {
    cgroups: PathBuf,
    known: BTreeMap<String, bool>,
}

impl Limits {
    pub fn new(root: &Path) -> Limits {
        Limits {
            cgroups: root.join("sys/fs/cgroup"),
            known: BTreeMap::new(),
        }
    }

    /// Whether the cgroup of a process, or one above it, has a `memory.max` or `memory.high`; also where there are too
    /// many to look at. `process`: its folder in /proc.
    pub fn has_one(&mut self, process: &Path) -> bool {
        let text = std::fs::read_to_string(process.join("cgroup")).unwrap_or_default();
        let path = text.lines().find_map(|line| line.strip_prefix("0::/"));
        path.is_some_and(|path| path.matches('/').count() >= DEEP || self.above(path))
    }

    fn above(&mut self, path: &str) -> bool {
        if path.is_empty() {
            return false;
        }
        if let Some(&known) = self.known.get(path) {
            return known;
        }
        let limit = |name: &str| {
            let text = std::fs::read_to_string(self.cgroups.join(path).join(name));
            text.is_ok_and(|text| text.trim() != "max")
        };
        let own = limit("memory.max") || limit("memory.high");
        let found = own
            || path
                .rsplit_once('/')
                .is_some_and(|(above, _)| self.above(above));
        self.known.insert(path.to_owned(), found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_any_cgroup_above_counts() {
        let root = tempfile::tempdir().unwrap();
        for (cgroup, max, high) in [
            ("a", "max", "max"),
            ("a/b", "max", "max"),
            ("pods", "max", "max"),
            ("pods/one", "512000000", "max"),
            ("pods/one/c", "max", "max"),
            ("soft", "max", "900000000"),
        ] {
            let folder = root.path().join("sys/fs/cgroup").join(cgroup);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("memory.max"), format!("{max}\n")).unwrap();
            std::fs::write(folder.join("memory.high"), format!("{high}\n")).unwrap();
        }
        let mut limits = Limits::new(root.path());
        let process = root.path().join("proc/7");
        std::fs::create_dir_all(&process).unwrap();
        for (cgroup, wanted) in [
            ("0::/a/b\n", false),
            ("0::/pods\n", false),
            ("0::/pods/one/c\n", true),
            ("0::/soft\n", true),
            ("0::/\n", false),
            ("1:memory:/old\n", false),
        ] {
            std::fs::write(process.join("cgroup"), cgroup).unwrap();
            assert_eq!(limits.has_one(&process), wanted, "{cgroup}");
        }
    }

    /// The thread that asks has a stack of 256 KiB.
    #[test]
    fn a_user_who_nests_cgroups_overflows_no_stack() {
        let root = tempfile::tempdir().unwrap();
        let process = root.path().join("proc/7");
        std::fs::create_dir_all(&process).unwrap();
        std::fs::write(
            process.join("cgroup"),
            format!("0::{}\n", "/a".repeat(2_040)),
        )
        .unwrap();
        let path = root.path().to_owned();
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        let asked = thread.spawn(move || Limits::new(&path).has_one(&process));
        assert!(asked.unwrap().join().unwrap());
    }
}
