//! Real-time priority, so that the daemon acts in time under load.
//!
//! PR_SET_IO_FLUSHER is no alternative: an allocation that may start no I/O never leads to an OOM kill
//! (`out_of_memory` in mm/oom_kill.c). At real-time priority on one CPU the kernel would retry such an
//! allocation for ever.
use std::io;

/// Gives this thread SCHED_FIFO with `priority`, 1 to 99. Threads and processes that it starts later are not
/// real-time.
///
/// The kernel also lets a real-time thread's allocations use half of the pages below the min watermark
/// (`gfp_to_alloc_flags` in mm/page_alloc.c). So a sample does not wait for the shortage that it is to end.
///
/// # Errors
/// Without CAP_SYS_NICE, or where RLIMIT_RTPRIO or the cgroup forbids it.
pub fn raise(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: i32::from(priority),
    };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // Some C libraries lack the function, so the system call is made directly.
    // SAFETY: `parameters` lives through the call; 0 is this thread.
    let done = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &parameters) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
