//! The processes that hold most memory.
use crate::Section;
use kernfs::Root;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// How many are shown.
const SHOWN: usize = 20;

struct Process {
    pid: u32,
    name: String,
    resident_kb: u64,
    swap_kb: u64,
    oom_score_adj: String,
    cgroup: String,
}

/// The largest by resident and swapped memory.
pub fn largest(root: &Root) -> Section {
    let entries = fs::read_dir(root.path("/proc"))
        .into_iter()
        .flatten()
        .flatten();
    let mut all: Vec<Process> = entries.filter_map(|entry| process(&entry.path())).collect();
    all.sort_by_key(|one| (std::cmp::Reverse(one.resident_kb + one.swap_kb), one.pid));
    all.truncate(SHOWN);
    let mut text = String::from("     PID      RSS kB     swap kB   adj  name, cgroup\n");
    for one in &all {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:>8} {:>11} {:>11} {:>5}  {} {}",
            one.pid, one.resident_kb, one.swap_kb, one.oom_score_adj, one.name, one.cgroup
        );
    }
    Section::new("largest processes", text)
}

/// `None`: no process, a kernel thread, or one that has just ended.
fn process(folder: &Path) -> Option<Process> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    let status = fs::read(folder.join("status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(':').trim().to_owned())
    };
    let kb = |name: &str| field(name)?.split_whitespace().next()?.parse().ok();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    Some(Process {
        pid,
        name: field("Name")?,
        resident_kb: kb("VmRSS")?,
        swap_kb: kb("VmSwap").unwrap_or(0),
        oom_score_adj: read("oom_score_adj").trim().to_owned(),
        cgroup: read("cgroup").lines().last().unwrap_or_default().to_owned(),
    })
}
