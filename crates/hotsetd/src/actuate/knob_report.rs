//! One report of every knob's write: in the log, the counters and the history of actions.
use crate::actuate::error::Error;
use crate::actuate::journal::Value;
use crate::actuate::knobs::Outcome;
use crate::os::fixed_string::Text;
use crate::telemetry::log::{condition, Level, Log};
use crate::telemetry::state::{PastAction, State};
use std::fmt;

/// A value for a knob, and the outcome of its write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub to: Value,
    pub outcome: Outcome,
}

/// The time of a report.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// CLOCK_MONOTONIC, seconds.
    pub monotonic_s: f64,
    /// Seconds since 1970.
    pub unix_s: f64,
}

/// A knob's write.
pub struct KnobWrite<'a> {
    /// The module that the log names.
    pub module: &'static str,
    pub knob: &'a str,
    /// Empty where the write failed before its value was known.
    pub to: &'a str,
    pub reason: &'a str,
    /// The history of actions shows the write.
    pub in_history: bool,
    pub now: Now,
}

impl KnobWrite<'_> {
    /// Logs the outcome. Counts yields to the administrator, and failures.
    pub fn report(&self, result: &Result<Outcome, Error>, log: &mut Log, state: &mut State) {
        let KnobWrite {
            module,
            knob,
            to,
            reason,
            ..
        } = *self;
        let id = condition(&["knob", knob]);
        match result {
            Ok(Outcome::Unchanged | Outcome::Begun) => {}
            Ok(Outcome::Written { from }) => {
                let text = format_args!("{knob} can be written again");
                log.resolved(id, module, text);
                let text = format_args!("{knob} = {to} (was {from}): {reason}");
                log.line(Level::Action, module, text);
                self.remember(format_args!("written, was {from}"), state);
            }
            Ok(Outcome::Dry { from }) => {
                let text = format_args!("dry run: {knob} would become {to} (is {from}): {reason}");
                log.line(Level::Action, module, text);
                self.remember(format_args!("dry run, is {from}"), state);
            }
            Ok(Outcome::Yielded { found }) => {
                state.counts.yields += 1;
                let text = format_args!("{knob} = {found} is the administrator's value, and stays");
                log.line(Level::Notice, module, text);
                self.remember(format_args!("yielded to {found}"), state);
            }
            Err(error) => {
                state.counts.failures += 1;
                let sign = if to.is_empty() { "" } else { " = " };
                let text = format_args!("{knob}{sign}{to}: {error}");
                if log.warn(self.now.monotonic_s, id, module, text) {
                    self.remember(format_args!("{error}"), state);
                }
            }
        }
    }

    fn remember(&self, outcome: fmt::Arguments, state: &mut State) {
        if self.in_history {
            state.remember(PastAction {
                at_unix_s: self.now.unix_s,
                action: Text::of(format_args!("{} = {}", self.knob, self.to)),
                reason: Text::of(format_args!("{}", self.reason)),
                outcome: Text::of(outcome),
            });
        }
    }
}
