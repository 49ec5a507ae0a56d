//! Fragmentation: whether a node runs out of blocks of the huge order while it has free pages.
//!
//! The module follows the share of the free pages that stand in blocks of the huge order or above. The
//! number of free pages does not move that share; [`super::free_pages`] follows the number. The share falls also
//! where small blocks are freed, which costs no large one. So the pages in large blocks must become fewer as well.
//!
//! ```text
//! predicted = share > EXHAUSTED
//!     and the pages in large blocks become fewer
//!     and the slope's whole 99% interval falls
//!     and the fall within the window >= FALLEN of the free pages and >= FALLEN_BLOCKS huge blocks
//!     and (share - EXHAUSTED) / fall <= horizon
//! ```
use crate::modules::knob::Knob;
use crate::{Action, Config, Decision, Machine, NodeObservation, Observation, OrderForecast};
use forecast::{time_to, Slope, TheilSen, Window};

/// Seconds between two points of the window, so that it holds minutes at any sampling rate.
const EVERY_S: f64 = 5.0;
/// Points of the window.
const POINTS: usize = 32;
/// The normal deviate of a 99% interval: compaction is not free.
const Z: f64 = 2.576;
/// Below this share the order counts as exhausted.
const EXHAUSTED: f64 = 0.05;
/// A fall of a smaller share within the window is noise.
const FALLEN: f64 = 0.04;
/// A fall of fewer blocks is noise: with few blocks the share moves by whole percents.
const FALLEN_BLOCKS: f64 = 16.0;
/// Seconds ahead in which exhaustion counts as predicted, by aggressiveness.
const HORIZONS_S: [f64; 3] = [180.0, 300.0, 600.0];
/// vm.compaction_proactiveness while exhaustion is predicted, by aggressiveness.
const PROACTIVENESS: [u32; 3] = [40, 60, 80];
/// The knob goes back once nothing was predicted for so many seconds.
const CALM_S: f64 = 600.0;
/// A compaction that brought nothing doubles the wait for the next, up to so many times.
const PATIENCE: f64 = 16.0;

/// One node.
struct Node {
    id: u32,
    share: Window,
    /// Free pages in large blocks, at the times of the share.
    available: Window,
    last: OrderForecast,
    compacted: Option<Compaction>,
    /// The wait for the next compaction, in multiples of the configured one.
    wait: f64,
}

/// The last compaction, whose effect is checked later.
#[derive(Clone, Copy)]
struct Compaction {
    at_s: f64,
    share_before: f64,
    checked: bool,
}

impl Node {
    /// Whether enough time has passed since the last compaction, whose effect is judged here by the
    /// present `share` of the free pages.
    fn may_compact(&mut self, now_s: f64, share: f64, every_s: f64) -> bool {
        let Some(done) = self.compacted.as_mut() else {
            return true;
        };
        if now_s - done.at_s < every_s * self.wait {
            return false;
        }
        if done.checked {
            return true;
        }
        done.checked = true;
        self.wait = match share > done.share_before {
            true => 1.0,
            false => (self.wait * 2.0).min(PATIENCE),
        };
        self.wait <= 1.0
    }
}

/// Predicts exhaustion of the huge order and asks for compaction.
pub(crate) struct Fragmentation {
    nodes: Vec<Node>,
    theil_sen: TheilSen,
    horizon_s: f64,
    proactiveness: u32,
    /// Seconds between two compactions of one node at the earliest.
    compact_every_s: f64,
    huge_order: usize,
    node_compact: bool,
    knob: Knob,
    last_predicted_s: Option<f64>,
}

impl Fragmentation {
    pub fn new(config: &Config, machine: &Machine) -> Self {
        let level = usize::from(config.aggressiveness.clamp(1, 3)) - 1;
        let node = |_| Node {
            id: u32::MAX,
            share: Window::new(POINTS),
            available: Window::new(POINTS),
            last: OrderForecast::default(),
            compacted: None,
            wait: 1.0,
        };
        Fragmentation {
            nodes: (0..machine.max_nodes.max(1)).map(node).collect(),
            theil_sen: TheilSen::new(POINTS, Z),
            horizon_s: HORIZONS_S[level],
            proactiveness: PROACTIVENESS[level],
            compact_every_s: config.compact_every_s,
            huge_order: machine.huge_order,
            node_compact: machine.node_compact,
            knob: Knob::default(),
            last_predicted_s: None,
        }
    }

    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let value = seen.knobs.compaction_proactiveness;
        let ours = self
            .knob
            .observe("vm.compaction_proactiveness", value, config, decision);
        for (index, node) in seen.nodes.iter().enumerate() {
            let Some(slot) = self.slot(node.id) else {
                continue;
            };
            let forecast = self.forecast(slot, seen.now_s, node);
            if let Some(summary) = decision.summary.nodes.get_mut(index) {
                summary.order = forecast;
            }
            if forecast.predicted {
                self.last_predicted_s = Some(seen.now_s);
                self.compact(slot, seen.now_s, node, ours, decision);
            }
        }
        self.calm(seen.now_s, ours, decision);
    }

    fn forecast(&mut self, slot: usize, now_s: f64, node: &NodeObservation) -> OrderForecast {
        let available = pages_from(node.free_blocks, self.huge_order);
        // A share of the blocks' own sum, because zoneinfo and buddyinfo are read at different moments.
        let share = available as f64 / pages_from(node.free_blocks, 0).max(1) as f64;
        let tracked = &mut self.nodes[slot];
        let due = tracked
            .share
            .last()
            .is_none_or(|(at, _)| now_s >= at + EVERY_S);
        if !due || !tracked.share.push(now_s, share) {
            return OrderForecast {
                available,
                ..tracked.last
            };
        }
        let mut forecast = OrderForecast {
            order: self.huge_order,
            available,
            ..OrderForecast::default()
        };
        // As the share was taken, its time is later than the last one.
        tracked.available.push(now_s, available as f64);
        let change = self.theil_sen.slope(tracked.available.points());
        forecast.slope = change.map_or(0.0, |change| change.slope);
        if let (Some(slope), true) = (
            self.theil_sen.slope(tracked.share.points()),
            forecast.slope < 0.0,
        ) {
            let fall = Slope {
                slope: -slope.slope,
                lower: -slope.upper,
                upper: -slope.lower,
                ..slope
            };
            let crossing = time_to(share - EXHAUSTED, &fall);
            forecast.time_to_exhaustion_s = crossing.expected_s;
            let (first_s, _) = tracked.share.points()[0];
            let fallen = fall.slope * (now_s - first_s);
            let huge_pages = (self.huge_order as f64).exp2();
            // A share that is exhausted and does not fall is this machine's normal state, or recovers.
            forecast.predicted = share > EXHAUSTED
                && crossing.certain
                && fallen >= FALLEN
                && fallen * node.free as f64 >= FALLEN_BLOCKS * huge_pages
                && crossing.expected_s.is_some_and(|s| s <= self.horizon_s);
        }
        tracked.last = forecast;
        forecast
    }

    /// Raises the knob, or where it is raised already compacts the node.
    fn compact(
        &mut self,
        slot: usize,
        now_s: f64,
        node: &NodeObservation,
        ours: Option<u32>,
        decision: &mut Decision,
    ) {
        let (every_s, order) = (self.compact_every_s, self.huge_order);
        let tracked = &mut self.nodes[slot];
        let share = tracked.share.last().unwrap_or_default().1;
        if !tracked.may_compact(now_s, share, every_s) {
            return;
        }
        let left_s = tracked.last.time_to_exhaustion_s.unwrap_or(0.0);
        let (id, percent) = (node.id, share * 100.0);
        let value = self.proactiveness.max(self.knob.floor());
        match ours.filter(|current| *current < value) {
            Some(current) => {
                if !self.knob.ask(now_s, value) {
                    return;
                }
                decision.push(
                    Action::SetCompactionProactiveness(value),
                    format_args!(
                        "node {id}: free blocks of order {order} are gone in {left_s:.0} s \
                         ({percent:.0}% of the free pages are in them): proactiveness {current} to \
                         {value}"
                    ),
                );
            }
            None if self.node_compact => decision.push(
                Action::CompactNode { node: id },
                format_args!(
                    "node {id}: free blocks of order {order} are gone in {left_s:.0} s \
                     ({percent:.0}% of the free pages are in them)"
                ),
            ),
            None => return,
        }
        tracked.compacted = Some(Compaction {
            at_s: now_s,
            share_before: share,
            checked: false,
        });
    }

    /// Puts the knob back once nothing has been predicted for [`CALM_S`].
    fn calm(&mut self, now_s: f64, ours: Option<u32>, decision: &mut Decision) {
        let calm = self.last_predicted_s.is_some_and(|at| now_s - at >= CALM_S);
        let floor = self.knob.floor();
        let Some(current) = ours else {
            return;
        };
        if calm && current > floor && self.knob.ask(now_s, floor) {
            decision.push(
                Action::SetCompactionProactiveness(floor),
                format_args!(
                    "no fragmentation predicted for {CALM_S:.0} s: proactiveness back to {floor}"
                ),
            );
        }
    }

    /// The place of a node; a new node takes a free one.
    fn slot(&mut self, id: u32) -> Option<usize> {
        let find = |id| self.nodes.iter().position(|node| node.id == id);
        let slot = find(id).or_else(|| find(u32::MAX))?;
        self.nodes[slot].id = id;
        Some(slot)
    }
}

/// Pages in free blocks of `order` and above.
fn pages_from(blocks: &[u64], order: usize) -> u64 {
    blocks
        .iter()
        .enumerate()
        .skip(order)
        .map(|(order, count)| count << order)
        .sum()
}
