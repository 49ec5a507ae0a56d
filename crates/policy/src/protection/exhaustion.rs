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
/// The same where reclaim will have nothing left during a kill.
const LAST_PATIENCE_S: f64 = 0.05;
/// The victim of the kernel's own kill has so many seconds to give its memory back.
const KERNEL_KILL_S: f64 = 0.25;
/// One such kill is waited for in so many seconds: anybody may have his own cgroup's processes killed without end.
const ONE_IN_S: f64 = 1.0;
/// Snapshots further apart than this do not show the time in between. A daemon that is not
/// real-time is kept from its CPU by exhaustion itself, so the gap is long.
const GAP_S: f64 = 2.0;
/// Swap that takes fewer pages a second takes none. The slowest disks write as many.
const TRICKLE_PER_S: f64 = 100.0;
/// Tasks stall where so many allocations a second reclaim for themselves. The kernel itself tries as often before it
/// kills (`MAX_RECLAIM_RETRIES` in mm/internal.h). A machine that stands still, or gets no CPU, does not stall.
const IN_VAIN: u64 = 16;
/// Tasks stall, too, where by PSI's `some` they waited for so many seconds of [`STALLED_IN_S`]: for kswapd, or for files
/// that were read again.
const STALLED_S: f64 = 0.4;
/// Seconds: twice the time in which PSI is brought up to date.
const STALLED_IN_S: f64 = 4.0;

/// A hard floor's shortage is harm where memory would end within so many seconds, at the rate over 5 s. A floor that
/// lasts longer leaves people the time to see it. A program that starts, and takes less than a twelfth of what is
/// left (5 s / 60 s), is no exhaustion.
const SOON_S: f64 = 60.0;
/// A soft floor's shortage is harm only where memory would end within so many seconds, at the rate over as many. So a
/// program that takes less than half of what is left is never killed for it.
const AT_ONCE_S: f64 = 1.0;
/// Without a hard floor, quick snapshots may cost what they like only where memory would end within so many seconds.
const SHORTLY_S: f64 = 5.0;
/// A shortage is harm where all tasks waited for memory for this share of [`WAITED_S`].
const WAITED: f64 = 0.5;
/// Seconds: PSI is brought up to date every 2 s.
const WAITED_S: f64 = 5.0;

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

/// A counter's growth over a stretch of time.
#[derive(Clone, Copy, Debug, Default)]
struct Growth(Option<(f64, u64)>);

impl Growth {
    /// Seconds since the stretch began, and the growth in them. A stretch of `long_s` is followed by another.
    fn observe(&mut self, now_s: f64, counter: u64, long_s: f64) -> (f64, u64) {
        let (then_s, then) = *self.0.get_or_insert((now_s, counter));
        let lasted_s = now_s - then_s;
        if lasted_s >= long_s {
            self.0 = None;
        }
        (lasted_s, counter.saturating_sub(then))
    }
}

/// The harm that a shortage does.
#[derive(Clone, Copy, Debug, Default)]
struct Harm {
    stalls: Growth,
    some: Growth,
    /// Memory ends soon.
    ends_soon: bool,
    /// Memory ends at once.
    ends_at_once: bool,
    /// Memory ends within [`SHORTLY_S`].
    ends_shortly: bool,
    /// Tasks stall on memory.
    stalled: bool,
}

impl Harm {
    fn observe(&mut self, seen: &Snapshot, shrinkage: &Shrinkage) {
        let left = seen.left();
        self.ends_soon = shrinkage.ends_s(TREND, left) <= SOON_S;
        self.ends_at_once = shrinkage.ends_s(BURST, left) <= AT_ONCE_S;
        self.ends_shortly = shrinkage.ends_s(TREND, left) <= SHORTLY_S;
        let (_, stalls) = self.stalls.observe(seen.now_s, seen.allocstall, AT_ONCE_S);
        let some = seen.some_us.unwrap_or(0);
        let (_, some_us) = self.some.observe(seen.now_s, some, STALLED_IN_S);
        self.stalled = stalls >= IN_VAIN || some_us as f64 >= STALLED_S * 1e6;
    }
}

/// The figures when the shortage began.
#[derive(Clone, Copy, Debug)]
struct Shortage {
    at_s: f64,
    /// Snapshots that have shown the shortage.
    snapshots: u32,
    swapped_out: u64,
    waited: Growth,
}

impl Shortage {
    /// Whether no task gets on, by PSI since the shortage began: what was before it may be over.
    fn all_waited(&mut self, seen: &Snapshot) -> bool {
        seen.full_us.is_some_and(|full| {
            let (lasted_s, waited_us) = self.waited.observe(seen.now_s, full, 1.5 * WAITED_S);
            lasted_s >= WAITED_S && waited_us as f64 / 1e6 >= WAITED * lasted_s
        })
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
#[derive(Clone, Copy, Debug)]
pub struct Exhaustion {
    shortage: Option<Shortage>,
    harm: Harm,
    last_s: f64,
    /// Kills by the kernel since boot, and the time of one that is waited for.
    kernel_kills: Option<u64>,
    kernel_killed_s: f64,
}

impl Default for Exhaustion {
    fn default() -> Self {
        Exhaustion {
            shortage: None,
            harm: Harm::default(),
            last_s: 0.0,
            kernel_kills: None,
            kernel_killed_s: f64::NEG_INFINITY,
        }
    }
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
        shrinkage: &Shrinkage,
        floors: Pages,
        used: UsedDuringKill,
        page_size: u64,
    ) -> Option<Cause> {
        let whole = seen.whole();
        self.harm.observe(seen, shrinkage);
        let kernel_kills = self.kernel_kills_now(seen);
        let broken = Broken::of(&whole, floors, used);
        // kswapd stops at high: a snapshot that finds free pages there finds a shortage. Where reclaim will have
        // nothing left during a kill, free pages count among what is left already.
        let at_high = whole.free < whole.watermarks.high + whole.watermarks.gap();
        let short = broken.last || at_high && broken.any();
        if !short || seen.now_s - self.last_s > GAP_S || kernel_kills {
            self.shortage = None;
        }
        self.last_s = seen.now_s;
        if !short {
            return None;
        }
        let shortage = self.shortage.get_or_insert(Shortage {
            at_s: seen.now_s,
            snapshots: 0,
            swapped_out: seen.swapped_out,
            waited: Growth::default(),
        });
        shortage.snapshots += 1;
        let all_waited = shortage.all_waited(seen);
        let shortage = *shortage;
        let harm = &self.harm;
        let harmful = all_waited
            || broken.hard && harm.ends_soon
            || broken.last
            || broken.soft && harm.ends_at_once && harm.stalled;
        if !harmful || shortage.snapshots < LEAST_SNAPSHOTS {
            return None;
        }
        let full = swap_is_full(seen, page_size) || seen.swap_free <= used.swap;
        // Dirty pages will be clean soon, and then the floor may stand.
        let floor = floors.clean_min.max(floors.clean_low);
        let will_stand = whole.unclean > floor / 4 && whole.file > floor + floor / 4;
        let patience_s = match full && !will_stand {
            true => PATIENCE_S,
            false if broken.last => LAST_PATIENCE_S,
            false => LONG_PATIENCE_S,
        };
        let lasted_s = seen.now_s - shortage.at_s;
        if lasted_s < patience_s {
            return None;
        }
        if full {
            return Some(Cause::SwapFull);
        }
        let swapped = seen.swapped_out.saturating_sub(shortage.swapped_out);
        if swapped as f64 >= TRICKLE_PER_S * lasted_s {
            // Swap takes pages: the shortage begins anew.
            self.shortage = None;
            return None;
        }
        let stuck = harm.stalled && whole.free < whole.watermarks.low;
        stuck.then_some(Cause::SwapStuck)
    }

    /// Whether the memory of a process that the kernel has killed is still on its way.
    fn kernel_kills_now(&mut self, seen: &Snapshot) -> bool {
        let before = self.kernel_kills.replace(seen.oom_kills);
        let since_s = seen.now_s - self.kernel_killed_s;
        if before.is_some_and(|before| seen.oom_kills > before) && since_s >= ONE_IN_S {
            self.kernel_killed_s = seen.now_s;
            return true;
        }
        since_s < KERNEL_KILL_S
    }

    /// Forgets the shortage, because a process was killed.
    pub fn killed(&mut self) {
        self.shortage = None;
    }

    /// Whether memory ends soon at the rate at which it shrinks.
    #[must_use]
    pub fn ends_soon(&self) -> bool {
        self.harm.ends_soon
    }

    /// Whether a kill may be due any moment, and only a kill can help. `hard`: there is a hard floor.
    #[must_use]
    pub fn is_pressing(&self, hard: bool) -> bool {
        let ends = self.harm.ends_shortly || hard && self.harm.ends_soon;
        self.harm.ends_at_once || self.brewing() && ends
    }

    /// Whether a shortage is being watched.
    #[must_use]
    pub fn brewing(&self) -> bool {
        self.shortage.is_some()
    }
}

/// What of the clean pages is gone.
struct Broken {
    /// The hard floor is broken, or is about to be.
    hard: bool,
    /// The soft floor is broken.
    soft: bool,
    /// Reclaim will have nothing left during a kill.
    ///
    /// The kernel kills once all that it could evict would not lift free pages above min
    /// (`should_reclaim_retry` in mm/page_alloc.c). A boost after a fallback
    /// (vm.watermark_boost_factor) makes min several times as high.
    last: bool,
}

impl Broken {
    fn of(whole: &NodeSnapshot, floors: Pages, used: UsedDuringKill) -> Broken {
        let clean = whole.clean();
        let last = whole.free + clean <= whole.watermarks.min + used.evictable;
        Broken {
            hard: floors.clean_min > 0 && (clean <= floors.clean_min || last),
            soft: floors.clean_low > 0 && clean <= floors.clean_low,
            last,
        }
    }

    fn any(&self) -> bool {
        self.hard || self.soft || self.last
    }
}
