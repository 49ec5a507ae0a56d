//! The proof of a floor: repeated measurements of the floor that a sweep found.
//!
//! Pages that fall out slowly are missed only after a while. A floor that turns out worse than it
//! seemed is left for the next one up.
use super::sweep::AS_GOOD_S;

/// A floor is proved over so many measurements at a time.
const MEASUREMENTS: u32 = 3;
/// A floor is proved so many times.
const PROOFS: u32 = 3;
/// A floor is left where it costs so many times as much as the sweep's best, plus [`AS_GOOD_S`].
const DISPROVED: f64 = 1.4;
/// A higher floor is the less bad one only where it costs so many times less.
const HELPED: f64 = 1.2;
/// The next floor up is so many times as high.
const UP: f64 = std::f64::consts::SQRT_2;
/// So many floors up are tried at most.
const MOST_UPS: u32 = 8;

/// The measurements of one floor, and the least bad of the floors that were left for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proof {
    percent: f64,
    /// The cost of the measurements since the last mean.
    sum: f64,
    /// Seconds stalled a second in the measurements since the last mean.
    stalls: f64,
    /// All measurements of this floor.
    count: u32,
    /// Floors that were left for this one.
    ups: u32,
    left: Option<Left>,
}

/// A floor that was worse than the best.
#[derive(Clone, Copy, Debug)]
struct Left {
    percent: f64,
    cost: f64,
    /// Seconds stalled a second.
    stalls: f64,
}

/// The result of one more measurement.
#[derive(Clone, Copy, Debug)]
pub enum Verdict {
    /// The same floor is measured again.
    Again(Proof),
    /// This floor is worse than it seemed; the next one up is proved.
    Up(Proof),
    /// The floor is held, with the seconds stalled a second that are usual there.
    Hold { percent: f64, stalls: f64 },
}

impl Proof {
    pub fn new(percent: f64) -> Proof {
        Proof {
            percent,
            ..Proof::default()
        }
    }

    /// The floor that is proved, percent of memory.
    pub fn percent(&self) -> f64 {
        self.percent
    }

    /// Adds a measurement. `best` is the least cost of the sweep, `highest` the upper bound of floors.
    pub fn record(mut self, cost: f64, stalls: f64, best: f64, highest: f64) -> Verdict {
        self.sum += cost;
        self.stalls += stalls;
        self.count += 1;
        // A floor that is much worse is left before all measurements are made.
        let most = best * DISPROVED + AS_GOOD_S;
        if self.sum > most * f64::from(MEASUREMENTS) {
            return self.leave(best, highest);
        }
        if !self.count.is_multiple_of(MEASUREMENTS) {
            return Verdict::Again(self);
        }
        self.sum = 0.0;
        let stalls = std::mem::take(&mut self.stalls) / f64::from(MEASUREMENTS);
        if self.count < MEASUREMENTS * PROOFS {
            return Verdict::Again(self);
        }
        let percent = self.percent;
        Verdict::Hold { percent, stalls }
    }

    /// The next floor up. Where none is left, the best was luck or the machine has changed: then the
    /// least bad floor is held.
    fn leave(self, best: f64, highest: f64) -> Verdict {
        let since = f64::from((self.count - 1) % MEASUREMENTS + 1);
        let this = Left {
            percent: self.percent,
            cost: self.sum / since,
            stalls: self.stalls / since,
        };
        let before = self.left.filter(|left| this.cost * HELPED > left.cost);
        let left = before.unwrap_or(this);
        let next = (self.percent * UP).min(highest);
        if self.ups < MOST_UPS && next > self.percent {
            return Verdict::Up(Proof {
                percent: next,
                ups: self.ups + 1,
                left: Some(left),
                ..Proof::default()
            });
        }
        // The stalls of a floor as good as the best. Much more of them make a sweep due.
        let share = (best / left.cost.max(f64::MIN_POSITIVE)).min(1.0);
        Verdict::Hold {
            percent: left.percent,
            stalls: left.stalls * share,
        }
    }
}
