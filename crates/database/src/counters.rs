//! The kernel's counters: of this process, and of its cgroup.
use anyhow::{Context, Result};
use std::path::Path;

/// Milliseconds of CLOCK_MONOTONIC, as in all lines of the channel.
pub fn now_ms() -> f64 {
    // SAFETY: clock_gettime(2) fills the struct, which lives through the call; zeros are a valid one.
    let now = unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now);
        now
    };
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

/// Counters at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub majflt: u64,
    /// None without a cgroup.
    pub cgroup: Option<Cgroup>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cgroup {
    /// Pages of files that came back soon after they were evicted.
    pub refaults: u64,
    /// Bytes read from all devices.
    pub read: u64,
}

impl Counters {
    /// Reads the counters.
    ///
    /// # Errors
    /// When the cgroup has no such counters.
    pub fn now(cgroup: Option<&Path>) -> Result<Counters> {
        // SAFETY: getrusage(2) fills the struct, which lives through the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            usage
        };
        let read = |name: &str| {
            let path = cgroup.unwrap_or(Path::new("")).join(name);
            let text = std::fs::read_to_string(&path);
            text.with_context(|| format!("reading {}", path.display()))
        };
        let of_cgroup =
            || -> Result<Cgroup> { Cgroup::of(&read("memory.stat")?, &read("io.stat")?) };
        Ok(Counters {
            majflt: usage.ru_majflt as u64,
            cgroup: cgroup.map(|_| of_cgroup()).transpose()?,
        })
    }
}

impl Cgroup {
    fn of(memory: &str, io: &str) -> Result<Cgroup> {
        let refaults = memory.lines().find_map(|line| {
            let count = line.strip_prefix("workingset_refault_file ")?;
            count.trim().parse().ok()
        });
        // A device without reads has no line, or one without numbers.
        let read = { io.split_whitespace() }
            .filter_map(|word| word.strip_prefix("rbytes=")?.parse::<u64>().ok())
            .sum();
        Ok(Cgroup {
            refaults: refaults.context("memory.stat has no workingset_refault_file")?,
            read,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroups_counters_are_those_of_all_devices() {
        let memory = "anon 4096\nworkingset_refault_anon 3\nworkingset_refault_file 17\n";
        let io = "98:0 rbytes=4096 wbytes=0 rios=1\n98:16 rbytes=8192 wbytes=1\n8:0 \n";
        let cgroup = Cgroup::of(memory, io).unwrap();
        let wanted = Cgroup {
            refaults: 17,
            read: 12288,
        };
        assert_eq!(cgroup, wanted);
        assert!(Cgroup::of("anon 1\n", io).is_err());
        assert!(Counters::now(Some(Path::new("/none"))).is_err());
    }
}
