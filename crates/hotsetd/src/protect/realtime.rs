//! Being there in time: at real-time priority, and without waiting for I/O of the daemon's own
//! allocations.
use std::io;

/// SCHED_FIFO for this thread; what it starts later is not real-time.
///
/// Beside the CPU, it gives allocations in the kernel half of what is below the min watermark
/// (`gfp_to_alloc_flags` in mm/page_alloc.c), so that a look does not wait for what it is to end.
///
/// # Errors
/// Without CAP_SYS_NICE, or where RLIMIT_RTPRIO or the cgroup forbids it.
pub fn raise(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: i32::from(priority),
    };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `parameters` lives through the call; 0 is this thread. The call itself rather than
    // libc's function, which some C libraries leave out.
    let done = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &parameters) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Allocations in the kernel for this thread start no I/O and are not throttled for dirty pages
/// (PR_SET_IO_FLUSHER, from 5.6 on): reclaim that this thread is drawn into does not wait for swap.
///
/// # Errors
/// Without CAP_SYS_RESOURCE, or on an older kernel.
pub fn no_io() -> io::Result<()> {
    const PR_SET_IO_FLUSHER: libc::c_int = 57;
    // SAFETY: takes numbers only.
    match unsafe { libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
