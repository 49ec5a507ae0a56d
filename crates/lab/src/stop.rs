//! Ctrl-C and SIGTERM: asked for once, seen by everything that waits.
use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// A request to stop, shared by all threads of a run.
#[derive(Clone)]
pub struct Stop(Arc<Inner>);

struct Inner {
    asked: Arc<AtomicBool>,
    /// A byte arrives here with the request and is never read, so that every poll(2) sees it.
    seen: UnixStream,
    ask: UnixStream,
}

impl Stop {
    /// A request that only [`Stop::ask`] makes.
    pub fn new() -> Result<Stop> {
        let (seen, ask) = UnixStream::pair().context("making a socket pair")?;
        ask.set_nonblocking(true)
            .context("making a socket non-blocking")?;
        Ok(Stop(Arc::new(Inner {
            asked: Arc::new(AtomicBool::new(false)),
            seen,
            ask,
        })))
    }

    /// The same, and from now on SIGINT, SIGTERM and SIGHUP make the request instead of ending the
    /// process.
    pub fn on_signals() -> Result<Stop> {
        let stop = Stop::new()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let ask = stop.0.ask.try_clone().context("duplicating a socket")?;
            // In this order: who sees the byte must see the flag.
            signal_hook::flag::register(signal, stop.0.asked.clone())
                .and_then(|_| signal_hook::low_level::pipe::register(signal, ask))
                .context("installing a signal handler")?;
        }
        Ok(stop)
    }

    pub fn ask(&self) {
        self.0.asked.store(true, Ordering::Release);
        // Full is as good: it is readable.
        let _ = (&self.0.ask).write(&[1]);
    }

    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Acquire)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.seen.as_fd()
    }
}
