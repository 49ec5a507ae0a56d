//! vm.watermark_boost_factor, 0 while little memory is left.
//!
//! After a fallback between migrate types the kernel raises a zone's min watermark for a while
//! (`boost_watermark`, mm/page_alloc.c). On a small machine min becomes several times as high. The kernel
//! then kills as soon as reclaim would not lift free pages over the raised watermark
//! (`should_reclaim_retry`). In guests of 128 MiB the kernel kills with megabytes of clean pages left,
//! before hotsetd can choose a better victim.
use super::context::Tools;
use crate::actuate::error::Error;
use crate::actuate::journal::Value;
use crate::actuate::knob_report::Change;
use crate::actuate::knobs::{KnobWriter, Outcome};

pub const BOOST: &str = "vm.watermark_boost_factor";
/// The value that switches boosting off.
const NONE: &str = "0";

/// Who owns the knob's value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Owner {
    /// Nobody has touched the knob.
    #[default]
    Nobody,
    /// hotsetd wrote 0 over this value.
    Hotsetd(Value),
    /// hotsetd leaves the knob alone until more memory is left: it was 0, the kernel
    /// lacks it, or this is a dry run.
    Left,
    /// The administrator wrote the knob meanwhile.
    Administrator,
}

/// The knob vm.watermark_boost_factor.
#[derive(Default)]
pub struct WatermarkBoost(Owner);

impl WatermarkBoost {
    /// Sets the knob to 0. To be called before memory is short, because its value is journaled first.
    ///
    /// # Errors
    /// When the knob cannot be read, journaled or written. The write is not tried again until
    /// [`WatermarkBoost::give_back`].
    pub fn hold(&mut self, knobs: &mut KnobWriter) -> Result<Option<Change>, Error> {
        if self.0 != Owner::Nobody {
            return Ok(None);
        }
        self.0 = Owner::Left;
        let outcome = match knobs.set(BOOST, None, NONE) {
            Ok(outcome) => outcome,
            Err(Error::Missing) => return Ok(None),
            Err(error) => return Err(error),
        };
        match outcome {
            Outcome::Written { from } => self.0 = Owner::Hotsetd(from),
            Outcome::Yielded { .. } => self.0 = Owner::Administrator,
            Outcome::Dry { .. } | Outcome::Unchanged | Outcome::Begun => {}
        }
        Ok(change(none(), outcome))
    }

    /// Gives the knob its value back.
    ///
    /// # Errors
    /// As [`WatermarkBoost::hold`].
    pub fn give_back(&mut self, knobs: &mut KnobWriter) -> Result<Option<Change>, Error> {
        let Owner::Hotsetd(to) = self.0 else {
            if self.0 == Owner::Left {
                self.0 = Owner::Nobody;
            }
            return Ok(None);
        };
        let outcome = knobs.set(BOOST, Some(NONE), to.as_str())?;
        self.0 = match outcome {
            Outcome::Yielded { .. } => Owner::Administrator,
            _ => Owner::Nobody,
        };
        Ok(change(to, outcome))
    }
}

fn none() -> Value {
    Value::of(format_args!("{NONE}"))
}

/// A yield is not reported: the knob was held only as a precaution.
fn change(to: Value, outcome: Outcome) -> Option<Change> {
    let reported = !matches!(outcome, Outcome::Yielded { .. });
    reported.then_some(Change { to, outcome })
}

/// Reports the outcome of [`WatermarkBoost::hold`] or [`WatermarkBoost::give_back`].
pub(super) fn report(done: &Result<Option<Change>, Error>, tools: &mut Tools) {
    let (to, result) = match done {
        Ok(None) => return,
        Ok(Some(change)) => (change.to, Ok(change.outcome)),
        Err(error) => (Value::new(), Err(*error)),
    };
    let reason = match to.as_str() {
        NONE => "little is left: the kernel might kill by a boost",
        _ => "more is left again",
    };
    let write = tools.knob_write(BOOST, to.as_str(), reason);
    write.report(&result, tools.log, tools.state);
}
