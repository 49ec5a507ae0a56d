//! Is memory exhausted, so that only a kill helps? Swap, free pages, floors, reclaim and PSI are
//! judged together, for each alone misleads: swap that is full is the normal end of an old swap
//! file; zram's swap looks free while its pool finds no page; free pages hover at the watermarks on
//! every machine with a page cache; PSI may be off, and is 2 s old.
use crate::floors::Pages;
use crate::sight::Sight;

/// Why it is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Swap is used up, or there is none.
    SwapFull,
    /// Swap has room, and takes nothing.
    SwapStuck,
}

/// In force for so long and at so many looks before it counts. Longer would cost the floor: at a
/// gigabyte a second this is 5 MB of it.
const PATIENCE_S: f64 = 0.005;
pub(crate) const LOOKS: u32 = 3;
/// So long where it may pass by itself: writeback is under way, or swap is only slow.
const LONG_PATIENCE_S: f64 = 0.6;
/// And so long when PSI is on and says that nobody waits.
const LONGEST_PATIENCE_S: f64 = 3.0;
/// No less than this, however deep the floor is broken.
const LEAST_DEEP_S: f64 = 0.05;
/// Two looks further apart than this are no evidence of what was between. Not less: where the daemon
/// is not real-time, exhaustion is what keeps it from looking.
const GAP_S: f64 = 2.0;
/// Swap that took fewer pages in [`LONG_PATIENCE_S`] takes none; in less time as many fewer.
const TRICKLE: u64 = 64;

/// And only if reclaim was called for in vain so often meanwhile: a machine that merely stands still, or
/// gets no CPU, swaps nothing either. As often as the kernel itself tries before it kills
/// (`MAX_RECLAIM_RETRIES` in mm/internal.h).
const IN_VAIN: u64 = 16;

/// The counters when the shortage began.
#[derive(Clone, Copy, Debug)]
struct Begun {
    at_s: f64,
    looks: u32,
    stolen: u64,
    allocstall: u64,
    swapped_out: u64,
    stall_us: Option<u64>,
}

/// Pages that are used up until somebody who is chosen now has been killed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Soon {
    /// Clean pages that must be left to reclaim beyond what lifts free pages to min, whatever is locked
    /// besides: without them the kernel kills.
    pub evictable: u64,
    /// Of swap: what has no more left than this is as good as full.
    pub swap: u64,
}

/// Watches for exhaustion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exhaustion {
    begun: Option<Begun>,
    last_s: f64,
    /// PSI has been seen to move: where it never does, it says nothing.
    psi_first: Option<u64>,
    psi_lives: bool,
}

/// Swap that is used up: the last hundredth, or MiB, is never given out.
#[must_use]
pub fn swap_is_full(seen: &Sight, page_size: u64) -> bool {
    let spare = (seen.swap_total / 100).max((1 << 20) / page_size.max(1));
    seen.swap_total == 0 || seen.swap_free <= spare
}

impl Exhaustion {
    /// Takes a look; `floors` are those of the whole machine. Returns why memory is exhausted, if it
    /// is.
    pub fn look(
        &mut self,
        seen: &Sight,
        floors: Pages,
        soon: Soon,
        page_size: u64,
    ) -> Option<Cause> {
        if let Some(stall) = seen.stall_us {
            let first = *self.psi_first.get_or_insert(stall);
            self.psi_lives |= stall > first;
        }
        let whole = seen.whole();
        // kswapd stops at high: a look that finds free pages just there finds a shortage.
        let short = whole.free < whole.high + whole.high.saturating_sub(whole.low);
        let clean = whole.clean();
        // The kernel kills once all that it could evict would not lift free pages over min, which a boost
        // (vm.watermark_boost_factor) makes several times as high (should_reclaim_retry, mm/page_alloc.c).
        let spare = clean.min((whole.free + clean).saturating_sub(whole.min));
        let broken = floors.clean_min > 0
            && (clean + seen.locked <= floors.clean_min || spare <= soon.evictable);
        if !short || !broken || seen.now_s - self.last_s > GAP_S {
            self.begun = None;
        }
        self.last_s = seen.now_s;
        if !short || !broken {
            return None;
        }
        let begun = self.begun.get_or_insert(Begun {
            at_s: seen.now_s,
            looks: 0,
            stolen: seen.stolen,
            allocstall: seen.allocstall,
            swapped_out: seen.swapped_out,
            stall_us: seen.stall_us,
        });
        begun.looks += 1;
        let lasted_s = seen.now_s - begun.at_s;
        // A machine that stands still at its floor is nobody's harm: somebody must be taking memory.
        let taken = seen.stolen > begun.stolen
            || seen.allocstall > begun.allocstall
            || whole.free < whole.min;
        if !taken || begun.looks < LOOKS {
            return None;
        }
        let full = swap_is_full(seen, page_size) || seen.swap_free <= soon.swap;
        // Dirty pages will be clean soon, and then the floor may stand.
        let quarter = floors.clean_min / 4;
        let will_stand =
            whole.unclean > quarter && whole.file + seen.locked > floors.clean_min + quarter;
        let mut patience_s = match full && !will_stand {
            true => PATIENCE_S,
            false => LONG_PATIENCE_S,
        };
        let waited = match (begun.stall_us, seen.stall_us) {
            (Some(then), Some(now)) if self.psi_lives => now > then,
            _ => true,
        };
        let in_vain = seen.allocstall.saturating_sub(begun.allocstall) >= IN_VAIN;
        if patience_s > PATIENCE_S && !waited {
            patience_s = LONGEST_PATIENCE_S;
        }
        // Half of the floor is gone, and reclaim was called for in vain: the kernel kills as soon as the rest
        // is gone too, whatever room swap has. PSI is too old to be asked.
        let left = (clean + seen.locked) as f64 / floors.clean_min.max(1) as f64;
        if left < 0.5 && in_vain && !will_stand {
            patience_s = patience_s.min((LONG_PATIENCE_S * left).max(LEAST_DEEP_S));
        }
        if lasted_s < patience_s {
            return None;
        }
        if full {
            return Some(Cause::SwapFull);
        }
        let swapped = seen.swapped_out.saturating_sub(begun.swapped_out);
        let trickle = TRICKLE as f64 * (lasted_s / LONG_PATIENCE_S).clamp(0.125, 1.0);
        let takes = swapped as f64 >= trickle;
        if !takes && in_vain && whole.free < whole.low {
            return Some(Cause::SwapStuck);
        }
        if takes {
            // Swap takes pages: from here on anew.
            self.begun = None;
        }
        None
    }

    /// Something was killed: what comes is judged anew.
    pub fn killed(&mut self) {
        self.begun = None;
    }

    /// Is a shortage being watched?
    #[must_use]
    pub fn brewing(&self) -> bool {
        self.begun.is_some()
    }
}
