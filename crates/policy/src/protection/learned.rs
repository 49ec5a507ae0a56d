//! The soft floor under clean file pages that follows what is read again.
//!
//! ```text
//! floor = file pages that were read again after eviction - anonymous pages that came back from swap
//! ```
//!
//! Both counts fade. A machine whose files come back keeps them by this floor. Where anonymous pages come back
//! instead, steering has taken the wrong kind, and the floor goes down by as many. So it stands where both cost
//! the same. A machine that reads nothing again has no floor.
use crate::protection::snapshot::Snapshot;

/// What was learned counts half after so many seconds: an idle session still needs its files, as in
/// [`crate::working_set`].
const HALF_LIFE_S: f64 = 600.0;
/// The floor is at most this share of memory. A scan that is longer than memory reads everything again, and its
/// pages are worth nothing.
const MOST: f64 = 0.25;

/// The floor, and the counters that it follows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned {
    pages: f64,
    /// Time, and refaults of file and of anonymous pages, at the last snapshot.
    last: Option<(f64, u64, u64)>,
}

impl Learned {
    /// Takes a snapshot of a machine that manages `total` pages.
    pub fn observe(&mut self, seen: &Snapshot, total: u64) {
        let (file, anon) = (seen.file_refaults, seen.anon_refaults);
        let (then_s, file_then, anon_then) = self
            .last
            .replace((seen.now_s, file, anon))
            .unwrap_or((seen.now_s, file, anon));
        let faded = self.pages * (-(seen.now_s - then_s).max(0.0) / HALF_LIFE_S).exp2();
        let came_back =
            file.saturating_sub(file_then) as f64 - anon.saturating_sub(anon_then) as f64;
        self.pages = (faded + came_back).clamp(0.0, total as f64 * MOST);
    }

    /// Pages of the whole machine.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages as u64
    }

    /// Begins with a floor that was learned before.
    pub fn set(&mut self, pages: u64) {
        self.pages = pages as f64;
    }
}
