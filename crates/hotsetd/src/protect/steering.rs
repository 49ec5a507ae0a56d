//! Reclaim on a stock kernel, steered by vm.swappiness, and not disturbed by watermark boosts.
use super::context::{mib, Tools};
use super::watermark_boost::WatermarkBoost;
use crate::actuate::error::Error;
use crate::actuate::journal::Value;
use crate::actuate::knob_report::Change;
use crate::actuate::knobs::Outcome;
use crate::actuate::swappiness::{Swappiness, SWAPPINESS};
use crate::os::fixed_string::Text;
use policy::protect::Outcome as Decision;
use policy::steering::Steer;

/// Seconds without memory nearly short after which the journal forgets the knobs.
const DISARM_S: f64 = 30.0;
/// Seconds. If the next sample is due sooner, the values that may be needed are journaled.
const ARM_S: f64 = 2.0;

/// The knobs vm.swappiness and vm.watermark_boost_factor, and when memory was nearly short.
pub struct Steering {
    pub(super) swappiness: Swappiness,
    /// `None`: the daemon does not kill, so a kill by the kernel is not in its way.
    boost: Option<WatermarkBoost>,
    /// Bytes.
    page_size: u64,
    /// When memory was last nearly short, by [`ARM_S`]. `None`: the journal has forgotten vm.swappiness.
    near_s: Option<f64>,
    /// When so little was last left that a boost might have the kernel kill.
    short_s: f64,
    /// Writes of vm.swappiness.
    pub(super) writes: u64,
}

impl Steering {
    /// `dry`: nothing is written. `kills`: the daemon kills when memory is exhausted. `page_size`: bytes.
    #[must_use]
    pub fn new(dry: bool, kills: bool, page_size: u64, now_s: f64) -> Steering {
        Steering {
            swappiness: Swappiness::new(dry),
            boost: kills.then(WatermarkBoost::default),
            page_size,
            near_s: None,
            short_s: now_s,
            writes: 0,
        }
    }

    /// Whether vm.swappiness may change at the next sample.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.near_s.is_some()
    }

    /// Turns the knobs as the policy decided.
    pub(super) fn steer(&mut self, now_s: f64, decision: &Decision, tools: &mut Tools) {
        if decision.next_s < ARM_S || decision.steer != Steer::Admin {
            self.near_s = Some(now_s);
        }
        let long_ago = self.near_s.is_some_and(|near_s| now_s - near_s >= DISARM_S);
        let done = if long_ago {
            self.near_s = None;
            self.swappiness.disarm(tools.knobs)
        } else {
            self.swappiness.turn(decision.steer, tools.knobs)
        };
        self.report(&done, decision, tools);
        if decision.boosts_kill {
            self.short_s = now_s;
        }
        match &mut self.boost {
            Some(boost) if decision.boosts_kill => boost.hold(tools),
            Some(boost) if now_s - self.short_s >= DISARM_S => boost.give_back(tools),
            _ => {}
        }
    }

    /// Yields vm.swappiness if somebody else has written it.
    pub(super) fn check_ownership(&mut self, decision: &Decision, tools: &mut Tools) {
        let found = self.swappiness.check(tools.knobs);
        // What cannot be read is reported when it is to be written.
        if found.is_ok() {
            self.report(&found, decision, tools);
        }
    }

    /// Gives both knobs back.
    pub(super) fn stop(&mut self, decision: &Decision, tools: &mut Tools) {
        let done = self.swappiness.disarm(tools.knobs);
        self.report(&done, decision, tools);
        if let Some(boost) = &mut self.boost {
            boost.give_back(tools);
        }
    }

    fn report(
        &mut self,
        done: &Result<Option<Change>, Error>,
        decision: &Decision,
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
        let mib = |pages| mib(pages, self.page_size);
        let floors = decision.floors;
        let reason = Text::<160>::of(format_args!(
            "clean file pages {} MiB (floor {} MiB), anonymous pages {} MiB (floor {} MiB)",
            mib(decision.clean),
            mib(floors.clean_min.max(floors.clean_low)),
            mib(decision.anon),
            mib(floors.anon_min),
        ));
        tools.report(true, SWAPPINESS, to.as_str(), &result, reason.as_str());
    }
}
