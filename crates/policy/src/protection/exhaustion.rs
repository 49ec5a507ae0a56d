//! Exhaustion: whether memory has run out, so that only a kill helps.
//!
//! Swap, free pages, floors, reclaim and PSI are judged together, because each alone misleads:
//!
//! * An old swap file fills up in the normal course of work.
//! * zram's swap has room left while its pool finds no page.
//! * Free pages stay near the watermarks on every machine with a page cache.
//! * PSI may be off, and it is up to 2 s old.
//! * A floor may be broken for good on a healthy machine, whose programs simply are that large. A stream then
//!   goes through what is left, and does no harm. So a shortage alone is no exhaustion: see [`Harm`].
use crate::protection::floors::Pages;
use crate::protection::snapshot::{NodeSnapshot, Snapshot};

/// Why memory is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Swap is used up, or there is none.
    SwapFull,
    /// Swap has room and takes no pages.
    SwapStuck,
}

/// A shortage counts once it has lasted so many seconds. A longer wait would cost the floor: at a gigabyte
/// a second, 5 MB of the floor are gone in this time.
const PATIENCE_S: f64 = 0.005;
/// A shortage counts once so many snapshots in a row have shown it.
pub(crate) const LEAST_SNAPSHOTS: u32 = 3;
/// The patience where the shortage may pass by itself: writeback is under way, or swap is only slow.
const LONG_PATIENCE_S: f64 = 0.6;
/// The patience where PSI is on and no task waits.
const LONGEST_PATIENCE_S: f64 = 3.0;
/// The least patience where the floor is deeply broken and swap has room.
const LEAST_DEEP_S: f64 = 0.05;
/// Snapshots further apart than this do not show the time in between. A daemon that is not
/// real-time is kept from its CPU by exhaustion itself, so the gap is long.
const GAP_S: f64 = 2.0;
/// Swap that takes fewer pages than this in [`LONG_PATIENCE_S`] takes none. Shorter times ask for
/// proportionally fewer pages.
const TRICKLE: u64 = 64;
/// Swap counts as stuck only after so many direct reclaims: a machine that stands still, or gets no
/// CPU, swaps nothing either. The kernel itself tries as often before it kills
/// (`MAX_RECLAIM_RETRIES` in mm/internal.h).
const IN_VAIN: u64 = 16;

/// A shortage is harm where memory would end within so many seconds, at the rate at which it shrinks. A floor that
/// lasts longer leaves people the time to see it.
const SOON_S: f64 = 60.0;
/// That rate is an average over so many seconds. So a program that starts, and takes less than a twelfth of what is
/// left (`RATE_S / SOON_S`), is no exhaustion.
const RATE_S: f64 = 5.0;
/// A shortage is harm where all tasks waited for memory for this share of [`WAITED_S`].
const WAITED: f64 = 0.5;
/// Seconds: PSI is brought up to date every 2 s.
const WAITED_S: f64 = 5.0;

/// Whether a shortage does harm: memory ends soon, or no task gets on.
#[derive(Clone, Copy, Debug, Default)]
struct Harm {
    /// Time and pages that could still be given out, at the last snapshot.
    last: Option<(f64, u64)>,
    /// Pages a second by which they shrink.
    rate: f64,
    /// Time and PSI's counter, at most [`WAITED_S`] ago.
    waited: Option<(f64, u64)>,
}

impl Harm {
    fn observe(&mut self, seen: &Snapshot, whole: &NodeSnapshot) -> bool {
        // Dirty pages count, and so do locked ones: neither a writer nor a stream uses up anything.
        let room = whole.free + whole.file + seen.locked + seen.swap_free;
        if let Some((then_s, before)) = self.last.replace((seen.now_s, room)) {
            let elapsed_s = (seen.now_s - then_s).max(1e-4);
            let now = (before as f64 - room as f64) / elapsed_s;
            let weight = (-elapsed_s / RATE_S).exp();
            self.rate = (self.rate * weight + now * (1.0 - weight)).max(0.0);
        }
        let left = (whole.free + whole.clean() + seen.swap_free) as f64;
        (self.rate > 0.0 && left <= self.rate * SOON_S) || self.all_waited(seen)
    }

    fn all_waited(&mut self, seen: &Snapshot) -> bool {
        let Some(full) = seen.full_us else {
            return false;
        };
        let (then_s, before) = *self.waited.get_or_insert((seen.now_s, full));
        let lasted_s = seen.now_s - then_s;
        if lasted_s < WAITED_S {
            return false;
        }
        let waited_s = full.saturating_sub(before) as f64 / 1e6;
        if lasted_s >= 1.5 * WAITED_S {
            self.waited = None;
        }
        waited_s >= WAITED * lasted_s
    }
}

/// The counters when the shortage began.
#[derive(Clone, Copy, Debug)]
struct Shortage {
    at_s: f64,
    /// Snapshots that have shown the shortage.
    snapshots: u32,
    allocstall: u64,
    swapped_out: u64,
    stall_us: Option<u64>,
}

impl Shortage {
    fn begun(seen: &Snapshot) -> Shortage {
        Shortage {
            at_s: seen.now_s,
            snapshots: 0,
            allocstall: seen.allocstall,
            swapped_out: seen.swapped_out,
            stall_us: seen.stall_us,
        }
    }

    /// Whether allocations have reclaimed so often that reclaim counts as vain.
    fn in_vain(&self, seen: &Snapshot) -> bool {
        seen.allocstall.saturating_sub(self.allocstall) >= IN_VAIN
    }
}

/// Pages that are used up from the choice of a process until its death frees memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsedDuringKill {
    /// Clean pages that reclaim must be able to take, beyond those that lift free pages to min. Locked
    /// pages do not count. Without so many the kernel kills first.
    pub evictable: u64,
    /// Pages of swap. Swap with no more than this left counts as full.
    pub swap: u64,
}

/// Watches for exhaustion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exhaustion {
    shortage: Option<Shortage>,
    harm: Harm,
    last_s: f64,
    /// The first value of PSI's counter.
    psi_first: Option<u64>,
    /// PSI's counter has moved. A counter that never moves carries no information.
    psi_moves: bool,
}

/// Whether swap is used up. The last hundredth or MiB, whichever is more, is never given out.
#[must_use]
pub fn swap_is_full(seen: &Snapshot, page_size: u64) -> bool {
    let spare = (seen.swap_total / 100).max((1 << 20) / page_size.max(1));
    seen.swap_total == 0 || seen.swap_free <= spare
}

impl Exhaustion {
    /// Decides whether memory is exhausted, and why; `floors` are those of the whole machine.
    pub fn decide(
        &mut self,
        seen: &Snapshot,
        floors: Pages,
        used: UsedDuringKill,
        page_size: u64,
    ) -> Option<Cause> {
        if let Some(stall) = seen.stall_us {
            let first = *self.psi_first.get_or_insert(stall);
            self.psi_moves |= stall > first;
        }
        let whole = seen.whole();
        let harm = self.harm.observe(seen, &whole);
        // kswapd stops at high: a snapshot that finds free pages there finds a shortage.
        let short = whole.free < whole.watermarks.high + whole.watermarks.gap();
        let broken = is_broken(&whole, floors, used);
        if !short || !broken || seen.now_s - self.last_s > GAP_S {
            self.shortage = None;
        }
        self.last_s = seen.now_s;
        if !short || !broken {
            return None;
        }
        let shortage = self.shortage.get_or_insert(Shortage::begun(seen));
        shortage.snapshots += 1;
        let shortage = *shortage;
        if !harm || shortage.snapshots < LEAST_SNAPSHOTS {
            return None;
        }
        let full = swap_is_full(seen, page_size) || seen.swap_free <= used.swap;
        let lasted_s = seen.now_s - shortage.at_s;
        if lasted_s < self.patience_s(seen, &whole, floors, &shortage, full) {
            return None;
        }
        if full {
            return Some(Cause::SwapFull);
        }
        let swapped = seen.swapped_out.saturating_sub(shortage.swapped_out);
        let trickle = TRICKLE as f64 * (lasted_s / LONG_PATIENCE_S).clamp(0.125, 1.0);
        if swapped as f64 >= trickle {
            // Swap takes pages: the shortage begins anew.
            self.shortage = None;
            return None;
        }
        let stuck = shortage.in_vain(seen) && whole.free < whole.watermarks.low;
        stuck.then_some(Cause::SwapStuck)
    }

    /// Seconds that the shortage must last before it is exhaustion.
    fn patience_s(
        &self,
        seen: &Snapshot,
        whole: &NodeSnapshot,
        floors: Pages,
        shortage: &Shortage,
        full: bool,
    ) -> f64 {
        // Dirty pages will be clean soon, and then the floor may stand.
        let quarter = floors.clean_min / 4;
        let will_stand = whole.unclean > quarter && whole.file > floors.clean_min + quarter;
        let mut patience_s = match full && !will_stand {
            true => PATIENCE_S,
            false => LONG_PATIENCE_S,
        };
        let waited = match (shortage.stall_us, seen.stall_us) {
            (Some(then), Some(now)) if self.psi_moves => now > then,
            _ => true,
        };
        if patience_s > PATIENCE_S && !waited {
            patience_s = LONGEST_PATIENCE_S;
        }
        // Half of the floor is gone, and reclaim was called in vain. The kernel kills as soon as the
        // rest is gone too, whatever room swap has. PSI is too old to be used.
        let left = whole.clean() as f64 / floors.clean_min.max(1) as f64;
        if left < 0.5 && shortage.in_vain(seen) && !will_stand {
            patience_s = patience_s.min((LONG_PATIENCE_S * left).max(LEAST_DEEP_S));
        }
        patience_s
    }

    /// Forgets the shortage, because a process was killed.
    pub fn killed(&mut self) {
        self.shortage = None;
    }

    /// Whether a shortage is being watched.
    #[must_use]
    pub fn brewing(&self) -> bool {
        self.shortage.is_some()
    }
}

/// Whether the clean floor is broken, or reclaim will have nothing left during a kill.
///
/// The kernel kills once all that it could evict would not lift free pages above min
/// (`should_reclaim_retry` in mm/page_alloc.c). A boost after a fallback
/// (vm.watermark_boost_factor) makes min several times as high.
fn is_broken(whole: &NodeSnapshot, floors: Pages, used: UsedDuringKill) -> bool {
    let clean = whole.clean();
    let spare = clean.min((whole.free + clean).saturating_sub(whole.watermarks.min));
    floors.clean_min > 0 && (clean <= floors.clean_min || spare <= used.evictable)
}
