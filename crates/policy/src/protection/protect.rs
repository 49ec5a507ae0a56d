//! Protection as a whole: a snapshot in, a decision and the time of the next snapshot out. Pure:
//! nothing is allocated.
use crate::protection::anon_reclaim::AnonReclaim;
use crate::protection::exhaustion::{
    swap_is_full, Cause, Exhaustion, Shrinkage, UsedDuringKill, LEAST_SNAPSHOTS, PRESENT,
};
use crate::protection::floors::{percent, Floors, Learned, Pages, Size, LINE};
use crate::protection::snapshot::{NodeSnapshot, Snapshot};
use crate::protection::steering::{Steer, Steering};

/// The administrator's choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `workingset_protection`: on or off.
    pub enabled: bool,
    pub floors: Floors,
    /// Seconds between two snapshots while memory is near the floor or the watermarks.
    pub tick_s: f64,
    /// The highest rate at which memory is expected to be taken, bytes a second. It bounds the time to
    /// the next snapshot while there is room.
    pub fastest: u64,
    /// Whether anonymous memory may be reclaimed ahead of kswapd.
    pub anon_reclaim: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enabled: true,
            floors: Floors::default(),
            tick_s: 0.005,
            fastest: 1 << 30,
            anon_reclaim: true,
        }
    }
}

/// The decision on one snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    pub steer: Steer,
    /// Both hard floors bind: locked pages must be given up.
    pub both: bool,
    /// Memory is exhausted: a process must be killed.
    pub exhausted: Option<Cause>,
    /// Seconds until memory ends at the present rate.
    pub ends_s: f64,
    /// A kill may become due: the candidates should be known.
    pub brewing: bool,
    /// A kill may be due any moment, and only a kill can help. The cost of snapshots does not count.
    pub pressing: bool,
    /// So little is left that a boost of the watermarks might have the kernel kill.
    pub boosts_kill: bool,
    /// Node, and bytes of anonymous memory to reclaim there now.
    pub reclaim_anon: Option<(u32, u64)>,
    /// Seconds until the next snapshot.
    pub next_s: f64,
    /// The floors of the whole machine.
    pub floors: Pages,
    /// Clean file pages; locked ones are none.
    pub clean: u64,
    /// Anonymous pages.
    pub anon: u64,
    /// Pages that are free, clean or in swap.
    pub left: u64,
    /// A tenth of swap is left, or less.
    pub little_swap: bool,
    /// Pages until steering or a kill may be due.
    pub distance: u64,
}

/// A boost raises min by up to 1.5 times high (`boost_watermark` in mm/page_alloc.c). Twice that leaves the time to
/// switch boosts off.
const BOOST: u64 = 3;
/// The name of the soft floor among the numbers that were learned.
const SOFT_FLOOR: &str = "protect.soft_floor_pages";
/// Snapshots are at most so many seconds apart.
const FAR_S: f64 = 60.0;
/// Near a floor where nothing moves, snapshots are at most so many seconds apart.
const STILL_S: f64 = 0.25;
/// The same where steering is not in force yet, or a shortage is being watched.
const WATCHFUL_S: f64 = 0.05;
/// Where nothing moves, each interval is so many times as long as the one before.
const SLOWER: f64 = 1.5;
/// At fewer bytes a second memory stands still.
const STILL_RATE: f64 = 4e6;

/// The figures of the last snapshot. Pages.
#[derive(Clone, Copy, Debug)]
struct Before {
    at_s: f64,
    /// Free pages, clean pages and locked ones.
    room: u64,
    stolen: u64,
}

/// The state of protection.
#[derive(Clone, Debug)]
pub struct Protect {
    config: Config,
    page_size: u64,
    /// The working set, which reclaim is steered away from.
    learned: Learned,
    /// All that is read again, which the kill looks at: files that come back are worth a kill, though steering harms.
    again: Learned,
    steering: Steering,
    exhaustion: Exhaustion,
    anon_reclaim: AnonReclaim,
    shrinkage: Shrinkage,
    pace_s: f64,
    /// Seconds between the last two snapshots, at most [`WATCHFUL_S`].
    interval_s: f64,
    /// Seconds that a kill takes from the decision on.
    kill_s: f64,
    before: Option<Before>,
}

impl Protect {
    #[must_use]
    pub fn new(config: Config, page_size: u64) -> Protect {
        Protect {
            pace_s: config.tick_s,
            kill_s: 0.0,
            config,
            page_size: page_size.max(1),
            learned: Learned::default(),
            again: Learned::default(),
            steering: Steering::default(),
            exhaustion: Exhaustion::default(),
            anon_reclaim: AnonReclaim::default(),
            shrinkage: Shrinkage::default(),
            interval_s: 0.0,
            before: None,
        }
    }

    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The floors in whole percent, as the kernel series' sysctls take them: vm.anon_min_ratio,
    /// vm.clean_min_ratio, vm.clean_low_ratio.
    #[must_use]
    pub fn ratios(&self, total: u64) -> [u32; 3] {
        let floors = &self.config.floors;
        let learned = Size::Bytes(self.learned.pages() * self.page_size);
        let clean_low = floors.clean_low.unwrap_or(learned);
        [floors.anon_min, floors.clean_min, clean_low]
            .map(|size| percent(size, total, self.page_size).round() as u32)
    }

    /// Adds what was learned to `learned`.
    pub fn learned(&self, learned: &mut crate::Learned) {
        learned.set(SOFT_FLOOR, self.learned.pages() as f64);
    }

    /// Begins with what an earlier daemon learned, `age_s` seconds ago.
    pub fn recall(&mut self, learned: &crate::Learned, age_s: f64) {
        let pages = learned.get(SOFT_FLOOR).unwrap_or(0.0);
        self.learned.set(pages, age_s);
    }

    /// Begins to watch for exhaustion anew, because a process was killed. The kill took `took_s`.
    pub fn killed(&mut self, took_s: f64) {
        self.exhaustion.killed();
        self.kill_s = (self.kill_s + took_s.clamp(0.0, 1.0)) / 2.0;
    }

    /// Pages that are used up during a kill at the present rate: at most an eighth of memory, and a quarter of
    /// swap.
    fn used_during_kill(&self, managed: u64, swap_total: u64) -> UsedDuringKill {
        let seconds = self.kill_s + f64::from(LEAST_SNAPSHOTS + 1) * self.interval_s;
        let pages = (self.shrinkage.rate(PRESENT) * seconds) as u64;
        UsedDuringKill {
            evictable: pages.min(managed / 8),
            swap: pages.min(swap_total / 4),
        }
    }

    /// Decides on one snapshot.
    pub fn decide(&mut self, seen: &Snapshot) -> Outcome {
        let whole = seen.whole();
        for (learned, file) in [
            (&mut self.learned, seen.file_restores),
            (&mut self.again, seen.file_refaults),
        ] {
            learned.observe(seen.now_s, (file, seen.anon_refaults), whole.managed);
        }
        self.shrinkage.observe(seen);
        if let Some(then) = self.before {
            self.interval_s = (seen.now_s - then.at_s).clamp(0.0, WATCHFUL_S);
        }
        self.anon_reclaim.observe(seen);
        let learned = self.learned.pages();
        let (config, page_size) = (&self.config, self.page_size);
        let floors_of = |node: &NodeSnapshot| {
            let floors = &config.floors;
            floors.pages(node.managed, whole.managed, learned, page_size)
        };
        let floors = floors_of(&whole);
        let steered = self.steering.decide(seen, floors_of);
        let used = self.used_during_kill(whole.managed, seen.swap_total);
        // A hard floor counts as broken once it will be by the end of a kill, at the soonest at its highest line.
        let lead = (floors.clean_min as f64 * (LINE - 1.0)) as u64;
        let sooner = Pages {
            clean_min: floors.clean_min + used.evictable.min(lead),
            clean_low: match config.floors.clean_low {
                Some(_) => floors.clean_low,
                None => floors.clean_low.max(self.again.pages()),
            },
            ..floors
        };
        let exhausted = self
            .exhaustion
            .decide(seen, &self.shrinkage, sooner, used, page_size);
        let reclaim_anon = match steered.to {
            Steer::Anon if config.anon_reclaim && !steered.both => {
                self.anon_reclaim
                    .wanted(seen, self.interval_s, page_size, floors_of)
            }
            _ => None,
        };
        let left = seen.left();
        let next_s = self.next_s(seen, &whole, steered.distance);
        Outcome {
            steer: steered.to,
            both: steered.both,
            exhausted,
            ends_s: self.shrinkage.ends_s(PRESENT, left),
            brewing: self.exhaustion.brewing() || next_s < 2.0 * STILL_S,
            pressing: self.exhaustion.is_pressing(self.config.floors.any_hard()),
            boosts_kill: whole.free + whole.clean()
                <= whole.watermarks.min + BOOST * whole.watermarks.high,
            reclaim_anon,
            next_s,
            floors,
            clean: whole.clean(),
            anon: whole.anon,
            left,
            little_swap: seen.swap_free <= seen.swap_total / 10,
            distance: steered.distance,
        }
    }

    /// Seconds until the next snapshot: half of the time in which the distance can be used up. Near a
    /// floor it is the tick, and longer while nothing moves.
    fn next_s(&mut self, seen: &Snapshot, whole: &NodeSnapshot, distance: u64) -> f64 {
        let tick_s = self.config.tick_s;
        let room = whole.free + whole.clean() + seen.locked;
        let now = Before {
            at_s: seen.now_s,
            room,
            stolen: seen.stolen,
        };
        let mut moved = true;
        if let Some(then) = self.before.replace(now) {
            let elapsed_s = (seen.now_s - then.at_s).max(1e-4);
            let pages = then
                .room
                .saturating_sub(room)
                .max(seen.stolen.saturating_sub(then.stolen));
            // Quick snapshots serve steering, which needs swap, and a kill.
            moved = (pages * self.page_size) as f64 > STILL_RATE * elapsed_s
                && (self.exhaustion.ends_soon() || !swap_is_full(seen, self.page_size));
        }
        let half_s = (distance * self.page_size) as f64 / self.config.fastest as f64 / 2.0;
        if half_s > STILL_S {
            self.pace_s = tick_s;
            return half_s.min(FAR_S);
        }
        let brewing = self.exhaustion.brewing();
        self.pace_s = match moved {
            // A decision that is about to fall is made sooner.
            true if brewing => tick_s / 2.0,
            true => tick_s,
            false if distance > 0 || brewing => (self.pace_s * SLOWER).min(WATCHFUL_S.max(half_s)),
            false => (self.pace_s * SLOWER).min(STILL_S),
        };
        half_s.max(self.pace_s)
    }
}
