//! Frees the memory of processes that were killed, in a thread of its own.
//!
//! process_mrelease(2), which Linux has from 5.15 on, frees a victim's memory without waiting until the victim gets
//! the CPU. For a large victim it takes a while. Meanwhile the daemon's loop goes on, and signals the others of
//! a storm.
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::time::Duration;

/// Victims that may wait for the thread, each with a descriptor (a process has 1,024). What does not fit is freed by
/// the victim's own end.
pub(super) const QUEUE: usize = 256;
/// The nice value: the thread frees the memory that everybody waits for.
const NICE: i32 = -20;
/// Calls for one victim, where somebody holds a lock of it, and the pause between them. As many as the kernel's
/// own reaper makes (`MAX_OOM_REAP_RETRIES` in mm/oom_kill.c).
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Starts the thread, and returns its queue, with which the thread ends. `None`: the system has no thread left, and
/// memory comes with the victims' own end.
pub(super) fn start() -> Option<SyncSender<OwnedFd>> {
    let (queue, victims) = sync_channel(QUEUE);
    let thread = std::thread::Builder::new().name("release".into());
    let started = thread.stack_size(64 << 10).spawn(move || run(&victims));
    started.ok().map(|_| queue)
}

fn run(victims: &Receiver<OwnedFd>) {
    // Without the right to it the thread works at the priority that it has.
    let _ = rustix::process::setpriority_process(None, NICE);
    for victim in victims {
        for _ in 0..TRIES {
            match release_memory(&victim) {
                Err(Errno::AGAIN | Errno::INTR) => std::thread::sleep(PAUSE),
                _ => break,
            }
        }
    }
}

fn release_memory(pidfd: &OwnedFd) -> Result<(), Errno> {
    // SAFETY: takes a descriptor that lives through the call, and flags; touches no memory of ours.
    let done = unsafe { libc::syscall(libc::SYS_process_mrelease, pidfd.as_raw_fd(), 0) };
    match done {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}
