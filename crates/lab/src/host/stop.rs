//! A request to stop, by Ctrl-C or SIGTERM: made once, noticed by every thread that waits.
use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;

/// A request to stop, shared by all threads of a run.
#[derive(Clone)]
pub struct Stop(Arc<Inner>);

struct Inner {
    asked: Arc<AtomicBool>,
    /// The number of the signal; 0 where there was none.
    signal: Arc<AtomicUsize>,
    /// A byte arrives here with the request and is never read, so that every poll(2) sees it.
    seen: UnixStream,
    ask: UnixStream,
}

fn ignored(signal: libc::c_int) -> bool {
    // SAFETY: the structure is plain data, which the call fills; nothing is changed.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
    }
}

impl Stop {
    /// A request that only [`Stop::ask`] makes.
    pub fn new() -> Result<Stop> {
        let (seen, ask) = UnixStream::pair().context("making a socket pair")?;
        ask.set_nonblocking(true)
            .context("making a socket non-blocking")?;
        Ok(Stop(Arc::new(Inner {
            asked: Arc::default(),
            signal: Arc::default(),
            seen,
            ask,
        })))
    }

    /// A request that SIGINT, SIGTERM and SIGHUP make from now on, instead of ending the process. After nohup
    /// SIGHUP stays ignored.
    pub fn on_signals() -> Result<Stop> {
        let stop = Stop::new()?;
        let signals = [SIGINT, SIGTERM, SIGHUP];
        for signal in signals
            .into_iter()
            .filter(|it| *it != SIGHUP || !ignored(SIGHUP))
        {
            let ask = stop.0.ask.try_clone().context("duplicating a socket")?;
            // In this order: a thread that sees the byte must see the flag.
            let number = signal.unsigned_abs() as usize;
            signal_hook::flag::register_usize(signal, stop.0.signal.clone(), number)
                .and_then(|_| signal_hook::flag::register(signal, stop.0.asked.clone()))
                .and_then(|_| signal_hook::low_level::pipe::register(signal, ask))
                .context("installing a signal handler")?;
        }
        Ok(stop)
    }

    /// Makes the request.
    pub fn ask(&self) {
        self.0.asked.store(true, Ordering::Release);
        // A full socket serves as well: it is readable.
        let _ = (&self.0.ask).write(&[1]);
    }

    /// The number of the signal that made the request; none where none did.
    pub fn signal(&self) -> Option<u8> {
        let number = self.0.signal.load(Ordering::Acquire);
        u8::try_from(number).ok().filter(|number| *number > 0)
    }

    /// Whether the request was made.
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Acquire)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.seen.as_fd()
    }
}
