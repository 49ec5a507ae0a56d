//! The settings that the spec asks for, and PID 1's own protection.
use anyhow::{Context, Result};
use protocol::spec::{GuestSpec, Knob};
use std::collections::BTreeMap;

use crate::boot::cgroups::CGROUP;
use crate::kernel_files::{read, write};

/// Settings that every trial reports, written or not: a report shows defaults too.
const REPORTED: [&str; 7] = [
    "/proc/sys/vm/workingset_protection",
    "/proc/sys/vm/anon_min_ratio",
    "/proc/sys/vm/clean_min_ratio",
    "/proc/sys/vm/clean_low_ratio",
    "/proc/sys/vm/swappiness",
    "/sys/kernel/mm/lru_gen/enabled",
    "/sys/kernel/mm/lru_gen/min_ttl_ms",
];

/// Keeps PID 1 in memory and out of the OOM killer's reach: PID 1 is the instrument, not part of the
/// experiment.
///
/// # Errors
/// When the kernel refuses.
pub fn shield() -> Result<()> {
    use rustix::mm::{mlockall, MlockAllFlags};
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context("mlockall")?;
    write("/proc/self/oom_score_adj", "-1000")
}

/// Writes the spec's settings, and reads them and the other reported settings back. Those of the workers'
/// cgroups wait for [`apply_to_cgroups`].
///
/// # Errors
/// When a setting cannot be written, naming its file.
pub fn apply(spec: &GuestSpec) -> Result<BTreeMap<String, String>> {
    let knobs = || spec.knobs.iter().filter(|knob| !is_of_workers(knob));
    for knob in knobs() {
        write(&knob.path, &knob.value)?;
    }
    let written = knobs().map(|knob| knob.path.as_str());
    let mut values = BTreeMap::new();
    for path in REPORTED.into_iter().chain(written) {
        // A setting that this kernel does not have is left out.
        if let Ok(value) = std::fs::read_to_string(path) {
            values.insert(path.to_string(), value.trim().to_string());
        }
    }
    Ok(values)
}

/// Writes the spec's settings of the workers' cgroups, which exist now, and reads them back.
///
/// # Errors
/// As [`apply`].
pub fn apply_to_cgroups(spec: &GuestSpec) -> Result<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    for knob in spec.knobs.iter().filter(|knob| is_of_workers(knob)) {
        write(&knob.path, &knob.value)?;
        values.insert(knob.path.clone(), read(&knob.path)?.trim().to_string());
    }
    Ok(values)
}

fn is_of_workers(knob: &Knob) -> bool {
    let below = knob.path.strip_prefix(CGROUP);
    below.is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_workers_cgroups_wait_for_them() {
        let of = |path: &str| {
            is_of_workers(&Knob {
                path: path.into(),
                value: String::new(),
            })
        };
        assert!(of("/sys/fs/cgroup/work/shared-session/memory.min"));
        assert!(of("/sys/fs/cgroup/work/memory.min"));
        assert!(!of("/sys/fs/cgroup/workers/memory.min"));
        assert!(!of("/proc/sys/vm/swappiness"));
    }
}
