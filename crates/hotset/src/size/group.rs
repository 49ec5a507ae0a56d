//! A cgroup's counters, and which threads are its own.
use super::look::Look;
use anyhow::{bail, Context, Result};
use kernfs::cgroup::{parse_bytes, parse_limit, Limit, MemoryStat};
use kernfs::psi::Pressure;
use names::shown;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where cgroups v2 lie.
const TOP: &str = "/sys/fs/cgroup";

pub struct Group {
    folder: PathBuf,
    /// As /proc/PID/cgroup has it, of the machine's top or of a container's.
    name: String,
    page_size: u64,
    /// Threads that were asked for, until [`Group::forget`].
    threads: HashMap<u32, bool>,
    /// Pages came for so many threads that ended before they were asked for.
    pub ended: u64,
}

impl Group {
    /// `name`: a path below /sys/fs/cgroup, or with it.
    ///
    /// # Errors
    /// There is no such cgroup of version 2, or its memory is not counted.
    pub fn open(name: &Path, page_size: u64) -> Result<Group> {
        let below = below(name);
        let folder = Path::new(TOP).join(&below);
        if !Path::new(TOP).join("cgroup.controllers").exists() {
            bail!("{TOP}: no cgroups of version 2 (the kernel's option is systemd.unified_cgroup_hierarchy)");
        }
        if !folder.is_dir() {
            bail!(
                "{}: there is no such cgroup; `systemd-cgls` lists them",
                shown(&folder)
            );
        }
        if below.as_os_str().is_empty() {
            bail!("{TOP} is the whole machine: leave --cgroup out");
        }
        let group = Group {
            name: format!("/{}", below.display()),
            folder,
            page_size,
            threads: HashMap::new(),
            ended: 0,
        };
        let current = group.folder.join("memory.current");
        fs::read(&current).with_context(|| {
            format!("{}: its memory is not counted (write +memory into cgroup.subtree_control above it)", shown(&current))
        })?;
        Ok(group)
    }

    /// Whether a thread is of the cgroup, or of one below it.
    pub fn has(&mut self, thread: u32) -> bool {
        if let Some(known) = self.threads.get(&thread) {
            return *known;
        }
        let text = fs::read_to_string(format!("/proc/{thread}/cgroup"));
        self.ended += u64::from(text.is_err());
        let found = text.is_ok_and(|text| is_below(&text, &self.name));
        self.threads.insert(thread, found);
        found
    }

    /// Threads move and end, and their numbers are used again: they are asked for anew.
    pub fn forget(&mut self) {
        self.threads.clear();
    }

    /// `None`: the cgroup is gone, as that of a service that has stopped.
    pub fn look(&mut self) -> Option<Look> {
        self.forget();
        let read = |name: &str| fs::read(self.folder.join(name)).unwrap_or_default();
        let mut stat = MemoryStat::default();
        // A file that another kernel writes in another way counts as none.
        let _ = stat.parse(&read("memory.stat"));
        let current = parse_bytes(&read("memory.current")).ok()?;
        let swapped = parse_bytes(&read("memory.swap.current")).unwrap_or(0);
        let mut pressure = Pressure::default();
        let _ = pressure.parse(&read("memory.pressure"));
        let limits = ["memory.high", "memory.max"].map(|name| parse_limit(&read(name)));
        let limits = limits.into_iter().filter_map(|limit| match limit {
            Ok(Limit::Bytes(bytes)) => Some(bytes),
            _ => None,
        });
        let memory = limits.min().unwrap_or(current);
        let files = stat
            .file()
            .unwrap_or(0)
            .saturating_sub(stat.shmem().unwrap_or(0));
        let refaults = stat.workingset_refault_file();
        Some(Look {
            memory,
            available: memory.saturating_sub(current.saturating_sub(files)),
            refaults: refaults.or(stat.workingset_refault_whole()).unwrap_or(0),
            refaults_anon: stat.workingset_refault_anon().unwrap_or(0),
            // A cgroup's pages that left are not counted by every kernel; those that are away now are.
            out: swapped / self.page_size + stat.workingset_refault_anon().unwrap_or(0),
            waited_us: pressure.some.map(|some| some.total_us),
        })
    }
}

/// The path below [`TOP`], without the slash that a shell's completion leaves at its end.
fn below(name: &Path) -> PathBuf {
    let below = name.strip_prefix(TOP).unwrap_or(name);
    let below = below.strip_prefix("/").unwrap_or(below);
    below.components().collect()
}

/// Whether the text of /proc/PID/cgroup is of this cgroup, or of one below it.
fn is_below(text: &str, name: &str) -> bool {
    let own = text.lines().find_map(|line| line.strip_prefix("0::"));
    own.and_then(|own| own.strip_prefix(name))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_a_cgroup_below_is_of_it() {
        assert!(is_below(
            "0::/system.slice/a.service\n",
            "/system.slice/a.service"
        ));
        assert!(is_below(
            "1:cpu:/x\n0::/system.slice/a.service/b\n",
            "/system.slice/a.service"
        ));
        assert!(!is_below(
            "0::/system.slice/a.service-2\n",
            "/system.slice/a.service"
        ));
        assert!(!is_below("0::/\n", "/system.slice"));
        assert!(!is_below("", "/system.slice"));
    }

    #[test]
    fn a_name_is_a_path_below_the_top() {
        for name in ["a.slice/b", "/a.slice/b/", "/sys/fs/cgroup/a.slice/b/"] {
            assert_eq!(below(Path::new(name)).to_str(), Some("a.slice/b"));
        }
    }

    #[test]
    fn a_cgroup_that_is_not_there_is_named() {
        let error = Group::open(Path::new("no-such.slice"), 4096).err().unwrap();
        assert!(format!("{error:#}").contains("/sys/fs/cgroup"), "{error:#}");
    }
}
