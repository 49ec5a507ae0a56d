//! The balance of dentries and inodes against the page cache: vm.vfs_cache_pressure.
use crate::modules::knob::Knob;
use crate::{Action, Config, Decision, Observation};

/// Seconds between two measurements of the trend, and between two writes.
const EVERY_S: f64 = 30.0;
/// A change of fewer objects than this share in [`EVERY_S`] is no trend.
const TREND: f64 = 0.02;
/// A write changes vm.vfs_cache_pressure by so many percentage points.
const STEP: u32 = 10;
/// The lowest value for preferred objects, percent.
const LOWEST: u32 = 20;
/// The highest value for objects that are not preferred, percent.
const HIGHEST: u32 = 200;
/// After so many measurements without a trend comes a step back to the administrator's value.
const CALM: u32 = 10;

/// Nudges vm.vfs_cache_pressure by the trend of dentries and inodes.
///
/// | objects are | reclaim is under way and objects | the value goes to |
/// |---|---|---|
/// | preferred | become fewer | [`LOWEST`] |
/// | not preferred | become more | [`HIGHEST`] |
/// | either | do not change for [`CALM`] measurements | the administrator's |
#[derive(Default)]
pub(crate) struct ObjectCaching {
    knob: Knob,
    /// Time, objects and stolen pages at the last measurement.
    last: Option<(f64, u64, u64)>,
    /// Measurements in a row without a trend.
    calm: u32,
}

impl ObjectCaching {
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let value = seen.knobs.vfs_cache_pressure;
        let ours = self
            .knob
            .observe("vm.vfs_cache_pressure", value, config, decision);
        let (Some(current), Some(dentries)) = (ours, seen.dentries) else {
            return;
        };
        let objects = dentries.count + seen.inodes.map_or(0, |inodes| inodes.count);
        let stolen = seen.vmstat.pgsteal_kswapd + seen.vmstat.pgsteal_direct;
        let Some((at_s, before, stolen_before)) = self.last else {
            self.last = Some((seen.now_s, objects, stolen));
            return;
        };
        if seen.now_s - at_s < EVERY_S {
            return;
        }
        self.last = Some((seen.now_s, objects, stolen));
        let trend = (objects as f64 - before as f64) / before.max(1) as f64;
        let reclaiming = stolen > stolen_before;
        let floor = self.knob.floor();
        let goal = match (config.prefer_object_caching, reclaiming) {
            (true, true) if trend < -TREND => LOWEST.min(floor),
            (false, true) if trend > TREND => HIGHEST.max(floor),
            _ => {
                self.calm += 1;
                if self.calm < CALM {
                    return;
                }
                floor
            }
        };
        self.calm = 0;
        let value = match goal > current {
            true => (current + STEP).min(goal),
            false => current.saturating_sub(STEP).max(goal),
        };
        if value != current && self.knob.ask(seen.now_s, value) {
            decision.push(
                Action::SetVfsCachePressure(value),
                format_args!(
                    "dentries and inodes changed by {:+.1}% in {EVERY_S:.0} s: {current} to \
                     {value}, on the way to {goal}",
                    trend * 100.0
                ),
            );
        }
    }
}
