//! Anonymous memory reclaimed in place of kswapd, which takes file pages as well.
//!
//! On MGLRU vm.swappiness = 200 holds only as long as anonymous pages have an old generation: when
//! they are down to the two youngest, eviction falls through to files, for as long as those have old
//! generations no aging is due (`should_run_aging` and `isolate_folios` in mm/vmscan.c). Reclaim
//! that is asked for anonymous pages alone makes that aging due: a few pages of it now and then
//! (**pump**) keep kswapd at anonymous pages. The classic LRU trims a file list that is large and
//! inactive whatever the knob says (`cache_trim_mode`): there kswapd is **forestalled** altogether.
//!
//! That costs memory: what is kept free serves nobody, and while kswapd sleeps the kernel's per-CPU
//! lists of free pages grow (`nr_pcp_high` in mm/page_alloc.c). So kswapd is let at it as long as
//! clean pages hold, and each time that they fall then, it is distrusted for twice as long.
use crate::exhaustion::swap_is_full;
use crate::floors::{clean_line, Pages};
use crate::sight::{NodeSight, Sight};

/// At most this share of a node at once.
const AT_ONCE: u64 = 64;
/// Fewer pages are not worth the asking: reclaim goes by 32. A fall of fewer is none.
const LEAST: u64 = 32;
/// A stroke of the pump, pages: a batch of MGLRU's eviction.
const STROKE: u64 = 64;
/// Two looks are taken to be so far apart at most, as long as it is near.
const FAR_APART_S: f64 = 0.05;
/// How fast it is forgotten how fast free pages were taken.
const HALF_LIFE_S: f64 = 0.5;
/// kswapd is forestalled for so long at first, and at most; it has behaved if clean pages hold for so
/// long without.
const DISTRUST_S: f64 = 0.25;
const DISTRUST_MOST_S: f64 = 60.0;
const TRUST_S: f64 = 10.0;
/// Not asked for so long, it begins anew.
const EPISODE_S: f64 = 1.0;

/// Free, stolen and clean pages at a look.
#[derive(Clone, Copy, Debug)]
struct Before {
    at_s: f64,
    free: u64,
    stolen: u64,
    clean: u64,
}

/// Knows how fast free pages are taken, how far apart looks are, and whether clean pages fall.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Pages a second.
    demand: f64,
    interval_s: f64,
    /// kswapd is forestalled until then, and next time for so long.
    until_s: f64,
    distrust_s: f64,
    asked_s: f64,
    before: Option<Before>,
}

impl Default for Ahead {
    fn default() -> Self {
        Ahead {
            demand: 0.0,
            interval_s: 0.0,
            until_s: f64::NEG_INFINITY,
            distrust_s: DISTRUST_S,
            asked_s: f64::NEG_INFINITY,
            before: None,
        }
    }
}

impl Ahead {
    /// Takes a look: every one, also while nothing is to be reclaimed.
    pub fn look(&mut self, seen: &Sight) {
        let now = Before {
            at_s: seen.now_s,
            free: seen.nodes.iter().map(|node| node.free).sum(),
            stolen: seen.stolen,
            clean: seen.nodes.iter().map(NodeSight::clean).sum::<u64>() + seen.locked,
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

    /// Pages a second by which free pages are taken, at their fastest of late.
    #[must_use]
    pub fn demand(&self) -> f64 {
        self.demand
    }

    /// Seconds between the last two looks, where it is near.
    #[must_use]
    pub fn interval_s(&self) -> f64 {
        self.interval_s
    }

    /// Node and bytes to reclaim now: never anonymous pages below their floor, never more than half
    /// of what swap has room for.
    #[must_use]
    pub fn wanted(
        &mut self,
        seen: &Sight,
        page_size: u64,
        of: impl Fn(&NodeSight) -> Pages,
    ) -> Option<(u32, u64)> {
        if seen.now_s - self.asked_s >= EPISODE_S {
            self.until_s = seen.now_s + self.distrust_s;
        }
        self.asked_s = seen.now_s;
        if swap_is_full(seen, page_size) {
            return None;
        }
        let node = seen.nodes.iter().min_by_key(|node| {
            // The one that is nearest to its watermark.
            node.free as i64 - node.high as i64
        })?;
        let floors = of(node);
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

    /// Pages, for what `node` has free.
    fn stroke(&self, now_s: f64, node: &NodeSight) -> u64 {
        if now_s >= self.until_s {
            // kswapd is at it, or about to be.
            return if node.free < node.low { STROKE } else { 0 };
        }
        let gap = node.high - node.low.min(node.high);
        let most = gap.max(node.managed / 64);
        // What is taken until the next look: then free pages are to be above low still.
        let lead = ((self.demand * self.interval_s) as u64).min(most);
        if node.free >= node.low + lead.max(gap / 2) {
            return 0;
        }
        (node.low + (2 * lead).max(gap)).saturating_sub(node.free)
    }
}
