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
use crate::actuate::knobs::Outcome;

const BOOST: &str = "vm.watermark_boost_factor";
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
    /// Sets the knob to 0. To be called before memory is short, because its value is journaled first. A write that
    /// fails is not tried again until [`WatermarkBoost::give_back`].
    pub(super) fn hold(&mut self, tools: &mut Tools) {
        if self.0 != Owner::Nobody {
            return;
        }
        let result = tools.knobs.set(BOOST, None, NONE);
        self.0 = match result {
            Ok(Outcome::Written { from }) => Owner::Hotsetd(from),
            Ok(Outcome::Yielded { .. }) => Owner::Administrator,
            _ => Owner::Left,
        };
        let reason = "little is left: the kernel might kill by a boost";
        report(NONE, &result, reason, tools);
    }

    /// Gives the knob its value back.
    pub(super) fn give_back(&mut self, tools: &mut Tools) {
        if self.0 == Owner::Left {
            self.0 = Owner::Nobody;
        }
        let Owner::Hotsetd(to) = self.0 else { return };
        let result = tools.knobs.set(BOOST, Some(NONE), to.as_str());
        match result {
            Ok(Outcome::Yielded { .. }) => self.0 = Owner::Administrator,
            Ok(_) => self.0 = Owner::Nobody,
            Err(_) => {}
        }
        report(to.as_str(), &result, "more is left again", tools);
    }
}

/// Neither a yield is reported, as the knob was held only as a precaution, nor a kernel without the knob.
fn report(to: &str, result: &Result<Outcome, Error>, reason: &str, tools: &mut Tools) {
    if !matches!(result, Ok(Outcome::Yielded { .. }) | Err(Error::Missing)) {
        tools.report(false, BOOST, to, result, reason);
    }
}
