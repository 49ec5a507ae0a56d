//! Estimates, and the answer that follows from their bounds.
use serde::Serialize;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// No daemon: the kernel alone.
    Nothing,
    Earlyoom,
    Hotsetd,
    /// A hard floor under clean file pages.
    Floor,
    MinTtl,
    Zram,
    Memory,
    /// A limit on the culprit.
    Limit,
    /// A smaller pool of huge pages.
    Pool,
    /// A higher limit for the cgroup that reached its own.
    RaisedLimit,
}

/// Whether the episode would have been shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Answer {
    #[serde(rename = "helps")]
    Helps,
    #[serde(rename = "does not help")]
    DoesNotHelp,
    #[serde(rename = "cannot tell")]
    CannotTell,
}

impl Answer {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Answer::Helps => "helps",
            Answer::DoesNotHelp => "does not help",
            Answer::CannotTell => "cannot tell",
        }
    }
}

/// Seconds stood still with the change, and the bounds that its assumptions leave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub lost_s: f64,
    pub low_s: f64,
    pub high_s: f64,
}

impl Estimate {
    /// The middle of two bounds.
    #[must_use]
    pub fn between(low_s: f64, high_s: f64) -> Estimate {
        let (low_s, high_s) = (low_s.max(0.0).min(high_s), high_s.max(0.0));
        Estimate {
            lost_s: (low_s + high_s) / 2.0,
            low_s,
            high_s,
        }
    }

    /// One value, without an error.
    #[must_use]
    pub fn just(lost_s: f64) -> Estimate {
        Estimate::between(lost_s, lost_s)
    }
}

/// An episode is shorter when at most this share of it is left: repeats of one trial differ by as much as the rest.
pub const SHORTER: f64 = 0.75;

/// One change, and what it would have done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remedy {
    pub change: Change,
    /// As a person would say it: "twice the memory (16.0 GiB)".
    pub name: String,
    pub answer: Answer,
    /// `None`: not even bounds are known.
    pub estimate: Option<Estimate>,
    /// One sentence, without its full stop.
    pub why: String,
    /// Bytes of memory, zram, floor or limit; 0 where there are none.
    pub bytes: u64,
}

impl Remedy {
    /// The answer is what the bounds allow: helps where even the upper one is shorter than `was_s`, does not help
    /// where not even the lower one is.
    #[must_use]
    pub fn judged(
        change: Change,
        name: String,
        was_s: f64,
        estimate: Estimate,
        why: String,
    ) -> Remedy {
        let shorter = |lost_s: f64| lost_s <= SHORTER * was_s && lost_s < was_s;
        let answer = match (shorter(estimate.low_s), shorter(estimate.high_s)) {
            (_, true) => Answer::Helps,
            (false, false) => Answer::DoesNotHelp,
            (true, false) => Answer::CannotTell,
        };
        Remedy {
            change,
            name,
            answer,
            estimate: Some(estimate),
            why,
            bytes: 0,
        }
    }

    #[must_use]
    pub fn unknown(change: Change, name: String, why: &str) -> Remedy {
        Remedy {
            change,
            name,
            answer: Answer::CannotTell,
            estimate: None,
            why: why.into(),
            bytes: 0,
        }
    }

    #[must_use]
    pub fn of_bytes(self, bytes: u64) -> Remedy {
        Remedy { bytes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_decide() {
        let answer = |low_s, high_s| {
            let found = Estimate::between(low_s, high_s);
            Remedy::judged(Change::Zram, String::new(), 10.0, found, String::new()).answer
        };
        assert_eq!(answer(0.0, 7.0), Answer::Helps);
        assert_eq!(answer(0.0, 8.0), Answer::CannotTell);
        assert_eq!(answer(8.0, 20.0), Answer::DoesNotHelp);
    }
}
