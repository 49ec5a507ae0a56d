//! Pins a thread, and the guests that it starts, to one CPU of the host.
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// Pins the calling thread, and every process that it starts from now on, to one CPU that it may
/// use: the `turn`-th, counted around. Where the host refuses, the thread stays as it is.
pub fn pin_to_one_cpu(turn: usize) {
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
    // Without pinning a run is slower, but its results are right.
    let _ = sched_setaffinity(None, &one);
}
