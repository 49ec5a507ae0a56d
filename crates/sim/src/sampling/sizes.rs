//! The caches that are simulated on a sample for one size of the whole trace.
use super::not_available::{NotAvailable, LEAST_IN_CACHE};
use super::student::t_975;

/// Sizes of caches, in objects of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// The size of the whole trace's cache times the rate of sampling.
    pub exact: f64,
    /// How far the simulated sizes are from each other, before rounding, on the smaller side and on the
    /// larger one.
    pub spread: [f64; 2],
    /// Smaller, in the middle (`exact`, rounded), and larger.
    pub simulated: [u64; 3],
}

impl Sizes {
    /// The caches for `size` objects of the whole trace, of which the share `rate` is sampled.
    ///
    /// # Errors
    /// Fewer than [`LEAST_IN_CACHE`] objects of the sample fit.
    pub fn of(size: u64, rate: f64) -> Result<Sizes, NotAvailable> {
        let exact = size as f64 * rate;
        if exact < LEAST_IN_CACHE as f64 {
            return Err(NotAvailable::Cache);
        }
        // At most all objects of a full cache of the whole trace come into the sample independently. Their
        // number is binomial: 95% of the time it is within this spread.
        let spread = t_975(f64::INFINITY) * (exact * (1.0 - rate)).sqrt();
        Ok(Sizes::within(exact, [spread; 2]))
    }

    /// Sizes within these distances of the exact size.
    pub(super) fn within(exact: f64, spread: [f64; 2]) -> Sizes {
        let middle = exact.round() as u64;
        let spread = spread.map(|spread| spread.clamp(1.0, middle as f64));
        let [below, above] = spread.map(|spread| spread.ceil() as u64);
        Sizes {
            exact,
            spread,
            simulated: [middle - below, middle, middle + above],
        }
    }
}
