//! What a report says of the host, and where guests run on it.
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// The processor's name.
pub fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "unknown".into(), |(_, name)| name.trim().to_string())
}

/// CPUs that this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Keeps the calling thread, and what it starts from now on, to one CPU of those that it may use: the
/// `turn`-th, counted around. Where that is refused it stays free.
pub fn keep_to_a_cpu(turn: usize) {
    let Ok(allowed) = sched_getaffinity(None) else {
        return;
    };
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&cpu| allowed.is_set(cpu))
        .collect();
    if allowed.is_empty() {
        return;
    }
    let mut one = CpuSet::new();
    one.set(allowed[turn % allowed.len()]);
    // It costs time only, not correctness.
    let _ = sched_setaffinity(None, &one);
}

/// `uname -r`.
pub fn kernel() -> String {
    rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned()
}

/// Guests to run at once unless told otherwise: one with one CPU keeps about a core busy and makes
/// its host do as much again in page faults and I/O.
pub fn jobs() -> u32 {
    (cpus() / 2).max(1)
}

/// Columns of the terminal on standard output; 80 where that is none.
pub fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok()
        .map(|size| size.ws_col.into())
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}
