//! The CPU time that a part of the recorder may take.

/// The CPU time of so many seconds is saved up at most: a calm machine pays for its freeze.
const SAVED_S: f64 = 600.0;
/// As much is there at the start, so that an early freeze is seen too.
const FIRST_S: f64 = 60.0;

/// CPU time that is there to be taken. What is done each time may cost much at one time, as where the recorder has to
/// reclaim memory itself: the savings pay for that.
pub struct Budget {
    /// The share of a CPU, in the long run.
    share: f64,
    /// Seconds.
    left_s: f64,
    at_s: Option<f64>,
}

impl Budget {
    pub const fn new(share: f64) -> Budget {
        Budget {
            share,
            left_s: share * FIRST_S,
            at_s: None,
        }
    }

    /// Whether there is any, at this moment of the monotonic clock.
    pub fn is_left(&mut self, now_s: f64) -> bool {
        let since_s = self.at_s.map_or(0.0, |at_s| now_s - at_s);
        self.at_s = Some(now_s);
        self.left_s = (self.left_s + self.share * since_s).min(self.share * SAVED_S);
        self.left_s > 0.0
    }

    /// Takes what something has cost. It may have cost more than there was: the next waits until that is made up for.
    pub fn take(&mut self, cost_s: f64) {
        self.left_s -= cost_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_pays_for_the_counts_of_a_freeze_and_the_share_holds() {
        let mut budget = Budget::new(0.0005);
        // A count of 5 ms: what is there at the start pays for six at once.
        let counts = |budget: &mut Budget, at_s: f64| {
            let mut count = 0;
            while budget.is_left(at_s) && count < 1000 {
                budget.take(0.005);
                count += 1;
            }
            count
        };
        assert_eq!(counts(&mut budget, 0.0), 6);
        // An hour of calm saves up ten minutes' worth, and no more.
        assert_eq!(counts(&mut budget, 3600.0), 60);
        // From then on a count each ten seconds.
        let later: usize = (1..=100)
            .map(|step| counts(&mut budget, 3600.0 + f64::from(step)))
            .sum();
        assert!((9..=10).contains(&later), "{later}");
    }
}
