//! A clean floor by trying: a **sweep** of floors from the most to the least, each by half, then twice
//! half a step further down from the lowest that is as good as the best; held until stalls are others.
//!
//! Down, not up: files that fall out are missed at once, but those that are to come in must be read
//! first.
use crate::auto_floor::Bounds;
use crate::sight::Sight;

/// A floor is judged over so long at least: the kernel counts stalls up every 2 s. And after so long in
/// any case.
const LEAST_S: f64 = 4.0;
const MOST_S: f64 = 7.0;
/// What follows a step is not counted: pages come and go.
const SETTLE_S: f64 = 1.0;
/// As good as the best: so much worse at most, and by so many seconds stalled a second.
const AS_GOOD: f64 = 1.1;
const AS_GOOD_S: f64 = 0.005;
/// Where tasks stall less than this there is nothing to find.
const WORTH_S: f64 = 0.02;
/// Stalls have changed if they are by so much more or less, for so many judgements.
const CHANGED: f64 = 1.6;
const IN_A_ROW: u32 = 3;
/// A sweep costs: the next one comes so much later at the soonest, and twice that each time, to an
/// hour.
const APART_S: f64 = 60.0;
const APART_MOST_S: f64 = 3600.0;
/// Further down by half a step, and half of that.
const FINER: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2, 0.84];
/// Halves from 45% to a hundredth of a percent.
const STEPS: usize = 14;

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// At a floor, with the stalls that it had and how often in a row they were others.
    Held { stalls: Option<f64>, others: u32 },
    /// At the n-th floor of the sweep.
    Sweeping(usize),
    /// At the n-th refinement of the best so far, and its stalls.
    Finer { at: usize, best: (f64, f64) },
}

/// Finds it out.
#[derive(Clone, Copy, Debug)]
pub struct ByStalls {
    bounds: Bounds,
    phase: Phase,
    /// What the floors of the sweep have cost.
    seen: [(f64, f64); STEPS],
    /// When what is judged now began.
    step_s: Option<f64>,
    /// Seconds, microseconds stalled, and pages stolen at the first count after it.
    begun: Option<(f64, u64, u64)>,
    swept_s: f64,
    apart_s: f64,
    /// What was told first: a kernel that always says the same says nothing.
    first_us: Option<u64>,
    last_us: u64,
    lives: bool,
}

impl ByStalls {
    #[must_use]
    pub fn new(bounds: Bounds) -> ByStalls {
        ByStalls {
            bounds,
            phase: Phase::Held {
                stalls: None,
                others: 0,
            },
            seen: [(0.0, 0.0); STEPS],
            step_s: None,
            begun: None,
            swept_s: f64::NEG_INFINITY,
            apart_s: APART_S,
            first_us: None,
            last_us: 0,
            lives: false,
        }
    }

    /// Does the kernel tell of stalls?
    #[must_use]
    pub fn can_tell(&self) -> bool {
        self.lives
    }

    /// Takes a look at what a floor of `percent` does. The next floor, where it is another.
    pub fn look(&mut self, seen: &Sight, percent: f64) -> Option<f64> {
        let stalls = self.stalls(seen)?;
        match self.phase {
            Phase::Held {
                stalls: was,
                others,
            } => self.hold(seen.now_s, stalls, was, others),
            Phase::Sweeping(at) => {
                self.seen[at] = (percent, stalls);
                let next = self.step(at + 1);
                if let (Some(next), true) = (next, at + 1 < STEPS) {
                    self.phase = Phase::Sweeping(at + 1);
                    return Some(next);
                }
                let best = lowest_as_good(&self.seen[..=at]);
                self.finer(0, best)
            }
            Phase::Finer { at, best } => {
                let best = lowest_as_good(&[best, (percent, stalls)]);
                self.finer(at + 1, best)
            }
        }
    }

    fn hold(&mut self, now_s: f64, stalls: f64, was: Option<f64>, others: u32) -> Option<f64> {
        let changed = match was {
            None => stalls > WORTH_S,
            Some(was) => stalls > was * CHANGED + WORTH_S || was > stalls * CHANGED + WORTH_S,
        };
        let others = if changed { others + 1 } else { 0 };
        let due = was.is_none() || (others >= IN_A_ROW && now_s - self.swept_s >= self.apart_s);
        if changed && due {
            self.apart_s = match was {
                None => APART_S,
                Some(_) => (self.apart_s * 2.0).min(APART_MOST_S),
            };
            self.swept_s = now_s;
            self.phase = Phase::Sweeping(0);
            return self.step(0);
        }
        self.phase = Phase::Held {
            stalls: was,
            others,
        };
        None
    }

    fn finer(&mut self, at: usize, best: (f64, f64)) -> Option<f64> {
        let next = FINER.get(at).map(|share| best.0 * share);
        match next.filter(|next| *next >= self.bounds.least) {
            Some(next) => {
                self.phase = Phase::Finer { at, best };
                Some(next)
            }
            None => {
                self.phase = Phase::Held {
                    stalls: Some(best.1),
                    others: 0,
                };
                Some(best.0)
            }
        }
    }

    /// The n-th floor of a sweep; the last is not far above the least.
    fn step(&self, at: usize) -> Option<f64> {
        let percent = self.bounds.most * 0.5f64.powi(at as i32);
        (percent >= self.bounds.least).then_some(percent)
    }

    /// Seconds a second that tasks stalled since the last judgement, once there is another to be made:
    /// something was reclaimed, and it is long enough ago.
    fn stalls(&mut self, seen: &Sight) -> Option<f64> {
        let stall_us = seen.stall_us?;
        self.lives |= stall_us != *self.first_us.get_or_insert(stall_us);
        let counted = stall_us != std::mem::replace(&mut self.last_us, stall_us);
        let step_s = *self.step_s.get_or_insert(seen.now_s);
        let Some((at_s, then_us, stolen)) = self.begun else {
            let late = seen.now_s - step_s >= SETTLE_S;
            // From a moment on at which it was brought up to date.
            if late && (counted || seen.now_s - step_s >= SETTLE_S * 3.0) {
                self.begun = Some((seen.now_s, stall_us, seen.stolen));
            }
            return None;
        };
        let seconds = seen.now_s - at_s;
        if seconds < LEAST_S || (!counted && seconds < MOST_S) {
            return None;
        }
        (self.begun, self.step_s) = (None, None);
        let stalled = stall_us.saturating_sub(then_us) as f64 / 1e6;
        (seen.stolen > stolen).then_some(stalled / seconds)
    }
}

/// The lowest floor that is as good as the best.
fn lowest_as_good(seen: &[(f64, f64)]) -> (f64, f64) {
    let best = seen.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
    let good = |one: &&(f64, f64)| one.1 <= best * AS_GOOD + AS_GOOD_S;
    let lowest = seen
        .iter()
        .filter(good)
        .min_by(|one, other| one.0.total_cmp(&other.0));
    lowest.copied().unwrap_or_default()
}
