//! What the daemon lends to protection for one step.
use crate::actuate::error::Error;
use crate::actuate::knob_report::{KnobWrite, Now};
use crate::actuate::knobs::{KnobWriter, Outcome};
use crate::actuate::reclaim_worker::Worker;
use crate::os::clock::Clock;
use crate::telemetry::log::Log;
use crate::telemetry::state::State;

/// The module's name in the log.
pub(super) const MODULE: &str = "protect";

/// The daemon's knobs, worker, log, state and clock.
pub struct Tools<'a> {
    pub knobs: &'a mut KnobWriter,
    /// `None` in a dry run.
    pub worker: Option<&'a mut Worker>,
    pub log: &'a mut Log,
    pub state: &'a mut State,
    pub clock: &'a Clock,
}

impl Tools<'_> {
    /// Reports a knob's write. `in_history`: the history of actions shows it.
    pub(super) fn report(
        &mut self,
        in_history: bool,
        knob: &str,
        to: &str,
        result: &Result<Outcome, Error>,
        reason: &str,
    ) {
        let write = KnobWrite {
            module: MODULE,
            knob,
            to,
            reason,
            in_history,
            now: Now {
                monotonic_s: self.clock.now_s(),
                unix_s: self.clock.unix_s(),
            },
        };
        write.report(result, self.log, self.state);
    }
}

/// MiB of pages of `page_size` bytes.
pub(super) fn mib(pages: u64, page_size: u64) -> u64 {
    (pages * (page_size >> 10)) >> 10
}
