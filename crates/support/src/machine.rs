//! The kernel, memory, swap, settings, cgroups and the largest processes.
use crate::files::{file, folder, values};
use crate::{processes, Section};
use kernfs::Root;
use std::path::PathBuf;

/// Files that are shown whole.
const WHOLE: &[&str] = &[
    "/etc/os-release",
    "/proc/version",
    "/proc/cmdline",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/swaps",
    "/proc/pressure/memory",
    "/proc/pressure/io",
    "/proc/pressure/cpu",
    "/proc/buddyinfo",
    "/proc/vmstat",
];

/// Folders whose files have one value each.
const FOLDERS: &[(&str, &str)] = &[
    ("/proc/sys/vm", "sysctl vm"),
    ("/sys/kernel/mm/lru_gen", "MGLRU"),
    ("/sys/module/zswap/parameters", "zswap"),
];

/// Single values besides.
const VALUES: &[&str] = &[
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/node/online",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/fs/cgroup/cgroup.controllers",
];

/// Files of a cgroup.
const CGROUP: &[&str] = &[
    "memory.current",
    "memory.min",
    "memory.low",
    "memory.high",
    "memory.max",
    "memory.swap.current",
    "memory.swap.max",
    "memory.oom.group",
];

/// The sections of the machine below `root`.
#[must_use]
pub fn sections(root: &Root) -> Vec<Section> {
    let mut all: Vec<Section> = WHOLE.iter().map(|path| file(root, path)).collect();
    all.push(zones(root));
    for (path, title) in FOLDERS {
        all.push(values(root, title, &folder(&root.path(path))));
    }
    let mut single: Vec<PathBuf> = VALUES.iter().map(|path| root.path(path)).collect();
    for device in folder(&root.path("/sys/block")) {
        if device
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("zram"))
        {
            let of = |name: &&str| device.join(name);
            single.extend(["disksize", "comp_algorithm", "mm_stat"].iter().map(of));
        }
    }
    all.push(values(root, "values", &single));
    // The first level is what hotsetd and others set: slices, pods, machines.
    let groups = folder(&root.path("/sys/fs/cgroup"));
    let files = groups
        .iter()
        .flat_map(|group| CGROUP.iter().map(move |name| group.join(name)));
    all.push(values(root, "cgroups", &files.collect::<Vec<_>>()));
    all.push(processes::largest(root));
    all
}

/// /proc/zoneinfo without the sets of each CPU, which are most of it.
fn zones(root: &Root) -> Section {
    let mut whole = file(root, "/proc/zoneinfo");
    let mut text = String::new();
    let mut in_sets = false;
    for line in whole.text.lines() {
        in_sets = match line.trim_start() {
            start if start.starts_with("pagesets") => true,
            start if start.starts_with("node_unreclaimable") || line.starts_with("Node") => false,
            _ => in_sets,
        };
        if !in_sets {
            text.push_str(line);
            text.push('\n');
        }
    }
    whole.text = text;
    whole
}
