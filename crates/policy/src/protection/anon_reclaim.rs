//! Reclaim of anonymous memory in place of kswapd, which takes file pages as well.
//!
//! vm.swappiness = 200 does not keep kswapd at anonymous pages. MGLRU falls through to files once anonymous
//! pages are down to the two youngest generations (`isolate_folios` in mm/vmscan.c). The classic LRU trims a
//! file list that is large and inactive (`cache_trim_mode`).
//!
//! So while clean pages are near their floor, this reclaim frees anonymous pages before kswapd wakes: free
//! pages stay above low for the demand until the next snapshot.
use crate::protection::exhaustion::swap_is_full;
use crate::protection::floors::{clean_line, Pages};
use crate::protection::snapshot::{NodeSnapshot, Snapshot};

/// At most a node's managed pages divided by this are reclaimed at once, and kept free for the demand.
const AT_ONCE: u64 = 64;
/// Fewer pages are not asked for, since reclaim works in batches of 32.
const LEAST: u64 = 32;
/// The rate at which free pages were taken counts half after so many seconds.
const HALF_LIFE_S: f64 = 0.5;

/// Measures how fast free pages are taken, and sizes the reclaim.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnonReclaim {
    /// Pages a second that allocations take, at their fastest of late.
    demand: f64,
    /// Time, and pages reclaimed since boot less those free, at the last snapshot.
    last: Option<(f64, u64)>,
}

impl AnonReclaim {
    /// Takes every snapshot, also those at which nothing is to be reclaimed.
    pub fn observe(&mut self, seen: &Snapshot) {
        let free: u64 = seen.nodes.iter().map(|node| node.free).sum();
        // Free pages are what was freed less what was taken.
        let freed = seen.stolen;
        let Some((then_s, before)) = self.last.replace((seen.now_s, freed.wrapping_sub(free)))
        else {
            return;
        };
        let elapsed_s = (seen.now_s - then_s).max(1e-4);
        let taken = freed.wrapping_sub(free).wrapping_sub(before) as i64;
        let faded = self.demand * (-elapsed_s / HALF_LIFE_S).exp2();
        self.demand = faded.max(taken as f64 / elapsed_s);
    }

    /// Node and bytes to reclaim now; `floors` gives a node's floors, and snapshots are `interval_s` apart.
    ///
    /// Never takes anonymous pages below their floor, nor more than half of the room that swap has.
    #[must_use]
    pub fn wanted(
        &self,
        seen: &Snapshot,
        interval_s: f64,
        page_size: u64,
        floors: impl Fn(&NodeSnapshot) -> Pages,
    ) -> Option<(u32, u64)> {
        if swap_is_full(seen, page_size) {
            return None;
        }
        // The node that is nearest to its watermark.
        let above_high = |node: &&NodeSnapshot| node.free as i64 - node.watermarks.high as i64;
        let node = seen.nodes.iter().min_by_key(above_high)?;
        let floors = floors(node);
        let (low, gap) = (node.watermarks.low, node.watermarks.gap());
        // Pages that are taken until the next snapshot.
        let demand = ((self.demand * interval_s) as u64).min(node.managed / AT_ONCE);
        if node.clean() >= 2 * clean_line(floors) || node.free >= low + demand.max(gap / 2) {
            return None;
        }
        let pages = (low + (2 * demand).max(gap) - node.free)
            .min(node.managed / AT_ONCE)
            .min(node.anon.saturating_sub(floors.anon_min))
            .min(seen.swap_free / 2);
        (pages >= LEAST).then_some((node.id, pages * page_size))
    }
}
