//! vm.watermark_boost_factor, 0 while memory is nearly short.
//!
//! After a fallback between migrate types the kernel raises a zone's min for a while, on a small machine to
//! several times what it was (`boost_watermark`, mm/page_alloc.c), and kills as soon as what it can
//! reclaim would not lift free pages over that (`should_reclaim_retry`): in guests of 128 MiB with
//! megabytes of clean pages left, before anybody could choose a better victim.
use super::guard::Tools;
use crate::harden;
use crate::journal::Value;
use crate::knobs::{Fault, Knobs, Outcome};
use crate::log::{fault_of, Level};

pub const BOOST: &str = "vm.watermark_boost_factor";
/// No boost at all.
const NONE: &str = "0";

/// What was written, or would be.
#[derive(Clone, Copy, Debug)]
pub struct Changed {
    pub from: Value,
    pub to: Value,
    pub dry: bool,
}

/// What it is to us.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Not touched.
    #[default]
    Idle,
    /// 0 by us; it was this.
    Held(Value),
    /// Left alone until nothing is near any more: it was 0, the kernel lacks it, or this is a dry run.
    Left,
    /// The administrator wrote it meanwhile.
    Theirs,
}

/// The knob.
#[derive(Default)]
pub struct Boost(State);

impl Boost {
    /// Sets it to 0. Done while memory is not short yet, for its value is journaled first.
    ///
    /// # Errors
    /// When it cannot be read, journaled or written; it is not tried again until [`Boost::give_back`].
    pub fn hold(&mut self, knobs: &mut Knobs) -> Result<Option<Changed>, Fault> {
        if self.0 != State::Idle {
            return Ok(None);
        }
        self.0 = State::Left;
        match knobs.set(BOOST, None, NONE) {
            Ok(Outcome::Written { from }) => {
                self.0 = State::Held(from);
                Ok(Some(to_none(from, false)))
            }
            Ok(Outcome::Dry { from }) => Ok(Some(to_none(from, true))),
            Ok(Outcome::Yielded { .. }) => {
                self.0 = State::Theirs;
                Ok(None)
            }
            Ok(Outcome::Unchanged) | Err(Fault::Missing) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Gives it back: nothing is near any more.
    ///
    /// # Errors
    /// As [`Boost::hold`].
    pub fn give_back(&mut self, knobs: &mut Knobs) -> Result<Option<Changed>, Fault> {
        let State::Held(to) = self.0 else {
            if self.0 == State::Left {
                self.0 = State::Idle;
            }
            return Ok(None);
        };
        match knobs.set(BOOST, Some(NONE), to.as_str())? {
            Outcome::Yielded { .. } => {
                self.0 = State::Theirs;
                Ok(None)
            }
            _ => {
                self.0 = State::Idle;
                let from = Value::of(format_args!("{NONE}"));
                let dry = false;
                Ok(Some(Changed { from, to, dry }))
            }
        }
    }
}

fn to_none(from: Value, dry: bool) -> Changed {
    let to = Value::of(format_args!("{NONE}"));
    Changed { from, to, dry }
}

/// Says what became of it, if anything did.
pub(super) fn tell(done: Result<Option<Changed>, Fault>, tools: &mut Tools) {
    match done {
        Ok(None) => {}
        Ok(Some(Changed {
            from,
            to,
            dry: true,
        })) => {
            let (to, from) = (to.as_str(), from.as_str());
            let words = format_args!("dry run: {BOOST} would become {to} (is {from})");
            tools.log.line(Level::Action, "protect", words);
        }
        Ok(Some(Changed { from, to, .. })) => {
            let words = format_args!("{BOOST} = {} (was {})", to.as_str(), from.as_str());
            tools.log.line(Level::Action, "protect", words);
        }
        Err(problem) => {
            tools.state.counts.failures += 1;
            let what = fault_of(&["knob", BOOST]);
            let words = format_args!("{BOOST}: {problem}");
            tools.log.fault(harden::now_s(), what, "protect", words);
        }
    }
}
