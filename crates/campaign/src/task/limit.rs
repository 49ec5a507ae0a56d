//! Limits of this process, and what it took. Engines limit in their own ways, some not at all: the kernel ends a task
//! that goes beyond its limits on any of them.
use crate::plan::Limits;
use anyhow::{Context, Result};
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use rustix::time::{clock_gettime, ClockId};

/// Memory of the program's own libraries and thread stacks, beside what a task allocates.
const BESIDE: u64 = 32 << 20;

/// Ends this process when it allocates more, or takes more seconds of a processor after `before`.
///
/// # Errors
/// The kernel refuses.
pub(super) fn set(limits: Limits, before: f64) -> Result<()> {
    lower(Resource::Data, limits.memory + BESIDE).context("the memory limit")?;
    lower(Resource::Cpu, before.ceil() as u64 + limits.seconds).context("the time limit")
}

/// Sets a soft limit. The hard one stays, so that the next task of this process may have more.
fn lower(resource: Resource, asked: u64) -> Result<()> {
    let maximum = getrlimit(resource).maximum;
    let current = Some(asked.min(maximum.unwrap_or(u64::MAX)));
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

/// Seconds of a processor that this process has taken.
pub(super) fn cpu_seconds() -> f64 {
    let taken = clock_gettime(ClockId::ProcessCPUTime);
    taken.tv_sec as f64 + taken.tv_nsec as f64 * 1e-9
}

/// Has [`peak`] begin anew. Kernels that cannot leave the peak of all tasks of this process.
pub(super) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The greatest resident memory in bytes; 0 where the kernel does not say.
pub(super) fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
