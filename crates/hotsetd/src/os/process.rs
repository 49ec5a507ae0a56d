//! The process: its memory, its clocks, its exemption from the OOM killer, its detachment.
use rustix::fs::{Mode, OFlags};
use std::io;

/// Locks all present and future pages of the daemon in memory: none must be read back while
/// memory is short.
///
/// # Errors
/// As mlockall(2): without CAP_IPC_LOCK the limit is RLIMIT_MEMLOCK.
pub fn lock_memory() -> io::Result<()> {
    // MCL_ONFAULT: pages that are never touched need not be in memory. One sample touches
    // all pages of the event loop.
    let flags = libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT;
    // SAFETY: mlockall takes flags only and touches no memory of ours.
    match unsafe { libc::mlockall(flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// One heap for all threads: a heap of the worker's own would reserve 64 MiB of locked
/// addresses.
pub fn one_heap() {
    // SAFETY: mallopt takes numbers only; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Returns memory to the kernel that only the start needed.
pub fn trim_heap() {
    // SAFETY: malloc_trim only returns free pages at the heap's end; no allocation moves.
    unsafe { libc::malloc_trim(0) };
}

/// Exempts the daemon from the kernel's OOM killer: the daemon frees memory.
///
/// # Errors
/// CAP_SYS_RESOURCE is missing, or the file is.
pub fn spare_from_oom_killer() -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open("/proc/self/oom_score_adj", flags, Mode::empty())?;
    rustix::io::write(file, b"-1000\n")?;
    Ok(())
}

/// Whether a folder is the kernel's /proc with this process under its own id: its ids are then this machine's, or this
/// container's.
#[must_use]
pub fn is_own_proc(proc: impl std::os::fd::AsFd) -> bool {
    const PROC: rustix::fs::FsWord = 0x9fa0;
    let kernels = rustix::fs::fstatfs(&proc).is_ok_and(|found| found.f_type == PROC);
    let me = rustix::fs::readlinkat(&proc, "self", Vec::new());
    kernels && me.is_ok_and(|me| me.to_str() == Ok(&std::process::id().to_string()))
}

/// CLOCK_MONOTONIC in seconds. By libc, not rustix: rustix insists on a vDSO, which User-Mode Linux
/// does not have.
pub fn now_s() -> f64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// CLOCK_BOOTTIME in seconds, in which processes' start times are counted.
pub fn boot_s() -> f64 {
    clock(libc::CLOCK_BOOTTIME)
}

/// Seconds since 1970.
pub fn unix_s() -> f64 {
    clock(libc::CLOCK_REALTIME)
}

/// CPU seconds of this process, of all its threads.
pub fn cpu_s() -> f64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU seconds of this thread.
pub fn thread_cpu_s() -> f64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock(id: libc::clockid_t) -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is ours to write; these clocks are always there.
    unsafe { libc::clock_gettime(id, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Leaves the terminal and the caller behind, as daemon(3) does.
///
/// # Errors
/// As fork(2).
pub fn detach() -> io::Result<()> {
    // SAFETY: no thread has been started yet, so the child may do anything.
    match unsafe { libc::daemon(0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
