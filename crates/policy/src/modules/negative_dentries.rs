//! The limit of negative dentries.
use crate::modules::knob::Knob;
use crate::{Action, Config, Decision, Observation};

/// The limit is written again when huge pages have changed by this share.
const CHANGED: f64 = 0.05;

/// Sets fs.negative-dentry-limit, a vendor kernel's file, to a share of the memory that is not huge
/// pages:
///
/// ```text
/// limit = negative_dentry_permille * (MemTotal - Hugetlb) / MemTotal
/// ```
#[derive(Default)]
pub(crate) struct NegativeDentries {
    knob: Knob,
    /// Hugetlb at the last write, KiB.
    written_for: Option<u64>,
}

impl NegativeDentries {
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let value = seen.knobs.negative_dentry_limit;
        let name = "fs.negative-dentry-limit";
        let Some(current) = self.knob.observe(name, value, config, decision) else {
            return;
        };
        let total = seen.meminfo.total;
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
