//! Work on threads of its own, while Python's thread reports progress and minds Ctrl-C.
use crate::errors;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The time between two looks at signals, and between two calls of a progress function.
const LOOK: Duration = Duration::from_millis(100);

/// How far the work is, and whether anybody still wants it.
#[derive(Default)]
pub struct Work {
    done: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

/// What unwinds a thread whose work nobody wants any more.
struct Stopped;

impl Work {
    /// Sets the amount of work, in the unit of [`Work::advance`].
    pub fn expect(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Reports that so much more is done. Does not return when the work was stopped: the loops of the crates have no
    /// other way out, and nothing that they own outlives them.
    pub fn advance(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
        if self.stopped.load(Ordering::Relaxed) {
            panic::resume_unwind(Box::new(Stopped));
        }
    }

    fn report(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else {
            return Ok(());
        };
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        // A length that is not known is 0, and an estimate may be too low.
        let done = if total == 0 { done } else { done.min(total) };
        progress.call1(py, (done, total)).map(|_| ())
    }
}

/// Runs `work` on another thread, without Python's lock. `progress` is called with what is done and the total, ten times
/// a second and at the end, on the calling thread.
///
/// # Errors
/// The work's; `KeyboardInterrupt`; whatever `progress` raises. After the latter two the work ends by itself soon.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Arc<Work>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let state = Arc::new(Work::default());
    let (sender, mut receiver) = mpsc::channel();
    let shared = Arc::clone(&state);
    let begin = move || {
        let result = panic::catch_unwind(AssertUnwindSafe(|| work(&shared)));
        // Nobody receives after an interruption.
        let _ = sender.send(result);
    };
    let started = thread::Builder::new().name("hotset".into()).spawn(begin);
    started.map_err(|error| PyRuntimeError::new_err(format!("no thread for the work: {error}")))?;
    loop {
        // Borrowed alone, so that another thread could wait.
        let waiting = &mut receiver;
        let received = py.detach(move || waiting.recv_timeout(LOOK));
        let looked = match received {
            Ok(Ok(result)) => {
                if result.is_ok() {
                    state.report(py, progress)?;
                }
                return result;
            }
            Ok(Err(panicked)) => panic::resume_unwind(panicked),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::value("the work ended without a result"))
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().and_then(|()| state.report(py, progress))
            }
        };
        if let Err(error) = looked {
            state.stopped.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

/// Runs the same closure on `threads` threads, this one among them.
pub fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
    let panicked: Option<Box<dyn Any + Send>> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mine = panic::catch_unwind(AssertUnwindSafe(work));
        // Every thread is joined, so that none is left when the first one's panic goes on.
        let ends: Vec<_> = others.into_iter().map(|other| other.join()).collect();
        std::iter::once(mine).chain(ends).find_map(Result::err)
    });
    if let Some(panicked) = panicked {
        panic::resume_unwind(panicked);
    }
}
