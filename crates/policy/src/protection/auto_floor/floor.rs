//! An `auto` floor, sized by stalls where the kernel counts them, by refaults elsewhere.
//!
//! Refaults alone mislead. A file page that is read again within a refault distance that memory holds
//! (`workingset_activate_file`) shows that the floor is too low. Beside a stream, a hot set comes back
//! later than that, and the kernel takes it for a part of the stream. Its readers stall all the same,
//! so a clean floor is set where tasks stall least: see [`FloorSearch`].
//!
//! By refaults, the sum over both types is made small. The floor goes up while needed pages of its own
//! type are evicted. It goes down while needed pages of the other type are evicted, or while no needed
//! page would be lost.
use super::bounds::{Bounds, NOISE};
use super::search::FloorSearch;
use crate::protection::snapshot::Snapshot;

/// The floor at the start, percent of memory.
const START: f64 = 10.0;
/// The floor is judged once in so many seconds, if something was reclaimed in them.
const PERIOD_S: f64 = 1.0;
/// The factor of a step up.
const UP: f64 = 1.15;
/// The factor of a step down.
const DOWN: f64 = 0.92;
/// The factor of a step down where no needed page is lost. It is too small for tasks to notice.
const PROBE: f64 = 0.98;

/// The type of pages that the floor protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Anon,
    Clean,
}

/// The counters at the start of a period.
#[derive(Clone, Copy, Debug)]
struct Counts {
    at_s: f64,
    /// Needed pages of the floor's own type that came back.
    own: u64,
    /// Needed pages of the other type that came back.
    other: u64,
    stolen: u64,
}

/// An `auto` floor.
#[derive(Clone, Copy, Debug)]
pub struct AutoFloor {
    under: Type,
    bounds: Bounds,
    percent: f64,
    begun: Option<Counts>,
    /// Reclaim was kept away from this type at a snapshot of this period.
    bound: bool,
    search: FloorSearch,
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
            search: FloorSearch::new(bounds),
        }
    }

    /// The floor, percent of memory.
    #[must_use]
    pub fn percent(&self) -> f64 {
        self.percent
    }

    /// Takes a snapshot; `binds`: reclaim is being kept away from this type. Returns whether the floor
    /// has changed.
    pub fn observe(&mut self, seen: &Snapshot, binds: bool) -> bool {
        if self.under == Type::Clean {
            let found = self.search.observe(seen);
            if self.search.can_measure() {
                return found.is_some_and(|percent| self.set(percent));
            }
        }
        let (own, other) = match self.under {
            Type::Anon => (seen.needed_anon, seen.needed_file),
            Type::Clean => (seen.needed_file, seen.needed_anon),
        };
        let now = Counts {
            at_s: seen.now_s,
            own,
            other,
            stolen: seen.stolen,
        };
        self.bound |= binds;
        let Some(then) = self.begun else {
            self.begun = Some(now);
            return false;
        };
        let seconds = now.at_s - then.at_s;
        if seconds < PERIOD_S {
            return false;
        }
        let bound = std::mem::take(&mut self.bound);
        self.begun = Some(now);
        if now.stolen <= then.stolen {
            return false;
        }
        let noise = seen.whole().managed as f64 * NOISE * seconds;
        let own = now.own.saturating_sub(then.own) as f64;
        let other = now.other.saturating_sub(then.other) as f64;
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
