//! A floor that is found out, within bounds: clean pages' by how long tasks stall and what comes back;
//! where the kernel does not tell of stalls, and for anonymous pages, by refaults.
//!
//! Refaults alone mislead. A file page that is read again within the refault distance of memory
//! (`workingset_activate_file`) says that the floor is too low, but beside a stream a hot set comes
//! back later than that, and the kernel takes it for a part of the stream. Its readers stall all the
//! same, so it is tried out where that costs least: see [`crate::by_stalls`].
//!
//! By refaults, what is made small is the sum of both types': up while pages of its own type that were
//! needed are evicted, down while those of the other are, or nothing would be lost.
use crate::by_stalls::ByStalls;
use crate::sight::Sight;

/// Bounds and start of [`AutoFloor`], in percent of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub least: f64,
    pub most: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            least: 2.0,
            most: 40.0,
        }
    }
}

const START: f64 = 10.0;
/// Judged once in so many seconds in which something was reclaimed.
const PERIOD_S: f64 = 1.0;
const UP: f64 = 1.15;
const DOWN: f64 = 0.92;
/// One step down where nothing is lost: half as far as memory's users would notice.
const PROBE: f64 = 0.98;
/// Fewer refaults a second than this share of memory are noise.
pub(crate) const NOISE: f64 = 0.0005;

/// Whose floor it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Anon,
    Clean,
}

/// A floor, found out.
#[derive(Clone, Copy, Debug)]
pub struct AutoFloor {
    under: Type,
    bounds: Bounds,
    percent: f64,
    begun: Option<(f64, u64, u64, u64)>,
    /// Did the floor bind at a look of this period?
    bound: bool,
    by_stalls: ByStalls,
}

impl AutoFloor {
    #[must_use]
    pub fn new(under: Type, bounds: Bounds) -> AutoFloor {
        AutoFloor {
            under,
            bounds,
            percent: START.clamp(bounds.least, bounds.most),
            begun: None,
            bound: false,
            by_stalls: ByStalls::new(bounds),
        }
    }

    /// Percent of memory.
    #[must_use]
    pub fn percent(&self) -> f64 {
        self.percent
    }

    /// Takes a look; `binds`: reclaim is being kept away from this type. Returns whether the floor
    /// has changed.
    pub fn look(&mut self, seen: &Sight, binds: bool) -> bool {
        if self.under == Type::Clean {
            let found = self.by_stalls.look(seen);
            if self.by_stalls.can_tell() {
                return found.is_some_and(|percent| self.set(percent));
            }
        }
        let (own, other) = match self.under {
            Type::Anon => (seen.needed_anon, seen.needed_file),
            Type::Clean => (seen.needed_file, seen.needed_anon),
        };
        let now = (seen.now_s, own, other, seen.stolen);
        self.bound |= binds;
        let Some((at_s, own_then, other_then, stolen)) = self.begun else {
            self.begun = Some(now);
            return false;
        };
        let seconds = seen.now_s - at_s;
        if seconds < PERIOD_S {
            return false;
        }
        let bound = std::mem::take(&mut self.bound);
        self.begun = Some(now);
        if seen.stolen <= stolen {
            return false;
        }
        let noise = seen.whole().managed as f64 * NOISE * seconds;
        let own = own.saturating_sub(own_then) as f64;
        let other = other.saturating_sub(other_then) as f64;
        let factor = match (own > noise, other > noise) {
            (true, _) if own >= other => UP,
            (_, true) if bound => DOWN,
            (false, false) if bound => PROBE,
            _ => 1.0,
        };
        self.set(self.percent * factor)
    }

    fn set(&mut self, percent: f64) -> bool {
        let before = self.percent;
        self.percent = percent.clamp(self.bounds.least, self.bounds.most);
        self.percent != before
    }
}
