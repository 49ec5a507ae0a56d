//! A floor that is found out: up while pages of its type that were needed are evicted, down while
//! those of the other are or nothing would be lost, within bounds.
//!
//! What is made small is the sum of both types' refaults. A file page that is read again within the
//! refault distance of memory (`workingset_activate_file`) says that the floor is too low; a stream's
//! pages never are. A floor that binds and loses nothing is lowered slowly: it may be larger than
//! what is needed.
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
const NOISE: f64 = 0.0005;

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
        let before = self.percent;
        self.percent = (before * factor).clamp(self.bounds.least, self.bounds.most);
        self.percent != before
    }
}
