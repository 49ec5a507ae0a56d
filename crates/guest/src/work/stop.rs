//! The end of a worker by SIGTERM.
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by SIGTERM: the worker finishes the measurement under way, then exits.
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether this process is to end.
pub fn stopping() -> bool {
    STOP.load(Ordering::Relaxed)
}

extern "C" fn on_term(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// Has SIGTERM set [`stopping`] instead of ending the process.
pub fn catch_sigterm() {
    let handler = on_term as extern "C" fn(libc::c_int);
    // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
    unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
}
