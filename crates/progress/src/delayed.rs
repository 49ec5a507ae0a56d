//! Progress of work that may end soon: nothing is shown within the first second.
use crate::console::Console;
use crate::step::{Step, Unit};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A phase of work that any thread can report on.
pub struct Delayed {
    title: String,
    total: Option<u64>,
    unit: Unit,
    begun: Instant,
    console: Mutex<Option<Console>>,
}

impl Delayed {
    /// Begins a phase. `total` is in `unit`, where it is known.
    pub fn new(title: impl Into<String>, total: Option<u64>, unit: Unit) -> Delayed {
        Delayed {
            title: title.into(),
            total,
            unit,
            begun: Instant::now(),
            console: Mutex::new(None),
        }
    }

    /// Reports that `done` units of the total are done.
    pub fn advance(&self, done: u64) {
        if self.begun.elapsed() < Duration::from_secs(1) {
            return;
        }
        // A poisoned lock: another thread panicked, and its panic was shown.
        let Ok(mut console) = self.console.lock() else {
            return;
        };
        let console = console.get_or_insert_with(|| {
            let mut console = Console::new(false);
            console.step(Step::Begin {
                title: self.title.clone(),
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
