//! One node's free pages: its demand, when it will be at the low watermark, and how deep it went.
use crate::{NodeObservation, OrderForecast};
use forecast::{time_to, Slope, TheilSen, Window};

/// Points in the window of demand.
const POINTS: usize = 16;
/// The normal deviate of a 90% interval: see [`TheilSen::new`].
const Z: f64 = 1.645;
/// An excursion that stalls for more seconds is overload: no headroom would have covered it.
const USEFUL_STALL_S: f64 = 5.0;

/// A node's share of the machine's changes since the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shared {
    /// Pages stolen on this node by anyone.
    pub stolen: f64,
    /// Pages stolen by direct reclaim.
    pub direct: f64,
    /// Seconds in which some task stalled on memory.
    pub stall_s: f64,
}

/// A stay below the low watermark. Pages.
#[derive(Clone, Copy, Debug)]
struct Excursion {
    /// Low and min at its beginning: a raise meanwhile does not deepen it.
    low: f64,
    min: f64,
    depth: f64,
    stall_s: f64,
    direct: f64,
}

/// The state of one node.
pub(crate) struct Node {
    pub id: u32,
    /// Gross demand, accumulated: `stolen - free`.
    demand: Window,
    theil_sen: TheilSen,
    stolen: f64,
    /// The kernel's own counter of this node at the last sample.
    counter: Option<u64>,
    excursion: Option<Excursion>,
    pub slope: Option<Slope>,
    pub expected_s: Option<f64>,
    pub earliest_s: Option<f64>,
    pub predicted: bool,
    pub order: OrderForecast,
    /// The node has stalled for so long that headroom no longer matters.
    pub overloaded: bool,
    /// Gross demand of the last interval, pages a second.
    pub rate: f64,
}

impl Node {
    pub fn new() -> Self {
        Node {
            id: u32::MAX,
            demand: Window::new(POINTS),
            theil_sen: TheilSen::new(POINTS, Z),
            stolen: 0.0,
            counter: None,
            excursion: None,
            slope: None,
            expected_s: None,
            earliest_s: None,
            predicted: false,
            order: OrderForecast::default(),
            overloaded: false,
            rate: 0.0,
        }
    }

    /// Pages stolen since the last sample, where the kernel counts them by node. A counter that goes
    /// back is taken for a reset one.
    pub fn stolen_since(&mut self, counter: Option<u64>) -> Option<f64> {
        let before = std::mem::replace(&mut self.counter, counter);
        Some(counter?.saturating_sub(before?) as f64)
    }

    /// Takes a sample. Returns the depth of the excursion below low so far, pages; 0 outside of one.
    pub fn observe(
        &mut self,
        now_s: f64,
        node: &NodeObservation,
        shared: &Shared,
        horizon_s: f64,
    ) -> f64 {
        let free = node.free as f64;
        self.stolen += shared.stolen;
        if !self.demand.push(now_s, self.stolen - free) {
            return 0.0;
        }
        self.regime();
        self.rate = self.demand.rate(0).unwrap_or(0.0);
        self.slope = self.theil_sen.slope(self.demand.points());
        self.forecast(free - node.watermarks.low as f64, horizon_s);
        // With more free pages than this, some other node or order was short, or min was boosted: no gap
        // would have spared the stall.
        let short = free - shared.stolen <= node.watermarks.min as f64;
        let stall_s = shared.stall_s * f64::from(u8::from(short));
        self.excursion(node, &Shared { stall_s, ..*shared })
    }

    /// Forgets the points before a change of demand. Demand has changed in two cases: the last two rates
    /// both lie far beyond the interval of the slope, or the last three agree with each other and not with
    /// the slope.
    fn regime(&mut self) {
        let (Some(old), Some(newest), Some(before)) =
            (self.slope, self.demand.rate(0), self.demand.rate(1))
        else {
            return;
        };
        let spread = (old.upper - old.lower).max(0.1 * old.slope.abs()).max(1.0);
        let beyond = |rate: f64| rate > old.upper + spread;
        let below = |rate: f64| rate < old.lower - spread;
        if (beyond(newest) && beyond(before)) || (below(newest) && below(before)) {
            self.demand.keep_last(3);
            return;
        }
        let Some(third) = self.demand.rate(2) else {
            return;
        };
        let highest = newest.max(before).max(third);
        let lowest = newest.min(before).min(third);
        let away = (lowest - old.slope).max(old.slope - highest);
        if away > 4.0 * (highest - lowest) && away > 0.1 * old.slope.abs() {
            self.demand.keep_last(4);
        }
    }

    fn forecast(&mut self, above_low: f64, horizon_s: f64) {
        let Some(slope) = self.slope else {
            (self.expected_s, self.earliest_s, self.predicted) = (None, None, false);
            return;
        };
        let crossing = time_to(above_low, &slope);
        self.expected_s = crossing.expected_s;
        self.earliest_s = crossing.earliest_s;
        self.predicted = crossing.certain && crossing.expected_s.is_some_and(|s| s <= horizon_s);
    }

    fn excursion(&mut self, node: &NodeObservation, shared: &Shared) -> f64 {
        let free = node.free as f64;
        let below =
            free < node.watermarks.low as f64 || shared.stall_s > 0.0 && shared.direct > 0.0;
        let Some(excursion) = self.excursion.as_mut() else {
            if below {
                self.excursion = Some(Excursion {
                    low: node.watermarks.low as f64,
                    min: node.watermarks.min as f64,
                    depth: 0.0,
                    stall_s: 0.0,
                    direct: 0.0,
                });
                return self.excursion(node, shared);
            }
            return 0.0;
        };
        excursion.depth = excursion.depth.max(excursion.low - free);
        let stall_s = shared
            .stall_s
            .min(USEFUL_STALL_S - excursion.stall_s)
            .max(0.0);
        if shared.direct > 0.0 && stall_s > 0.0 {
            excursion.stall_s += stall_s;
            // A stall of some milliseconds may free many more pages than anyone waits for.
            let waited_for = self.rate.max(0.0) * stall_s;
            excursion.direct += waited_for.min(shared.direct * (stall_s / shared.stall_s));
        }
        self.overloaded = excursion.stall_s >= USEFUL_STALL_S;
        let mut depth = excursion.depth;
        if excursion.stall_s > 0.0 {
            // At min the stall hides demand. The headroom is short by the pages of direct reclaim, and
            // by those that the burst would have taken without the wait. Only the former are known; the
            // next stall adds more.
            depth = (excursion.low - excursion.min).max(depth) + excursion.direct;
        }
        if !below {
            self.excursion = None;
            self.overloaded = false;
        }
        depth
    }
}
