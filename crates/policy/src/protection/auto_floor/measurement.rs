//! The measurement of one floor: how long tasks stall, and how many needed pages come back.
use super::bounds::NOISE;
use crate::protection::snapshot::Snapshot;

/// A floor is measured for at least so many seconds. The kernel counts stalls up every 2 s.
const LEAST_S: f64 = 4.0;
/// A measurement ends after so many seconds in any case.
const MOST_S: f64 = 7.0;
/// So many seconds after a step are not counted, because pages come and go.
const SETTLE_S: f64 = 1.0;

/// The result of one measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Seconds stalled a second.
    pub stalls: f64,
    /// Needed pages of both types that came back, a second.
    pub pages: f64,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug)]
struct Counts {
    now_s: f64,
    stall_us: u64,
    stolen: u64,
    needed: u64,
}

/// Measures one floor after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// When the floor that is measured was set.
    step_s: Option<f64>,
    /// The counters once pages had settled.
    begun: Option<Counts>,
    /// The first value of PSI's counter. A counter that never moves carries no information.
    first_us: Option<u64>,
    last_us: u64,
    moves: bool,
}

impl Meter {
    /// Whether the kernel counts stalls.
    pub fn can_measure(&self) -> bool {
        self.moves
    }

    /// The measurement since the last one, once it is long enough and something was reclaimed.
    pub fn measure(&mut self, seen: &Snapshot) -> Option<Measurement> {
        let stall_us = seen.stall_us?;
        self.moves |= stall_us != *self.first_us.get_or_insert(stall_us);
        let counted = stall_us != std::mem::replace(&mut self.last_us, stall_us);
        let step_s = *self.step_s.get_or_insert(seen.now_s);
        let now = Counts {
            now_s: seen.now_s,
            stall_us,
            stolen: seen.stolen,
            needed: seen.needed_file + seen.needed_anon,
        };
        let Some(then) = self.begun else {
            let settled = seen.now_s - step_s >= SETTLE_S;
            // A measurement begins at a moment at which the kernel has brought the counter up to date.
            if settled && (counted || seen.now_s - step_s >= SETTLE_S * 3.0) {
                self.begun = Some(now);
            }
            return None;
        };
        let seconds = now.now_s - then.now_s;
        if seconds < LEAST_S || (!counted && seconds < MOST_S) {
            return None;
        }
        (self.begun, self.step_s) = (None, None);
        let stalled = stall_us.saturating_sub(then.stall_us) as f64 / 1e6;
        let needed = now.needed.saturating_sub(then.needed) as f64;
        // Added, so that a few pages more or less are not a multiple.
        let noise = seen.whole().managed as f64 * NOISE;
        (now.stolen > then.stolen).then_some(Measurement {
            stalls: stalled / seconds,
            pages: needed / seconds + noise.max(1.0),
        })
    }
}
