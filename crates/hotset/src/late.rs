//! Progress of what may be over at once: nothing is shown within the first second.
use kbuild::progress::{Console, Step, Unit};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A phase of work, told of from any thread.
pub struct Late {
    what: String,
    total: Option<u64>,
    unit: Unit,
    begun: Instant,
    console: Mutex<Option<Console>>,
}

impl Late {
    /// `total` is in `unit`, where it is known.
    pub fn new(what: impl Into<String>, total: Option<u64>, unit: Unit) -> Late {
        Late {
            what: what.into(),
            total,
            unit,
            begun: Instant::now(),
            console: Mutex::new(None),
        }
    }

    /// So much is done.
    pub fn advance(&self, done: u64) {
        if self.begun.elapsed() < Duration::from_secs(1) {
            return;
        }
        // Who panicked while showing progress has been heard already.
        let Ok(mut console) = self.console.lock() else {
            return;
        };
        let console = console.get_or_insert_with(|| {
            let mut console = Console::new(false);
            console.step(Step::Begin {
                what: self.what.clone(),
                total: self.total,
                unit: self.unit,
            });
            console
        });
        console.step(Step::Advance {
            done,
            detail: String::new(),
        });
    }
}
