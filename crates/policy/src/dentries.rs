//! Negative dentries, and how dear dentries and inodes are against the page cache.
use crate::knob::{Knob, Look};
use crate::{Action, Config, Decision, Observation, Warning};

/// Huge pages must have changed by this share before the limit is written again.
const CHANGED: f64 = 0.05;

/// Keeps fs.negative-dentry-limit (a vendor kernel's file, per mille of memory) a share of the memory
/// that is not huge pages.
#[derive(Default)]
pub(crate) struct NegativeDentries {
    knob: Knob,
    /// Hugetlb at the last write, KiB.
    written_for: Option<u64>,
}

impl NegativeDentries {
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let look = self.knob.look(seen.knobs.negative_dentry_limit);
        if let Look::Yielded(value) = look {
            decision.push(
                Action::Warn(Warning::Yielded),
                format_args!(
                    "fs.negative-dentry-limit was set to {value} by someone else; it is theirs now"
                ),
            );
        }
        let (Look::Ours(current), total) = (look, seen.meminfo.total) else {
            return;
        };
        let huge = seen.meminfo.hugetlb.min(total);
        let unchanged = self.written_for.is_some_and(|before| {
            huge.abs_diff(before) as f64 <= CHANGED * before.max(total / 100) as f64
        });
        if total == 0 || unchanged {
            return;
        }
        let share = (total - huge) as f64 / total as f64;
        let permille = f64::from(config.negative_dentry_permille.clamp(1, 100));
        let value = ((permille * share).round() as u32).max(1);
        if value == current || self.knob.ask(seen.now_s, value) {
            self.written_for = Some(huge);
        }
        if value != current && self.written_for == Some(huge) {
            decision.push(
                Action::SetNegativeDentryLimit(value),
                format_args!(
                    "{permille:.0} per mille of the {:.0}% of memory that are not huge pages",
                    share * 100.0
                ),
            );
        }
    }
}

/// Seconds between two looks, and between two writes.
const EVERY_S: f64 = 30.0;
/// A trend below this share in a look is none.
const TREND: f64 = 0.02;
/// Steps and bounds of vm.vfs_cache_pressure, percent.
const STEP: u32 = 10;
const LOWEST: u32 = 20;
const HIGHEST: u32 = 200;
/// Looks without a trend before a step back towards the administrator's value.
const CALM_LOOKS: u32 = 10;

/// Nudges vm.vfs_cache_pressure by the trend of dentries and inodes.
#[derive(Default)]
pub(crate) struct ObjectCaching {
    knob: Knob,
    last: Option<(f64, u64, u64)>,
    calm: u32,
}

impl ObjectCaching {
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let look = self.knob.look(seen.knobs.vfs_cache_pressure);
        if let Look::Yielded(value) = look {
            decision.push(
                Action::Warn(Warning::Yielded),
                format_args!(
                    "vm.vfs_cache_pressure was set to {value} by someone else; it is theirs now"
                ),
            );
        }
        let (Look::Ours(current), Some(dentries)) = (look, seen.dentries) else {
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
        // Objects that reclaim takes are kept when they are preferred; objects that grow while the
        // page cache pays for it are let go when they are not.
        let goal = match (config.prefer_object_caching, reclaiming) {
            (true, true) if trend < -TREND => LOWEST.min(floor),
            (false, true) if trend > TREND => HIGHEST.max(floor),
            _ => {
                self.calm += 1;
                if self.calm < CALM_LOOKS {
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
                format_args!("dentries and inodes changed by {:+.1}% in {EVERY_S:.0} s: {current} to {value}, on the way to {goal}", trend * 100.0),
            );
        }
    }
}
