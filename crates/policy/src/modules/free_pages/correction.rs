//! The learned correction of the headroom, from stalls and refaults.
use crate::modules::delta::Delta;

/// Seconds of stall between two samples that make the headroom larger.
const STALL_S: f64 = 0.02;
/// So many refaults for each stolen page make the headroom smaller: the reclaimed pages were needed.
const REFAULTS: f64 = 0.25;
/// The correction is forgotten by half in so many seconds.
const HALF_LIFE_S: f64 = 600.0;
/// The least factor.
const LEAST: f64 = 0.5;

/// The factor of the headroom: 1 without a correction, less after refaults.
#[derive(Clone, Copy, Debug)]
pub struct Correction(f64);

impl Default for Correction {
    fn default() -> Self {
        Correction(1.0)
    }
}

impl Correction {
    pub fn factor(self) -> f64 {
        self.0
    }

    /// Takes the changes since the last observation. Stalls of an overloaded node do not count, since no
    /// headroom spares them.
    pub fn observe(&mut self, delta: &Delta, overloaded: bool) {
        if delta.stall_s > STALL_S && !overloaded {
            self.0 = (self.0 * 1.05).min(1.0);
        } else if delta.refaults > REFAULTS * delta.stolen().max(1.0) {
            self.0 = (self.0 * (1.0 - 0.02 * delta.elapsed_s.min(1.0))).max(LEAST);
        } else {
            let back = (-delta.elapsed_s / HALF_LIFE_S).exp2();
            self.0 = 1.0 + (self.0 - 1.0) * back;
        }
    }
}
