//! Protection as a whole: a look in, what to do and when to look again out. Pure; nothing is
//! allocated.
use crate::ahead::Ahead;
use crate::auto_floor::{AutoFloor, Bounds, Type};
use crate::exhaustion::{swap_is_full, Cause, Exhaustion, Soon, LOOKS};
use crate::floors::{clean_line, percent, Auto, Floors, Pages, Steer, Steering};
use crate::sight::{NodeSight, Sight};

/// What the administrator chose of protection.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `workingset_protection`: on or off.
    pub enabled: bool,
    pub floors: Floors,
    /// Of a floor that is `auto`.
    pub auto: Bounds,
    /// Seconds between two looks while memory is near the floor or the watermarks.
    pub tick_s: f64,
    /// Bytes a second that memory is taken at, at most, as far as is known beforehand: it says how
    /// soon to look again while there is room. What is seen to be faster counts instead.
    pub fastest: u64,
    /// May anonymous memory be reclaimed ahead of kswapd?
    pub anon_reclaim: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            enabled: false,
            floors: Floors::default(),
            auto: Bounds::default(),
            tick_s: 0.005,
            fastest: 1 << 30,
            anon_reclaim: true,
        }
    }
}

/// What a look led to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    pub steer: Steer,
    /// Both hard floors bind: whatever is locked must go.
    pub both: bool,
    /// Somebody has to die.
    pub exhausted: Option<Cause>,
    /// It may come to that: the candidates should be known.
    pub brewing: bool,
    /// Only a kill can help, and it may be due any moment: looks may cost what they cost.
    pub pressing: bool,
    /// Reclaim so many bytes of anonymous memory on this node now.
    pub reclaim_anon: Option<(u32, u64)>,
    /// Seconds until the next look.
    pub next_s: f64,
    /// The floors of the whole machine, pages, and clean and anonymous pages as they are.
    pub floors: Pages,
    pub clean: u64,
    pub anon: u64,
    /// Pages until steering or a kill may be called for.
    pub distance: u64,
    /// An `auto` floor has changed.
    pub resized: bool,
}

/// Slowest look while there is nothing to be near to.
const FAR_S: f64 = 60.0;
/// Slowest look while it is near and nothing moves, and by how much looks become rarer.
const STILL_S: f64 = 0.25;
/// The same where steering is not in force yet, or the floor is broken.
const WATCHFUL_S: f64 = 0.05;
const SLOWER: f64 = 1.5;
/// Swap that is used up within so long is as good as full.
const SOON_S: f64 = 0.25;
/// Below so many bytes a second nothing moves.
const STILL_RATE: f64 = 4e6;
/// How fast a rate that was seen is forgotten.
const RATE_HALF_LIFE_S: f64 = 5.0;
/// What goes on at this moment is an average over so long.
const RECENT_S: f64 = 0.05;

/// What protection has learned.
#[derive(Clone, Debug)]
pub struct Protect {
    config: Config,
    page_size: u64,
    steering: Steering,
    exhaustion: Exhaustion,
    ahead: Ahead,
    auto_anon: AutoFloor,
    auto_clean: AutoFloor,
    /// Bytes a second at which room was seen to shrink.
    rate: f64,
    /// Bytes a second at this moment by which all that there is falls, swap included: what a stream
    /// reads does not count.
    recent: f64,
    pace_s: f64,
    /// Seconds that a kill takes, from the decision on.
    kill_s: f64,
    before: Option<(f64, u64, u64, u64)>,
}

impl Protect {
    #[must_use]
    pub fn new(config: Config, page_size: u64) -> Protect {
        Protect {
            auto_anon: AutoFloor::new(Type::Anon, config.auto),
            auto_clean: AutoFloor::new(Type::Clean, config.auto),
            pace_s: config.tick_s,
            kill_s: 0.0,
            config,
            page_size: page_size.max(1),
            steering: Steering::default(),
            exhaustion: Exhaustion::default(),
            ahead: Ahead::default(),
            rate: 0.0,
            recent: 0.0,
            before: None,
        }
    }

    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What an `auto` floor is now.
    #[must_use]
    pub fn auto(&self) -> Auto {
        Auto {
            anon: self.auto_anon.percent(),
            clean: self.auto_clean.percent(),
        }
    }

    /// The floors in whole percent, as the kernel series' sysctls take them: anon_min_ratio,
    /// clean_min_ratio, clean_low_ratio.
    #[must_use]
    pub fn ratios(&self, total: u64) -> [u32; 3] {
        let (floors, auto) = (&self.config.floors, self.auto());
        [
            (floors.anon_min, auto.anon),
            (floors.clean_min, auto.clean),
            (floors.clean_low, auto.clean),
        ]
        .map(|(size, auto)| percent(size, total, self.page_size, auto).round() as u32)
    }

    /// Something was killed, which took so many seconds: what comes is judged anew.
    pub fn killed(&mut self, took_s: f64) {
        self.exhaustion.killed();
        self.kill_s = (self.kill_s + took_s.clamp(0.0, 1.0)) / 2.0;
    }

    /// What is used up during a kill, at the rate at which memory is taken: never more than the floor,
    /// nor than a quarter of swap.
    fn soon(&self, clean_min: u64, swap_total: u64) -> Soon {
        let seconds = self.kill_s + f64::from(LOOKS + 1) * self.ahead.interval_s();
        let pages = (self.recent * seconds / self.page_size as f64) as u64;
        Soon {
            evictable: pages.min(clean_min),
            swap: pages.min(swap_total / 4),
        }
    }

    /// Pages above the hard floor at which it counts as broken, for a kill takes its time and memory
    /// is taken meanwhile: never more than what reclaim is steered by.
    fn lead(&self, clean_min: u64) -> u64 {
        let bytes = self.recent * (self.kill_s + 2.0 * self.config.tick_s);
        let most = clean_line(Pages {
            clean_min,
            ..Pages::default()
        });
        ((bytes / self.page_size as f64) as u64).min(most - clean_min)
    }

    /// Takes a look.
    pub fn look(&mut self, seen: &Sight) -> Outcome {
        let whole = seen.whole();
        let (config, page_size, auto) = (&self.config, self.page_size, self.auto());
        let of = |node: &NodeSight| {
            let floors = &config.floors;
            floors.pages(node.managed, whole.managed, page_size, auto)
        };
        let floors = of(&whole);
        let steered = self.steering.look(seen, of);
        let lead = self.lead(floors.clean_min);
        let sooner = Pages {
            clean_min: floors.clean_min + lead,
            ..floors
        };
        let soon = self.soon(floors.clean_min, seen.swap_total);
        let exhausted = self.exhaustion.look(seen, sooner, soon, page_size);
        self.ahead.look(seen);
        let reclaim_anon = match steered.to {
            Steer::Anon if config.anon_reclaim && !steered.both => {
                self.ahead.wanted(seen, page_size, of)
            }
            _ => None,
        };
        let mut resized = false;
        if config.floors.any_auto() {
            resized |= self.auto_anon.look(seen, steered.to == Steer::File);
            resized |= self.auto_clean.look(seen, steered.to == Steer::Anon);
        }
        let next_s = self.next_s(seen, &whole, steered.distance);
        Outcome {
            steer: steered.to,
            both: steered.both,
            exhausted,
            brewing: self.exhaustion.brewing() || next_s < 2.0 * STILL_S,
            pressing: self.exhaustion.brewing() || self.is_pressing(seen, &whole, floors),
            reclaim_anon,
            next_s,
            floors,
            clean: whole.clean() + seen.locked,
            anon: whole.anon,
            distance: steered.distance,
            resized,
        }
    }

    /// Swap is full or will be at once, free pages are short, and the floor or what is left to reclaim
    /// is near.
    fn is_pressing(&self, seen: &Sight, whole: &NodeSight, floors: Pages) -> bool {
        let clean = whole.clean();
        let gap = whole.high.saturating_sub(whole.low);
        floors.clean_min > 0
            && whole.free < whole.high + gap
            && (clean + seen.locked <= clean_line(floors) || clean <= floors.clean_min)
            && (swap_is_full(seen, self.page_size)
                || seen.swap_free as f64 <= self.ahead.demand() * SOON_S)
    }

    /// Half of the time that the distance can be bridged in; near, the tick, and rarer as long as
    /// nothing moves.
    fn next_s(&mut self, seen: &Sight, whole: &NodeSight, distance: u64) -> f64 {
        let tick_s = self.config.tick_s;
        let room = whole.free + whole.clean() + seen.locked;
        let now = (seen.now_s, room, seen.stolen, room + seen.swap_free);
        let before = self.before.replace(now);
        let mut moved = true;
        if let Some((then_s, then, stolen, all)) = before {
            let elapsed_s = (seen.now_s - then_s).max(1e-4);
            let bytes = |pages: u64| (pages * self.page_size) as f64 / elapsed_s;
            let fall = bytes(then.saturating_sub(room));
            let faded = self.rate * (-elapsed_s / RATE_HALF_LIFE_S).exp2();
            self.rate = faded.max(fall);
            // Net of what comes back, over a few looks.
            let net = (all as f64 - now.3 as f64) * self.page_size as f64 / elapsed_s;
            let weight = (-elapsed_s / RECENT_S).exp();
            self.recent = (self.recent * weight + net * (1.0 - weight)).max(0.0);
            moved = fall.max(bytes(seen.stolen.saturating_sub(stolen))) > STILL_RATE;
        }
        let rate = self.rate.max(self.config.fastest as f64);
        let half_s = (distance * self.page_size) as f64 / rate / 2.0;
        if half_s > STILL_S {
            self.pace_s = tick_s;
            return half_s.min(FAR_S);
        }
        let brewing = self.exhaustion.brewing();
        self.pace_s = match moved {
            // What is about to be decided is decided sooner.
            true if brewing => tick_s / 2.0,
            true => tick_s,
            false if distance > 0 || brewing => (self.pace_s * SLOWER).min(WATCHFUL_S.max(half_s)),
            false => (self.pace_s * SLOWER).min(STILL_S),
        };
        half_s.max(self.pace_s)
    }
}
