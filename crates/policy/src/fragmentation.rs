//! Fragmentation: will a node run out of blocks of the huge order while it has free pages?
//!
//! What is watched is the share of the free pages that stand in blocks of the huge order or above:
//! it does not move when free pages as such come and go, which is [`crate::free_pages`]' business.
use crate::knob::{Knob, Look};
use crate::{
    Action, Config, Decision, Machine, NodeObservation, Observation, OrderForecast, Warning,
};
use forecast::{time_to, Slope, TheilSen, Window};

/// A point this often, so that the window holds minutes however often the policy looks.
const EVERY_S: f64 = 5.0;
const POINTS: usize = 32;
/// 99%: compaction is not free.
const Z: f64 = 2.576;
/// Below this share the order counts as exhausted.
const EXHAUSTED: f64 = 0.05;
/// So much must have gone within the window: less is noise.
const FALLEN: f64 = 0.04;
/// And so many blocks: of few blocks the share moves by whole percents.
const FALLEN_BLOCKS: f64 = 16.0;
/// Seconds ahead in which exhaustion counts as predicted, by aggressiveness.
const HORIZONS_S: [f64; 3] = [180.0, 300.0, 600.0];
/// vm.compaction_proactiveness while exhaustion is predicted, by aggressiveness.
const PROACTIVENESS: [u32; 3] = [40, 60, 80];
/// When nothing was predicted for so long the knob goes back.
const CALM_S: f64 = 600.0;
/// A compaction that brought nothing doubles the wait for the next, up to so many times.
const PATIENCE: f64 = 16.0;

struct Node {
    id: u32,
    share: Window,
    last: OrderForecast,
    compacted: Option<Compaction>,
    wait: f64,
}

/// The last compaction, to be checked on.
#[derive(Clone, Copy)]
struct Compaction {
    at_s: f64,
    share_before: f64,
    checked: bool,
}

pub(crate) struct Fragmentation {
    nodes: Vec<Node>,
    theil_sen: TheilSen,
    horizon_s: f64,
    proactiveness: u32,
    knob: Knob,
    last_predicted_s: Option<f64>,
}

impl Fragmentation {
    pub fn new(config: &Config, machine: &Machine) -> Self {
        let level = usize::from(config.aggressiveness.clamp(1, 3)) - 1;
        let node = |_| Node {
            id: u32::MAX,
            share: Window::new(POINTS),
            last: OrderForecast::default(),
            compacted: None,
            wait: 1.0,
        };
        Fragmentation {
            nodes: (0..machine.max_nodes.max(1)).map(node).collect(),
            theil_sen: TheilSen::new(POINTS, Z),
            horizon_s: HORIZONS_S[level],
            proactiveness: PROACTIVENESS[level],
            knob: Knob::default(),
            last_predicted_s: None,
        }
    }

    pub fn run(
        &mut self,
        seen: &Observation,
        config: &Config,
        machine: &Machine,
        decision: &mut Decision,
    ) {
        let look = self.knob.look(seen.knobs.compaction_proactiveness);
        if let Look::Yielded(value) = look {
            decision.push(
                Action::Warn(Warning::Yielded),
                format_args!("vm.compaction_proactiveness was set to {value} by someone else; it is theirs now"),
            );
        }
        for (index, node) in seen.nodes.iter().enumerate() {
            let Some(slot) = self.slot(node.id) else {
                continue;
            };
            let forecast = self.forecast(slot, seen.now_s, node, machine);
            if let Some(summary) = decision.summary.nodes.get_mut(index) {
                summary.order = forecast;
            }
            if forecast.predicted {
                self.last_predicted_s = Some(seen.now_s);
                self.compact(slot, seen, node, look, config, machine, decision);
            }
        }
        self.calm(seen.now_s, look, decision);
    }

    fn forecast(
        &mut self,
        slot: usize,
        now_s: f64,
        node: &NodeObservation,
        machine: &Machine,
    ) -> OrderForecast {
        let available = pages_from(node.free_blocks, machine.huge_order);
        // Of the blocks' own sum: zoneinfo and buddyinfo are not read in the same instant.
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
            order: machine.huge_order,
            available,
            ..OrderForecast::default()
        };
        if let Some(slope) = self.theil_sen.slope(tracked.share.points()) {
            forecast.slope = slope.slope * node.free as f64;
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
            let huge_pages = (machine.huge_order as f64).exp2();
            // Exhausted already and not falling: that is how this machine is, or it recovers.
            forecast.predicted = share > EXHAUSTED
                && crossing.certain
                && fallen >= FALLEN
                && fallen * node.free as f64 >= FALLEN_BLOCKS * huge_pages
                && crossing.expected_s.is_some_and(|s| s <= self.horizon_s);
        }
        tracked.last = forecast;
        forecast
    }

    #[allow(clippy::too_many_arguments)]
    fn compact(
        &mut self,
        slot: usize,
        seen: &Observation,
        node: &NodeObservation,
        look: Look,
        config: &Config,
        machine: &Machine,
        decision: &mut Decision,
    ) {
        let now_s = seen.now_s;
        let tracked = &mut self.nodes[slot];
        let (_, share) = tracked.share.last().unwrap_or_default();
        if let Some(done) = tracked.compacted.as_mut() {
            if now_s - done.at_s < config.compact_every_s * tracked.wait {
                return;
            }
            if !done.checked {
                done.checked = true;
                tracked.wait = match share > done.share_before {
                    true => 1.0,
                    false => (tracked.wait * 2.0).min(PATIENCE),
                };
                if tracked.wait > 1.0 {
                    return;
                }
            }
        }
        let left_s = tracked.last.time_to_exhaustion_s.unwrap_or(0.0);
        let order = machine.huge_order;
        if let Look::Ours(current) = look {
            let value = self.proactiveness.max(self.knob.floor());
            if current < value {
                if self.knob.ask(now_s, value) {
                    decision.push(
                        Action::SetCompactionProactiveness(value),
                        format_args!("node {}: free blocks of order {order} are gone in {left_s:.0} s ({:.0}% of the free pages are in them): proactiveness {current} to {value}", node.id, share * 100.0),
                    );
                    tracked.compacted = Some(Compaction {
                        at_s: now_s,
                        share_before: share,
                        checked: false,
                    });
                }
                return;
            }
        }
        if machine.node_compact {
            decision.push(
                Action::CompactNode { node: node.id },
                format_args!("node {}: free blocks of order {order} are gone in {left_s:.0} s ({:.0}% of the free pages are in them)", node.id, share * 100.0),
            );
            tracked.compacted = Some(Compaction {
                at_s: now_s,
                share_before: share,
                checked: false,
            });
        }
    }

    /// Puts the knob back when nothing has been predicted for a while.
    fn calm(&mut self, now_s: f64, look: Look, decision: &mut Decision) {
        let calm = self.last_predicted_s.is_some_and(|at| now_s - at >= CALM_S);
        let floor = self.knob.floor();
        let Look::Ours(current) = look else {
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
