//! How fast memory shrinks.
use crate::protection::snapshot::Snapshot;

/// The memory that can still be given out, and the rate at which it shrinks, as exponential averages.
///
/// Dirty pages count, and so do locked ones: neither a writer nor a stream uses up anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shrinkage {
    /// Time and pages at the last snapshot.
    last: Option<(f64, u64)>,
    /// Pages a second, over each of [`OVER_S`].
    rates: [f64; OVER_S.len()],
}

/// The present: a few snapshots.
pub const PRESENT: usize = 0;
/// A hog that takes all that is left at once.
pub const BURST: usize = 1;
/// A growth that goes on.
pub const TREND: usize = 2;
/// Seconds.
const OVER_S: [f64; 3] = [0.05, 1.0, 5.0];

impl Shrinkage {
    /// Takes a snapshot.
    pub fn observe(&mut self, seen: &Snapshot) {
        let (free, file) = seen
            .nodes
            .iter()
            .fold((0, 0), |sum, node| (sum.0 + node.free, sum.1 + node.file));
        let room = free + file + seen.locked + seen.swap_free;
        let Some((then_s, before)) = self.last.replace((seen.now_s, room)) else {
            return;
        };
        let elapsed_s = (seen.now_s - then_s).max(1e-4);
        let now = (before as f64 - room as f64) / elapsed_s;
        for (rate, over_s) in self.rates.iter_mut().zip(OVER_S) {
            let weight = (-elapsed_s / over_s).exp();
            *rate = (*rate * weight + now * (1.0 - weight)).max(0.0);
        }
    }

    /// Pages a second, over [`PRESENT`], [`BURST`] or [`TREND`].
    #[must_use]
    pub fn rate(&self, over: usize) -> f64 {
        self.rates[over]
    }

    /// Seconds until `left` pages are gone.
    #[must_use]
    pub fn ends_s(&self, over: usize, left: u64) -> f64 {
        match self.rates[over] > 0.0 {
            true => left as f64 / self.rates[over],
            false => f64::INFINITY,
        }
    }
}
