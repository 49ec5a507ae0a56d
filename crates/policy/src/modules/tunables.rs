//! Knobs that are set at the start and on events.
use crate::{Action, Config, Decision, Observation, When};

/// A change of huge pages by this share is an event.
const CHANGED: f64 = 0.05;

/// Sets the configured knobs.
#[derive(Default)]
pub(crate) struct Tunables {
    /// Hugetlb at the last event, KiB; `None` before the first sample.
    huge: Option<u64>,
}

impl Tunables {
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let huge = seen.meminfo.hugetlb;
        let event = match self.huge {
            None => When::Start,
            Some(before) if huge.abs_diff(before) as f64 > CHANGED * before as f64 => {
                When::HugePagesChanged
            }
            Some(_) => return,
        };
        let before = self.huge.replace(huge);
        for (index, tunable) in config.tunables.iter().enumerate() {
            if tunable.when != event {
                continue;
            }
            match before {
                None => decision.push(
                    Action::SetTunable(index),
                    format_args!("{} = {} at the start", tunable.name, tunable.value),
                ),
                Some(before) => decision.push(
                    Action::SetTunable(index),
                    format_args!(
                        "{} = {}: huge pages went from {before} to {huge} KiB",
                        tunable.name, tunable.value
                    ),
                ),
            }
        }
    }
}
