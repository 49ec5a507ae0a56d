//! The differences between two observations.

/// Differences of the machine's counters since the last observation. Pages where no unit is given.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delta {
    /// Seconds between the two observations.
    pub elapsed_s: f64,
    /// Reclaimed by kswapd.
    pub kswapd: f64,
    /// Reclaimed by allocations.
    pub direct: f64,
    /// Reclaimed on request.
    pub proactive: f64,
    /// Read again after they had been reclaimed.
    pub refaults: f64,
    /// Allocations that had to reclaim.
    pub allocstall: f64,
    /// Seconds in which some task stalled on memory.
    pub stall_s: f64,
}

impl Delta {
    /// Pages reclaimed by anyone.
    pub fn stolen(&self) -> f64 {
        self.kswapd + self.direct + self.proactive
    }
}
