//! The search for a clean floor by trying:
//!
//! 1. A **sweep** over floors from the highest to the lowest, each half of the one before.
//! 2. A second, finer sweep: half a step and less below the lowest floor that is as good as the best.
//! 3. A **proof** of the floor that was found. A floor that turns out worse is left for the next one up.
//! 4. The floor is held until stalls change.
//!
//! The cost of a floor:
//!
//! ```text
//! cost = seconds stalled a second * needed pages that come back a second / those before the sweep
//! ```
//!
//! Stalls alone mislead where the CPU is short, because slow tasks wait no more often a second than quick
//! ones. A floor under pages that nobody needs then seems as good as none.
use super::bounds::Bounds;
use super::measurement::{Measurement, Meter};
use super::proof::{Proof, Verdict};
use super::sweep::{Sweep, STEPS};
use crate::protection::snapshot::Snapshot;

/// Where tasks stall for fewer seconds a second there is nothing to find.
const WORTH_S: f64 = 0.02;
/// Stalls have changed if they are so many times as long, or as short, plus [`WORTH_S`].
const CHANGED: f64 = 1.6;
/// Stalls have changed if so many measurements in a row differ.
const IN_A_ROW: u32 = 3;
/// A sweep is costly, so the next one comes so many seconds later at the soonest. Each time the wait doubles.
const APART_S: f64 = 60.0;
/// Sweeps are at most so many seconds apart.
const APART_MOST_S: f64 = 3600.0;
/// The floors of the second sweep, as shares of the one that the first found.
const FINER: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2, 0.84];

/// The stage of the search.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// A floor is held.
    Held {
        /// The seconds stalled a second that are usual at this floor; `None` before the first sweep.
        stalls: Option<f64>,
        /// Measurements in a row that differ from the usual stalls.
        others: u32,
    },
    /// A sweep, the first or the finer one.
    Sweeping { finer: bool },
    /// The floor that was found is measured again.
    Proving(Proof),
}

/// Searches for a clean floor.
#[derive(Clone, Copy, Debug)]
pub struct FloorSearch {
    bounds: Bounds,
    meter: Meter,
    phase: Phase,
    sweep: Sweep,
    /// The least cost in the sweep.
    best: f64,
    /// Needed pages a second that came back before the sweep.
    usual: f64,
    swept_s: f64,
    apart_s: f64,
}

impl FloorSearch {
    #[must_use]
    pub fn new(bounds: Bounds) -> FloorSearch {
        FloorSearch {
            bounds,
            meter: Meter::default(),
            phase: Phase::Held {
                stalls: None,
                others: 0,
            },
            sweep: Sweep::default(),
            best: 0.0,
            usual: 1.0,
            swept_s: f64::NEG_INFINITY,
            apart_s: APART_S,
        }
    }

    /// Whether the kernel counts stalls.
    #[must_use]
    pub fn can_measure(&self) -> bool {
        self.meter.can_measure()
    }

    /// Takes a snapshot of the machine at the floor that was returned last. Returns the next floor,
    /// percent of memory, where the floor changes.
    pub fn observe(&mut self, seen: &Snapshot) -> Option<f64> {
        let found = self.meter.measure(seen)?;
        let cost = found.stalls * found.pages / self.usual;
        match self.phase {
            Phase::Held { stalls, others } => self.hold(seen.now_s, found, stalls, others),
            Phase::Sweeping { finer } => match self.sweep.record(cost) {
                Some(next) => Some(next),
                None => self.swept(finer),
            },
            Phase::Proving(proof) => self.prove(proof, cost, found.stalls),
        }
    }

    fn hold(
        &mut self,
        now_s: f64,
        found: Measurement,
        usual: Option<f64>,
        others: u32,
    ) -> Option<f64> {
        let stalls = found.stalls;
        let changed = match usual {
            None => stalls > WORTH_S,
            Some(usual) => stalls > usual * CHANGED + WORTH_S || usual > stalls * CHANGED + WORTH_S,
        };
        let others = if changed { others + 1 } else { 0 };
        let due = usual.is_none() || (others >= IN_A_ROW && now_s - self.swept_s >= self.apart_s);
        if changed && due {
            self.apart_s = match usual {
                None => APART_S,
                Some(_) => (self.apart_s * 2.0).min(APART_MOST_S),
            };
            self.swept_s = now_s;
            self.usual = found.pages;
            let bounds = self.bounds;
            let halves = (0..STEPS as i32).map(|at| bounds.most * 0.5f64.powi(at));
            let halves = halves.filter(|percent| *percent >= bounds.least);
            return self.begin(Sweep::new(halves), false);
        }
        self.phase = Phase::Held {
            stalls: usual,
            others,
        };
        None
    }

    fn begin(&mut self, sweep: Sweep, finer: bool) -> Option<f64> {
        self.sweep = sweep;
        self.phase = Phase::Sweeping { finer };
        self.sweep.first()
    }

    /// Goes on from the end of a sweep: to the finer sweep, or to the proof.
    fn swept(&mut self, finer: bool) -> Option<f64> {
        let best = self.sweep.best();
        let reference = if finer { best.min(self.best) } else { best };
        let found = self.sweep.lowest_as_good(reference);
        let lower = FINER.map(|share| found * share);
        self.best = reference;
        if !finer && lower[0] >= self.bounds.least {
            let floors = [found, lower[1], lower[0]];
            return self.begin(Sweep::new(floors.into_iter()), true);
        }
        self.phase = Phase::Proving(Proof::new(found));
        Some(found)
    }

    fn prove(&mut self, proof: Proof, cost: f64, stalls: f64) -> Option<f64> {
        match proof.record(cost, stalls, self.best, self.bounds.most) {
            Verdict::Again(proof) => {
                self.phase = Phase::Proving(proof);
                None
            }
            Verdict::Up(next) => {
                self.phase = Phase::Proving(next);
                Some(next.percent())
            }
            Verdict::Hold { percent, stalls } => {
                self.phase = Phase::Held {
                    stalls: Some(stalls),
                    others: 0,
                };
                (percent != proof.percent()).then_some(percent)
            }
        }
    }
}
