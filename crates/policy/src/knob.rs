//! Whose a knob is: the policy's, or the administrator's.

/// One knob. The value at the first sample is the administrator's and the floor. A value that
/// appears later and that nobody asked for is a write of theirs: the knob is theirs from then on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Knob {
    floor: Option<u32>,
    seen: Option<u32>,
    /// What was asked for last, and when.
    asked: Option<(u32, f64)>,
    yielded: bool,
}

/// What a look at the knob showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Look {
    /// The kernel lacks it, or it is the administrator's.
    HandsOff,
    /// Just now the administrator wrote it.
    Yielded(u32),
    /// The policy may set it; this is its value.
    Ours(u32),
}

/// A write that failed, or a dry run's, is asked for again only so often.
const RETRY_S: f64 = 60.0;

impl Knob {
    pub fn look(&mut self, value: Option<u32>) -> Look {
        let Some(value) = value else {
            return Look::HandsOff;
        };
        let (Some(_), Some(seen)) = (self.floor, self.seen) else {
            self.floor = Some(value);
            self.seen = Some(value);
            return Look::Ours(value);
        };
        let asked_for = self.asked.is_some_and(|(asked, _)| asked == value);
        self.seen = Some(value);
        if self.yielded {
            return Look::HandsOff;
        }
        if value != seen && !asked_for {
            self.yielded = true;
            return Look::Yielded(value);
        }
        Look::Ours(value)
    }

    /// The administrator's value.
    pub fn floor(&self) -> u32 {
        self.floor.unwrap_or(0)
    }

    /// May `value` be asked for now? Not when the knob has it, nor again and again when asking has
    /// had no effect.
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

    /// Seconds since something was last asked for.
    pub fn age_s(&self, now_s: f64) -> f64 {
        self.asked.map_or(f64::INFINITY, |(_, at)| now_s - at)
    }
}
