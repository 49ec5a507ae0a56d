//! Reclaim on a stock kernel, steered by vm.swappiness, and not disturbed by watermark boosts.
use super::context::Tools;
use super::watermark_boost::{self, WatermarkBoost};
use crate::actuate::error::Error;
use crate::actuate::journal::Value;
use crate::actuate::knob_report::{Change, KnobWrite};
use crate::actuate::knobs::Outcome;
use crate::actuate::swappiness::{Swappiness, SWAPPINESS};
use crate::os::fixed_string::Text;
use policy::protect::Outcome as Decision;
use policy::steering::Steer;

/// Seconds without memory nearly short after which the journal forgets the knobs.
const DISARM_S: f64 = 30.0;
/// Seconds. If the next sample is due sooner, the values that may be needed are journaled.
const ARM_S: f64 = 2.0;

/// The situation that the knobs are steered by.
#[derive(Clone, Copy)]
pub struct Situation {
    pub now_s: f64,
    pub decision: Decision,
    /// Bytes of a page.
    pub page_size: u64,
    /// The daemon kills when memory is exhausted.
    pub kills: bool,
}

/// The knobs vm.swappiness and vm.watermark_boost_factor, and when memory was nearly short.
pub struct Steering {
    swappiness: Swappiness,
    boost: WatermarkBoost,
    /// When memory was last nearly short, by [`ARM_S`].
    near_s: f64,
    /// When so little was last left that a boost might have the kernel kill.
    short_s: f64,
    armed: bool,
    writes: u64,
}

impl Steering {
    /// `dry`: nothing is written.
    #[must_use]
    pub fn new(dry: bool, now_s: f64) -> Steering {
        Steering {
            swappiness: Swappiness::new(dry),
            boost: WatermarkBoost::default(),
            near_s: now_s,
            short_s: now_s,
            armed: false,
            writes: 0,
        }
    }

    /// Whether vm.swappiness may change at the next sample.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.armed
    }

    /// Whether the administrator wrote vm.swappiness, which is left alone from then on.
    #[must_use]
    pub fn has_yielded(&self) -> bool {
        self.swappiness.yielded()
    }

    /// Writes of vm.swappiness.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Turns the knobs as the policy decided.
    pub(super) fn steer(&mut self, situation: &Situation, tools: &mut Tools) {
        let (now_s, decision) = (situation.now_s, &situation.decision);
        if decision.next_s < ARM_S || decision.steer != Steer::Admin {
            self.near_s = now_s;
        }
        let done = if now_s == self.near_s {
            self.armed = true;
            self.swappiness.turn(decision.steer, tools.knobs)
        } else if self.armed && now_s - self.near_s >= DISARM_S {
            self.armed = false;
            self.swappiness.disarm(tools.knobs)
        } else {
            self.swappiness.turn(decision.steer, tools.knobs)
        };
        self.report(&done, situation, tools);
        if situation.kills {
            self.keep_from_boosting(now_s, decision, tools);
        }
    }

    fn keep_from_boosting(&mut self, now_s: f64, decision: &Decision, tools: &mut Tools) {
        if decision.boosts_kill {
            self.short_s = now_s;
            let held = self.boost.hold(tools.knobs);
            watermark_boost::report(&held, tools);
        } else if now_s - self.short_s >= DISARM_S {
            let given = self.boost.give_back(tools.knobs);
            watermark_boost::report(&given, tools);
        }
    }

    /// Yields vm.swappiness if somebody else has written it.
    pub(super) fn check_ownership(&mut self, situation: &Situation, tools: &mut Tools) {
        let found = self.swappiness.check(tools.knobs);
        if matches!(found, Ok(Some(_))) {
            self.report(&found, situation, tools);
        }
    }

    /// Gives both knobs back.
    pub(super) fn stop(&mut self, situation: &Situation, tools: &mut Tools) {
        let done = self.swappiness.disarm(tools.knobs);
        self.report(&done, situation, tools);
        let given = self.boost.give_back(tools.knobs);
        watermark_boost::report(&given, tools);
    }

    fn report(
        &mut self,
        done: &Result<Option<Change>, Error>,
        situation: &Situation,
        tools: &mut Tools,
    ) {
        let (to, result) = match done {
            Ok(None) => return,
            Ok(Some(change)) => (change.to, Ok(change.outcome)),
            Err(error) => (Value::new(), Err(*error)),
        };
        if matches!(result, Ok(Outcome::Written { .. })) {
            self.writes += 1;
        }
        let reason = situation.reason();
        let write = KnobWrite {
            in_history: true,
            ..tools.knob_write(SWAPPINESS, to.as_str(), reason.as_str())
        };
        write.report(&result, tools.log, tools.state);
    }
}

impl Situation {
    fn reason(&self) -> Text<160> {
        let decision = &self.decision;
        let mib = |pages: u64| (pages * (self.page_size >> 10)) >> 10;
        let floors = decision.floors;
        Text::of(format_args!(
            "clean file pages {} MiB (floor {} MiB), anonymous pages {} MiB (floor {} MiB)",
            mib(decision.clean),
            mib(floors.clean_min.max(floors.clean_low)),
            mib(decision.anon),
            mib(floors.anon_min),
        ))
    }
}
