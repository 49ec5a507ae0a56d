//! Headroom: how many free pages the machine needs, and when it will need them.
//!
//! Drawdowns of the past size vm.watermark_scale_factor, so that kswapd starts early enough. The slope of
//! demand sets the time of the next sample, and the pages to hold above low. docs/design/predict.md has
//! the algorithm in full.
use super::ceiling::{self, Usable};
use super::gap::gap;
use crate::modules::delta::Delta;
use crate::modules::free_pages::node::{Node, Shared};
use crate::modules::knob::Knob;
use crate::modules::kswapd;
use crate::{
    Action, Config, Decision, Learned, Machine, NodeForecast, NodeObservation, Observation,
};
use forecast::BlockMaxima;

/// The choices that the aggressiveness makes.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The quantile of past bursts to be ready for.
    quantile: f64,
    /// The share added to the quantile after one burst. After n bursts, an n-th of this share is added:
    /// the next ones exceed the largest of n by that on average.
    margin: f64,
    /// Seconds ahead in which a crossing counts as predicted.
    horizon_s: f64,
}

/// By aggressiveness: 1, 2 and 3.
const LEVELS: [Level; 3] = [
    Level {
        quantile: 0.80,
        margin: 0.5,
        horizon_s: 25.0,
    },
    Level {
        quantile: 0.90,
        margin: 1.0,
        horizon_s: 40.0,
    },
    Level {
        quantile: 0.98,
        margin: 1.5,
        horizon_s: 60.0,
    },
];

/// The deepest burst in so many seconds counts.
const BLOCK_S: f64 = 30.0;
/// A burst counts half after so many seconds. A burst that is a week old weighs nothing.
const HALF_LIFE_S: f64 = 6.0 * 3600.0;
/// The headroom stays for so many seconds after the last burst.
const GRACE_S: f64 = 1800.0;
/// After [`GRACE_S`] the headroom halves every so many seconds.
const DECAY_HALF_LIFE_S: f64 = 1800.0;
/// The factor is raised at once, if by so many times or more.
const RAISE: f64 = 1.1;
/// The factor is lowered to this share or less.
const LOWER: f64 = 0.8;
/// The factor is lowered only so many seconds after the last write.
const LOWER_EVERY_S: f64 = 300.0;
/// Where less than half of so many seconds of demand is left above low, pages are reclaimed.
const HOLD_S: f64 = 1.0;
/// One request asks for at most a node's managed pages divided by this.
const MOST_AT_ONCE: f64 = 128.0;
/// Fewer pages are not asked for.
const LEAST: f64 = 256.0;

/// The names of what is learned; the latter two after a node's name, as in `node0.burst_pages`.
const BURST_AGE: &str = "burst_age_s";
const BURST_PAGES: &str = ".burst_pages";
const BURSTS: &str = ".bursts";

/// Sizes the headroom of all nodes.
pub(crate) struct FreePages {
    level: Level,
    nodes: Vec<Node>,
    depths: Vec<BlockMaxima>,
    usable: Vec<Usable>,
    last_burst_s: Option<f64>,
    knob: Knob,
    /// The most pages a second that kswapd was measured to free.
    capacity: f64,
    /// Seconds until the next sample.
    interval_s: f64,
}

impl FreePages {
    pub fn new(config: &Config, machine: &Machine) -> Self {
        let level = LEVELS[usize::from(config.aggressiveness.clamp(1, 3)) - 1];
        let slots = machine.max_nodes.max(1);
        FreePages {
            level,
            nodes: (0..slots).map(|_| Node::new()).collect(),
            depths: (0..slots)
                .map(|_| BlockMaxima::new(BLOCK_S, HALF_LIFE_S))
                .collect(),
            usable: vec![Usable::default(); slots],
            last_burst_s: None,
            knob: Knob::default(),
            capacity: 0.0,
            interval_s: config.sample_near_s,
        }
    }

    /// Adds the bursts of each node, and their age.
    pub fn learned(&self, now_s: f64, learned: &mut Learned) {
        let Some(last_s) = self.last_burst_s else {
            return;
        };
        learned.set(BURST_AGE, now_s - last_s);
        for (node, depths) in self.nodes.iter().zip(&self.depths) {
            let bursts = depths.count(now_s);
            if bursts > 0.0 {
                let depth = depths.quantile(self.level.quantile);
                learned.set(format!("node{}{BURST_PAGES}", node.id), depth);
                learned.set(format!("node{}{BURSTS}", node.id), bursts);
            }
        }
    }

    /// Begins with the bursts that were learned `age_s` seconds ago: they fade as if the run had gone on.
    pub fn recall(&mut self, learned: &Learned, now_s: f64, age_s: f64) {
        self.last_burst_s = learned
            .get(BURST_AGE)
            .map(|burst_s| now_s - age_s - burst_s);
        for (name, depth) in learned.iter() {
            let Some(node) = name.strip_suffix(BURST_PAGES) else {
                continue;
            };
            let id = node.strip_prefix("node").and_then(|id| id.parse().ok());
            if let Some(slot) = id.and_then(|id| self.slot(id)) {
                let bursts = learned.get(&format!("{node}{BURSTS}")).unwrap_or(1.0);
                let bursts = bursts * (-age_s / HALF_LIFE_S).exp2();
                self.depths[slot].recall(now_s, depth, bursts);
            }
        }
    }

    /// Updates the state of the nodes; decides nothing.
    pub fn observe(&mut self, seen: &Observation, delta: &Delta, decision: &mut Decision) {
        if delta.elapsed_s > 0.0 {
            // kswapd can free as fast as reclaim on request: the code is the same.
            let background = delta.kswapd.max(delta.proactive);
            self.capacity = self.capacity.max(background / delta.elapsed_s);
        }
        let below: u64 = seen
            .nodes
            .iter()
            .filter(|n| n.free < n.watermarks.high)
            .map(|n| n.managed)
            .sum();
        let all: u64 = seen.nodes.iter().map(|node| node.managed).sum();
        for node in seen.nodes {
            let Some(slot) = self.slot(node.id) else {
                continue;
            };
            // Totals are shared out by size to the nodes that reclaim has a reason to work on.
            let share = match (below, node.free < node.watermarks.high) {
                (0, _) => node.managed as f64 / all.max(1) as f64,
                (_, true) => node.managed as f64 / below as f64,
                (_, false) => 0.0,
            };
            self.usable[slot].observe(seen.now_s, node);
            let tracked = &mut self.nodes[slot];
            let stolen = tracked
                .stolen_since(node.stolen)
                .unwrap_or(delta.stolen() * share);
            let shared = Shared {
                stolen,
                direct: delta.direct * share,
                stall_s: delta.stall_s * f64::from(u8::from(share > 0.0)),
            };
            let depth = tracked.observe(seen.now_s, node, &shared, self.level.horizon_s);
            let floor_gap = gap(node.managed, node.watermarks.min, self.knob.floor());
            // A burst that the floor's own gap covers with ease teaches nothing.
            if depth > floor_gap / 2.0 {
                self.depths[slot].add(seen.now_s, depth);
                self.last_burst_s = Some(seen.now_s);
            }
            decision.summary.nodes.push(NodeForecast {
                id: node.id,
                free: node.free,
                watermarks: node.watermarks,
                demand: tracked.slope.map_or(0.0, |slope| slope.slope),
                demand_error: tracked.slope.map_or(0.0, |slope| slope.error()),
                time_to_low_s: tracked.expected_s,
                earliest_low_s: tracked.earliest_s,
                predicted: tracked.predicted,
                order: tracked.order,
            });
        }
        decision.summary.rates.kswapd_capacity = self.capacity;
    }

    /// Decides on the gap, then on pages to reclaim ahead of time.
    pub fn decide(
        &mut self,
        seen: &Observation,
        delta: &Delta,
        config: &Config,
        machine: &Machine,
        decision: &mut Decision,
    ) {
        let value = seen.knobs.watermark_scale_factor;
        let ours = self
            .knob
            .observe("vm.watermark_scale_factor", value, config, decision);
        let faded = self.faded(seen.now_s);
        let mut wanted = f64::from(self.knob.floor());
        let mut deepest = 0.0f64;
        for node in seen.nodes {
            let Some(slot) = self.slot(node.id) else {
                continue;
            };
            let gap = self.drawdown(slot, seen.now_s) * faded;
            deepest = deepest.max(gap);
            wanted = wanted.max(gap / node.managed.max(1) as f64 * 10_000.0);
        }
        let usable = |node: &NodeObservation| {
            let slot = self.find(node.id);
            slot.map_or(Usable::default(), |slot| self.usable[slot])
        };
        let cap = ceiling::highest(seen, config, machine, usable);
        let wanted = (wanted.ceil() as u32)
            .clamp(self.knob.floor().min(cap), cap)
            .max(self.knob.floor());
        let forecast = &mut decision.summary.free_pages;
        forecast.drawdown_pages = deepest;
        forecast.wanted = wanted;
        forecast.floor = self.knob.floor();
        forecast.cap = cap;
        if let Some(current) = ours {
            self.set(seen, current, (wanted, cap), deepest, decision);
        }
        if config.node_reclaim && machine.node_reclaim {
            for node in seen.nodes {
                if kswapd::has_given_up(node, delta) {
                    kswapd::bring_back(node, seen, delta, machine, decision);
                } else {
                    self.hold(node, machine, seen.now_s, decision);
                }
            }
        }
    }

    fn set(
        &mut self,
        seen: &Observation,
        current: u32,
        (wanted, cap): (u32, u32),
        gap: f64,
        decision: &mut Decision,
    ) {
        let now_s = seen.now_s;
        let raise = f64::from(wanted) >= f64::from(current) * RAISE;
        // Where fewer pages can become free than before, the gap would be others' cache.
        let too_much = f64::from(cap) <= f64::from(current) * LOWER;
        let lower = (f64::from(wanted) <= f64::from(current) * LOWER
            || wanted == self.knob.floor())
            && (too_much || self.knob.age_s(now_s) >= LOWER_EVERY_S);
        if wanted == current
            || !(raise || lower && wanted < current)
            || !self.knob.ask(now_s, wanted)
        {
            return;
        }
        let action = Action::SetWatermarkScaleFactor(wanted);
        match raise {
            false if too_much => decision.push(
                action,
                format_args!(
                    "so few pages can become free that {current} is too large a gap: {wanted}"
                ),
            ),
            true => decision.push(
                action,
                format_args!(
                    "allocations take {gap:.0} pages before kswapd has caught up: {current} is \
                     too small a gap, {wanted} is not"
                ),
            ),
            false => decision.push(
                action,
                format_args!("no burst has needed the gap of {current} for a while: {wanted}"),
            ),
        }
    }

    /// Keeps the free pages of a node just above low, where bursts are known. The next burst then finds the
    /// whole gap, and kswapd starts with it.
    fn hold(
        &mut self,
        node: &NodeObservation,
        machine: &Machine,
        now_s: f64,
        decision: &mut Decision,
    ) {
        let Some(slot) = self.slot(node.id) else {
            return;
        };
        let tracked = &self.nodes[slot];
        let floor_gap = gap(node.managed, node.watermarks.min, self.knob.floor());
        let (free, low) = (node.free as f64, node.watermarks.low as f64);
        let needed = self.drawdown(slot, now_s) * self.faded(now_s);
        if needed <= floor_gap || tracked.overloaded {
            return;
        }
        let rate = tracked.slope.map_or(0.0, |slope| slope.slope).max(0.0);
        // At most up to high, where kswapd would stop.
        let most = node.watermarks.gap() as f64;
        let band = (rate * HOLD_S).max(needed / 32.0).min(most);
        if free >= low + band / 2.0 {
            return;
        }
        let most = (node.managed as f64 / MOST_AT_ONCE).min(node.file as f64 / 8.0);
        let pages = (low + band - free).min(most);
        if pages < LEAST {
            return;
        }
        let action = Action::ReclaimNode {
            node: node.id,
            bytes: pages as u64 * machine.page_size,
        };
        let (id, above) = (node.id, free - low);
        match (above >= 0.0, rate >= 1.0) {
            (false, _) => decision.push(
                action,
                format_args!(
                    "node {id} is {:.0} pages below low; reclaiming to make room for a \
                     {needed:.0}-page burst",
                    -above
                ),
            ),
            (true, false) => decision.push(
                action,
                format_args!(
                    "node {id} is only {above:.0} pages above low; reclaiming to make room for a \
                     {needed:.0}-page burst"
                ),
            ),
            (true, true) => decision.push(
                action,
                format_args!(
                    "node {id} is {above:.0} pages above low, which demand takes in {:.1} s; \
                     reclaiming to make room for a {needed:.0}-page burst",
                    above / rate
                ),
            ),
        }
    }

    /// The drawdown to be ready for, from past bursts. Pages.
    fn drawdown(&self, slot: usize, now_s: f64) -> f64 {
        let depths = &self.depths[slot];
        let margin = self.level.margin / (depths.count(now_s) + 1.0);
        depths.quantile(self.level.quantile) * (1.0 + margin)
    }

    /// The factor of the headroom by age: 1 until [`GRACE_S`] after the last burst, then fading.
    fn faded(&self, now_s: f64) -> f64 {
        let quiet_s = self.last_burst_s.map_or(0.0, |last| now_s - last - GRACE_S);
        (-quiet_s.max(0.0) / DECAY_HALF_LIFE_S).exp2()
    }

    /// Seconds until the next sample: a quarter of the time in which free pages can be down at low.
    pub fn next_sample_s(&mut self, seen: &Observation, config: &Config) -> f64 {
        // The interval grows by steps: a machine that was busy a moment ago may be busy again.
        let mut next_s = config.sample_far_s.min(self.interval_s * 1.5);
        for node in seen.nodes {
            let Some(slot) = self.find(node.id) else {
                continue;
            };
            let tracked = &self.nodes[slot];
            let fall = tracked
                .slope
                .map_or(0.0, |slope| slope.upper)
                .max(tracked.rate);
            let above = node.free as f64 - node.watermarks.low as f64;
            if fall > 0.0 {
                next_s = next_s.min(above / fall / 4.0);
            }
        }
        self.interval_s = next_s.max(config.sample_near_s);
        self.interval_s
    }

    fn find(&self, id: u32) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// The place of a node; a new node takes a free one.
    fn slot(&mut self, id: u32) -> Option<usize> {
        let slot = self.find(id).or_else(|| self.find(u32::MAX))?;
        self.nodes[slot].id = id;
        Some(slot)
    }
}
