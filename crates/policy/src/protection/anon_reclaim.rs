//! Reclaim of anonymous memory ahead of kswapd, which takes file pages as well.
//!
//! On MGLRU vm.swappiness = 200 holds only while anonymous pages have an old generation. Once they are
//! down to the two youngest generations, eviction falls through to files (`isolate_folios` in
//! mm/vmscan.c). No aging is due as long as files have old generations (`should_run_aging`).
//!
//! Reclaim that asks for anonymous pages alone makes that aging due. A few pages of such reclaim now and
//! then, the **pump**, keep kswapd at anonymous pages.
//!
//! The classic LRU trims a file list that is large and inactive, whatever vm.swappiness says
//! (`cache_trim_mode`). There kswapd is **forestalled**: this reclaim frees pages before kswapd wakes.
//!
//! Forestalling costs memory. Pages that are kept free serve nobody, and while kswapd sleeps the
//! kernel's per-CPU lists of free pages grow (`nr_pcp_high` in mm/page_alloc.c). So kswapd works as long
//! as clean pages hold. Each time that they fall, it is forestalled for twice as long.
use crate::protection::exhaustion::swap_is_full;
use crate::protection::floors::{clean_line, Pages};
use crate::protection::snapshot::{NodeSnapshot, Snapshot};

/// One request reclaims at most a node's managed pages divided by this.
const AT_ONCE: u64 = 64;
/// Fewer pages are not asked for, since reclaim works in batches of 32. A fall of fewer is none.
const LEAST: u64 = 32;
/// Pages of a stroke of the pump: a batch of MGLRU's eviction.
const STROKE: u64 = 64;
/// While memory is short, snapshots are taken to be at most so many seconds apart.
const FAR_APART_S: f64 = 0.05;
/// The rate at which free pages were taken counts half after so many seconds.
const HALF_LIFE_S: f64 = 0.5;
/// kswapd is forestalled for so many seconds at first.
const DISTRUST_S: f64 = 0.25;
/// kswapd is forestalled for so many seconds at most.
const DISTRUST_MOST_S: f64 = 60.0;
/// Clean pages that hold for so many seconds under kswapd end the distrust.
const TRUST_S: f64 = 10.0;
/// An episode ends after so many seconds without a request.
const EPISODE_S: f64 = 1.0;

/// The figures of one snapshot. Pages.
#[derive(Clone, Copy, Debug)]
struct Before {
    at_s: f64,
    free: u64,
    stolen: u64,
    clean: u64,
}

/// Measures how fast free pages are taken and whether clean pages fall, and sizes the reclaim.
#[derive(Clone, Copy, Debug)]
pub struct AnonReclaim {
    /// Pages a second.
    demand: f64,
    interval_s: f64,
    /// kswapd is forestalled until this time, seconds.
    until_s: f64,
    /// Seconds for which kswapd is forestalled the next time.
    distrust_s: f64,
    /// When reclaim was asked for last.
    asked_s: f64,
    before: Option<Before>,
}

impl Default for AnonReclaim {
    fn default() -> Self {
        AnonReclaim {
            demand: 0.0,
            interval_s: 0.0,
            until_s: f64::NEG_INFINITY,
            distrust_s: DISTRUST_S,
            asked_s: f64::NEG_INFINITY,
            before: None,
        }
    }
}

impl AnonReclaim {
    /// Takes every snapshot, also those at which nothing is to be reclaimed.
    pub fn observe(&mut self, seen: &Snapshot) {
        let now = Before {
            at_s: seen.now_s,
            free: seen.nodes.iter().map(|node| node.free).sum(),
            stolen: seen.stolen,
            clean: seen.nodes.iter().map(NodeSnapshot::clean).sum::<u64>() + seen.locked,
        };
        let Some(then) = self.before.replace(now) else {
            return;
        };
        let elapsed_s = (now.at_s - then.at_s).max(1e-4);
        let freed = now.stolen.saturating_sub(then.stolen);
        let taken = (then.free + freed).saturating_sub(now.free) as f64 / elapsed_s;
        self.demand = (self.demand * (-elapsed_s / HALF_LIFE_S).exp2()).max(taken);
        self.interval_s = elapsed_s.min(FAR_APART_S);
        let asked = now.at_s - self.asked_s < EPISODE_S;
        if asked && now.at_s >= self.until_s {
            if now.clean + LEAST <= then.clean {
                self.until_s = now.at_s + self.distrust_s;
                self.distrust_s = (self.distrust_s * 2.0).min(DISTRUST_MOST_S);
            } else if now.at_s - self.until_s >= TRUST_S {
                self.distrust_s = DISTRUST_S;
            }
        }
    }

    /// Seconds between the last two snapshots, at most [`FAR_APART_S`].
    #[must_use]
    pub fn interval_s(&self) -> f64 {
        self.interval_s
    }

    /// Node and bytes to reclaim now; `floors` gives a node's floors.
    ///
    /// Never takes anonymous pages below their floor, nor more than half of the room that swap has.
    #[must_use]
    pub fn wanted(
        &mut self,
        seen: &Snapshot,
        page_size: u64,
        floors: impl Fn(&NodeSnapshot) -> Pages,
    ) -> Option<(u32, u64)> {
        if seen.now_s - self.asked_s >= EPISODE_S {
            self.until_s = seen.now_s + self.distrust_s;
        }
        self.asked_s = seen.now_s;
        if swap_is_full(seen, page_size) {
            return None;
        }
        // The node that is nearest to its watermark.
        let above_high = |node: &&NodeSnapshot| node.free as i64 - node.watermarks.high as i64;
        let node = seen.nodes.iter().min_by_key(above_high)?;
        let floors = floors(node);
        if node.clean() >= 2 * clean_line(floors) {
            return None;
        }
        let pages = self
            .stroke(seen.now_s, node)
            .min(node.managed / AT_ONCE)
            .min(node.anon.saturating_sub(floors.anon_min))
            .min(seen.swap_free / 2);
        (pages >= LEAST).then_some((node.id, pages * page_size))
    }

    /// Pages to reclaim by the free pages of `node` alone.
    fn stroke(&self, now_s: f64, node: &NodeSnapshot) -> u64 {
        let low = node.watermarks.low;
        if now_s >= self.until_s {
            // kswapd works, or is about to.
            return if node.free < low { STROKE } else { 0 };
        }
        let gap = node.watermarks.gap();
        let most = gap.max(node.managed / 64);
        // Pages that are taken until the next snapshot, at which free pages must still be above low.
        let lead = ((self.demand * self.interval_s) as u64).min(most);
        if node.free >= low + lead.max(gap / 2) {
            return 0;
        }
        (low + (2 * lead).max(gap)).saturating_sub(node.free)
    }
}
