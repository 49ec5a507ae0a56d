//! What the daemon lends to protection for one step.
use crate::actuate::knob_report::{KnobWrite, Now};
use crate::actuate::knobs::KnobWriter;
use crate::actuate::reclaim_worker::Worker;
use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use crate::telemetry::log::Log;
use crate::telemetry::state::{PastAction, State};
use std::fmt;

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
    /// Adds an action to the history of the status document.
    pub(super) fn remember(&mut self, action: Text<96>, reason: &str, outcome: fmt::Arguments) {
        self.state.remember(PastAction {
            at_unix_s: self.clock.unix_s(),
            action,
            reason: Text::of(format_args!("{reason}")),
            outcome: Text::of(outcome),
        });
    }

    /// A knob's write, to be reported outside of the history.
    pub(super) fn knob_write<'k>(
        &self,
        knob: &'k str,
        to: &'k str,
        reason: &'k str,
    ) -> KnobWrite<'k> {
        KnobWrite {
            module: MODULE,
            knob,
            to,
            reason,
            in_history: false,
            now: Now {
                monotonic_s: self.clock.now_s(),
                unix_s: self.clock.unix_s(),
            },
        }
    }
}
