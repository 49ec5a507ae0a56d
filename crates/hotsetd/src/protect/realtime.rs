//! Being there in time: at real-time priority.
//!
//! Not by PR_SET_IO_FLUSHER: allocations that may start no I/O never lead to an OOM kill
//! (`out_of_memory` in mm/oom_kill.c), and at real-time priority on one CPU would be tried for ever.
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
