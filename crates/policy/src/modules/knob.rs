//! The owner of a knob: the policy or the administrator.
//!
//! The value at the first sample is the administrator's. It is the floor of all values that the policy
//! asks for. A later value that the policy has not asked for is a write of the administrator's, and the
//! knob is the administrator's from then on. The floor itself, written again, is none: `sysctl --system` does so.

use crate::{Action, Config, Decision, Warning};

/// A write that fails, or that a dry run leaves out, is asked for again after so many seconds.
const RETRY_S: f64 = 60.0;

/// One knob.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Knob {
    /// The value at the first sample.
    floor: Option<u32>,
    /// The value at the last sample.
    seen: Option<u32>,
    /// The value that was asked for last, and when.
    asked: Option<(u32, f64)>,
    /// The administrator has taken the knob.
    yielded: bool,
}

impl Knob {
    /// Takes the value of the knob `name` at a sample; `None` where the kernel lacks it. Returns the value where the
    /// policy may set the knob. Warns once where the administrator has written it, but for a value of `tunables`.
    pub fn observe(
        &mut self,
        name: &str,
        value: Option<u32>,
        config: &Config,
        decision: &mut Decision,
    ) -> Option<u32> {
        let value = value?;
        let (Some(_), Some(seen)) = (self.floor, self.seen) else {
            self.floor = Some(value);
            self.seen = Some(value);
            return Some(value);
        };
        let asked_for = self.asked.is_some_and(|(asked, _)| asked == value);
        self.seen = Some(value);
        if !self.yielded && value != seen && !asked_for && self.floor != Some(value) {
            self.yielded = true;
            let configured = config
                .tunables
                .iter()
                .any(|one| one.name == name && one.value.trim().parse() == Ok(value));
            if !configured {
                decision.push(
                    Action::Warn(Warning::Yielded),
                    format_args!("somebody else set {name} to {value}: hotsetd leaves it alone"),
                );
            }
        }
        (!self.yielded).then_some(value)
    }

    /// The administrator's value.
    pub fn floor(&self) -> u32 {
        self.floor.unwrap_or(0)
    }

    /// Whether `value` may be asked for now. If so, `value` counts as asked for.
    ///
    /// The knob's present value is not asked for, nor within [`RETRY_S`] a value that was asked for in vain.
    pub fn ask(&mut self, now_s: f64, value: u32) -> bool {
        if self.seen == Some(value) {
            return false;
        }
        if self
            .asked
            .is_some_and(|(asked, at)| asked == value && now_s - at < RETRY_S)
        {
            return false;
        }
        self.asked = Some((value, now_s));
        true
    }

    /// Seconds since a value was last asked for.
    pub fn age_s(&self, now_s: f64) -> f64 {
        self.asked.map_or(f64::INFINITY, |(_, at)| now_s - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tunable, When};

    #[test]
    fn a_value_of_the_configuration_is_nobody_elses() {
        let tunable = |value: &str| Tunable {
            name: "vm.x".into(),
            value: value.into(),
            when: When::Start,
        };
        let warned = |value: &str| {
            let config = Config {
                tunables: vec![tunable(value)],
                ..Config::default()
            };
            let (mut knob, mut decision) = (Knob::default(), Decision::default());
            knob.observe("vm.x", Some(100), &config, &mut decision);
            // Either way the knob is the administrator's from then on.
            assert_eq!(
                knob.observe("vm.x", Some(150), &config, &mut decision),
                None
            );
            let warned = decision.actions().next().is_some();
            warned
        };
        assert!(!warned("150") && warned("160"));
    }
}
