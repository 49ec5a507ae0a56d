//! Signals that a thread waits for. They are blocked, so no handler and no default action takes them.
use std::mem::{zeroed, MaybeUninit};
use std::ptr::{null, null_mut};
use std::time::Duration;

/// Signals that ask a program to end.
pub const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// A set of blocked signals.
#[derive(Clone, Copy)]
pub struct Signals(libc::sigset_t);

/// A signal that was sent to this process.
pub struct Arrived {
    pub signal: libc::c_int,
    /// The kernel sent it, for a key or for the end of a terminal: to all processes in the foreground.
    pub by_kernel: bool,
}

impl Signals {
    /// Blocks signals for this thread, and for threads and processes that it starts.
    pub fn block(signals: impl IntoIterator<Item = libc::c_int>) -> Signals {
        // SAFETY: a signal set is plain data, which sigemptyset() makes valid.
        let mut set: libc::sigset_t = unsafe { zeroed() };
        // SAFETY: `set` is valid for the time of each call, and no other thread uses it.
        unsafe {
            libc::sigemptyset(&mut set);
            for signal in signals {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, null_mut());
        }
        Signals(set)
    }

    /// Lets the signals through again. Safe between fork(2) and exec(2).
    pub fn unblock(&self) {
        // SAFETY: the set is valid.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &self.0, null_mut()) };
    }

    /// Waits for one of the signals. None: the time is over.
    pub fn wait(&self, most: Option<Duration>) -> Option<Arrived> {
        let most = most.map(|most| libc::timespec {
            tv_sec: most.as_secs() as libc::time_t,
            tv_nsec: most.subsec_nanos().into(),
        });
        let most = most.as_ref().map_or(null(), std::ptr::from_ref);
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the set, `info` and `most` (or null) are valid for the time of the call.
        let signal = unsafe { libc::sigtimedwait(&self.0, info.as_mut_ptr(), most) };
        // SAFETY: all bits zero are a valid siginfo_t, and so is what the kernel writes.
        let code = unsafe { info.assume_init() }.si_code;
        (signal > 0).then_some(Arrived {
            signal,
            by_kernel: code == libc::SI_KERNEL,
        })
    }
}

/// The signals of [`ENDING`] that this process does not ignore. Under nohup(1) SIGHUP is ignored.
pub fn ending() -> impl Iterator<Item = libc::c_int> {
    ENDING.into_iter().filter(|&signal| {
        // SAFETY: `now` is plain data that sigaction(2) fills in.
        let mut now: libc::sigaction = unsafe { zeroed() };
        // SAFETY: without a new action, sigaction(2) only reads.
        unsafe { libc::sigaction(signal, null(), &mut now) };
        now.sa_sigaction != libc::SIG_IGN
    })
}

/// Has writes fail with an error where a signal would end the program: to a closed pipe, beyond a limit.
pub fn fail_writes() {
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        // SAFETY: to ignore a signal needs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Gives signals that [`fail_writes`] and a launcher may have ignored their default action.
pub fn restore() {
    for signal in [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGCHLD] {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
