//! Free pages: how much headroom the machine needs, and when it will need it.
//!
//! Two estimators feed one decision. The drawdown that was seen sizes vm.watermark_scale_factor, so
//! that kswapd starts early enough; the forecast of demand adds what is coming, before it was ever
//! seen. docs/predict.md has the algorithm in full.
use crate::knob::{Knob, Look};
use crate::kswapd;
use crate::node::{Node, Shared};
use crate::{
    Action, Config, Decision, Machine, NodeForecast, NodeObservation, Observation, Warning,
};
use forecast::BlockMaxima;

/// Choices that the aggressiveness makes.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Of bursts as deep as were seen, the share to be ready for.
    quantile: f64,
    /// On top of it, for the first burst: the n-th has an n-th of it, for the largest of n is on
    /// average short of the next ones by that.
    margin: f64,
    /// Seconds ahead in which a crossing counts as predicted.
    horizon_s: f64,
}

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

/// Bursts are counted once in so many seconds, and one a week old weighs nothing.
const BLOCK_S: f64 = 30.0;
const HALF_LIFE_S: f64 = 6.0 * 3600.0;
/// Without a burst the headroom stays so long, then halves every so often.
const GRACE_S: f64 = 1800.0;
const DECAY_HALF_LIFE_S: f64 = 1800.0;
/// Up at once, by a tenth or more; down by a fifth or more, and not within five minutes.
const RAISE: f64 = 1.1;
const LOWER: f64 = 0.8;
const LOWER_EVERY_S: f64 = 300.0;
/// Until kswapd was seen at work it is taken to free 400 MB a second.
const CAPACITY_PRIOR_BYTES: f64 = 400e6;
/// Demand above kswapd's rate is covered for so long.
const REACTION_S: f64 = 2.0;
/// By so much demand must exceed a rate that is only roughly known.
const BEYOND: f64 = 1.25;
/// At most this share of what could be reclaimed may be asked to stand free: it is no cache then. In a
/// guest 0.25 took twice as much for 0.012 of the stalls instead of 0.02, and with 0.07 there were 0.05
/// left (docs/predict.md, "In a guest").
const RECLAIMABLE_SHARE: f64 = 0.08;
/// Where memory is mostly anonymous and file pages are few, 8% of them is less than a burst takes, however
/// often it was seen. This share of all pages but huge ones may stand free even so.
const ORDINARY_SHARE: f64 = 0.04;
/// The most in any case, and where the administrator has set the bound of vm.watermark_scale_factor: what
/// cannot become free must not be asked for.
const RECLAIMABLE_SHARE_MOST: f64 = 0.25;

/// A stall of so many seconds between two samples counts.
const STALL_S: f64 = 0.02;
/// So many refaults for each page stolen: what was reclaimed was needed.
const REFAULTS: f64 = 0.25;
/// A correction is forgotten by half in so many seconds.
const CORRECTION_S: f64 = 600.0;
/// Hold: refilled when less than half of this many seconds of demand is left above low.
const HOLD_S: f64 = 1.0;

/// A node's managed pages by this are the most to ask for at once.
const MOST_AT_ONCE: f64 = 128.0;

pub(crate) struct FreePages {
    level: Level,
    nodes: Vec<Node>,
    depths: Vec<BlockMaxima>,
    last_burst_s: Option<f64>,
    knob: Knob,
    /// Pages a second that kswapd was seen to free; the prior until it was.
    capacity: f64,
    correction: f64,
    /// Until the sample that comes next.
    interval_s: f64,
}

/// Differences since the last observation, machine-wide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delta {
    pub elapsed_s: f64,
    pub kswapd: f64,
    pub direct: f64,
    pub proactive: f64,
    pub refaults: f64,
    pub allocstall: f64,
    pub stall_s: f64,
}

impl Delta {
    pub fn stolen(&self) -> f64 {
        self.kswapd + self.direct + self.proactive
    }
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
            last_burst_s: None,
            knob: Knob::default(),
            capacity: CAPACITY_PRIOR_BYTES / machine.page_size as f64,
            correction: 1.0,
            interval_s: config.sample_near_s,
        }
    }

    /// Updates what is known of the nodes; decides nothing.
    pub fn observe(&mut self, seen: &Observation, delta: &Delta, decision: &mut Decision) {
        if delta.elapsed_s > 0.0 && delta.stall_s == 0.0 {
            // What was reclaimed on request kswapd can free as well: it is the same code.
            let background = delta.kswapd.max(delta.proactive);
            self.capacity = self.capacity.max(background / delta.elapsed_s);
        }
        let below: u64 = seen
            .nodes
            .iter()
            .filter(|n| n.free < n.high)
            .map(|n| n.managed)
            .sum();
        let all: u64 = seen.nodes.iter().map(|node| node.managed).sum();
        for node in seen.nodes {
            let Some(slot) = self.slot(node.id) else {
                continue;
            };
            // Totals go to the nodes that reclaim has a reason to work on, by their size.
            let share = match (below, node.free < node.high) {
                (0, _) => node.managed as f64 / all.max(1) as f64,
                (_, true) => node.managed as f64 / below as f64,
                (_, false) => 0.0,
            };
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
            let floor_gap = gap(node.managed, node.min, self.knob.floor());
            // What the floor's own gap covers with ease teaches nothing.
            if depth > floor_gap / 2.0 {
                self.depths[slot].add(seen.now_s, depth);
                self.last_burst_s = Some(seen.now_s);
            }
            decision.summary.nodes.push(NodeForecast {
                id: node.id,
                free: node.free,
                min: node.min,
                low: node.low,
                high: node.high,
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

    /// Decides: the gap, then what to reclaim ahead of time.
    pub fn decide(
        &mut self,
        seen: &Observation,
        delta: &Delta,
        config: &Config,
        machine: &Machine,
        decision: &mut Decision,
    ) {
        self.correct(delta);
        let look = self.knob.look(seen.knobs.watermark_scale_factor);
        if let Look::Yielded(value) = look {
            decision.push(
                Action::Warn(Warning::Yielded),
                format_args!("vm.watermark_scale_factor was set to {value} by someone else; it is theirs now"),
            );
        }
        let faded = self.faded(seen.now_s);
        let mut wanted = f64::from(self.knob.floor());
        let mut deepest = 0.0f64;
        for node in seen.nodes {
            let Some(slot) = self.slot(node.id) else {
                continue;
            };
            let drawdown = self.drawdown(slot) * faded;
            let ahead = self.ahead(slot, node);
            let gap = drawdown.max(ahead) * self.correction;
            deepest = deepest.max(gap);
            wanted = wanted.max(gap / node.managed.max(1) as f64 * 10_000.0);
        }
        let cap = self.cap(seen, config, machine);
        let wanted = (wanted.ceil() as u32)
            .clamp(self.knob.floor().min(cap), cap)
            .max(self.knob.floor());
        let forecast = &mut decision.summary.free_pages;
        forecast.drawdown_pages = deepest;
        forecast.wanted = wanted;
        forecast.floor = self.knob.floor();
        forecast.cap = cap;
        forecast.correction = self.correction;
        if let Look::Ours(current) = look {
            self.set(seen, current, wanted, deepest, decision);
        }
        if config.node_reclaim && machine.node_reclaim {
            for node in seen.nodes {
                let slot = self.find(node.id);
                let overloaded = slot.is_some_and(|slot| self.nodes[slot].overloaded);
                if kswapd::has_given_up(node, delta) && !overloaded {
                    kswapd::bring_back(node, seen, delta, machine, decision);
                } else {
                    self.hold(node, machine, faded, decision);
                }
            }
        }
    }

    fn set(
        &mut self,
        seen: &Observation,
        current: u32,
        wanted: u32,
        gap: f64,
        decision: &mut Decision,
    ) {
        let now_s = seen.now_s;
        let raise = f64::from(wanted) >= f64::from(current) * RAISE;
        let lower = (f64::from(wanted) <= f64::from(current) * LOWER
            || wanted == self.knob.floor())
            && self.knob.age_s(now_s) >= LOWER_EVERY_S;
        if wanted == current
            || !(raise || lower && wanted < current)
            || !self.knob.ask(now_s, wanted)
        {
            return;
        }
        let action = Action::SetWatermarkScaleFactor(wanted);
        match raise {
            true => decision.push(
                action,
                format_args!("allocations take {gap:.0} pages before kswapd has caught up, the gap of {current} is too small for that: {wanted}"),
            ),
            false => decision.push(
                action,
                format_args!("no burst has needed the gap of {current} for a while: {wanted}"),
            ),
        }
    }

    /// Keeps the free pages of a node just above low, so that a burst finds all of the gap and kswapd
    /// starts with it, or covers what the forecast says that kswapd cannot.
    fn hold(
        &mut self,
        node: &NodeObservation,
        machine: &Machine,
        faded: f64,
        decision: &mut Decision,
    ) {
        let Some(slot) = self.slot(node.id) else {
            return;
        };
        let tracked = &self.nodes[slot];
        let floor_gap = gap(node.managed, node.min, self.knob.floor());
        let (free, low) = (node.free as f64, node.low as f64);
        let needed = (self.drawdown(slot) * faded).max(self.ahead(slot, node));
        if needed <= floor_gap || tracked.overloaded {
            return;
        }
        let rate = tracked
            .slope
            .map_or(0.0, |slope| slope.slope)
            .clamp(0.0, self.capacity);
        let band = (rate * HOLD_S).max(needed / 32.0);
        if free >= low + band / 2.0 {
            return;
        }
        let most = (node.managed as f64 / MOST_AT_ONCE).min(node.file as f64 / 8.0);
        let pages = (low + band - free).min(most);
        if pages < 256.0 {
            return;
        }
        decision.push(
            Action::ReclaimNode { node: node.id, bytes: pages as u64 * machine.page_size },
            format_args!("node {}: {:.0} pages above low go in {:.1} s, and bursts of {needed:.0} pages are to find the whole gap", node.id, free - low, (free - low) / rate.max(1.0)),
        );
    }

    /// What the world says to the size: a stall that the headroom should have spared makes it larger;
    /// refaults, pages that were read again soon after reclaim, make it smaller.
    fn correct(&mut self, delta: &Delta) {
        let overloaded = self.nodes.iter().any(|node| node.overloaded);
        if delta.stall_s > STALL_S && !overloaded {
            self.correction = (self.correction * 1.05).min(1.0);
        } else if delta.refaults > REFAULTS * delta.stolen().max(1.0) {
            self.correction = (self.correction * (1.0 - 0.02 * delta.elapsed_s.min(1.0))).max(0.5);
        } else {
            let back = (-delta.elapsed_s / CORRECTION_S).exp2();
            self.correction = 1.0 + (self.correction - 1.0) * back;
        }
    }

    /// The drawdown to be ready for, from what was seen.
    fn drawdown(&self, slot: usize) -> f64 {
        let depths = &self.depths[slot];
        depths.quantile(self.level.quantile) * (1.0 + self.level.margin / (depths.count() + 1.0))
    }

    /// What is coming, from the forecast: demand beyond what kswapd can free, while it lasts. A
    /// capacity that is unknown or wrong makes this larger or smaller; it stops nothing. Below low it
    /// has come: kswapd is awake, and a higher gap would only make it free more than was asked for.
    /// Demand that has not lasted that long yet is not taken to go on.
    fn ahead(&self, slot: usize, seen: &NodeObservation) -> f64 {
        let node = &self.nodes[slot];
        let lasting = node.lasted_s() >= REACTION_S;
        match (
            node.predicted && lasting && seen.free > seen.low,
            node.slope,
        ) {
            (true, Some(slope)) if slope.slope > BEYOND * self.capacity => {
                let beyond = (slope.slope - self.capacity) * REACTION_S;
                beyond.clamp(0.0, seen.managed as f64 / 10.0)
            }
            _ => 0.0,
        }
    }

    /// 1 until [`GRACE_S`] after the last burst, then fading.
    fn faded(&self, now_s: f64) -> f64 {
        let quiet_s = self.last_burst_s.map_or(0.0, |last| now_s - last - GRACE_S);
        (-quiet_s.max(0.0) / DECAY_HALF_LIFE_S).exp2()
    }

    /// The largest value that may be asked for.
    fn cap(&self, seen: &Observation, config: &Config, machine: &Machine) -> u32 {
        let configured = config.watermark_scale_factor_max;
        let mut cap = machine
            .watermark_scale_factor_max
            .min(configured.unwrap_or(u32::MAX));
        let managed: u64 = seen.nodes.iter().map(|node| node.managed).sum();
        if let Some(bytes) = config.max_gap_bytes {
            let pages = bytes as f64 / machine.page_size as f64;
            cap = cap.min((pages / managed.max(1) as f64 * 10_000.0) as u32);
        }
        for node in seen.nodes {
            // High stands two gaps above min, and no reclaim frees huge pages: what cannot become
            // free must not be asked for, or kswapd never sleeps and the OOM killer comes.
            let movable = (node.file + node.free).saturating_sub(node.min) as f64;
            let ordinary = node.managed.saturating_sub(node.huge) as f64;
            let usable = movable.min(ordinary);
            let most = usable * RECLAIMABLE_SHARE_MOST;
            let gaps = match configured {
                Some(_) => most,
                None => most.min((usable * RECLAIMABLE_SHARE).max(ordinary * ORDINARY_SHARE)),
            };
            let gap = gaps / 2.0;
            cap = cap.min((gap / node.managed.max(1) as f64 * 10_000.0) as u32);
        }
        cap
    }

    /// When to look again, seconds: a quarter of the time until something can have happened.
    pub fn next_sample_s(&mut self, seen: &Observation, config: &Config) -> f64 {
        // Longer by steps: what was busy a moment ago may be again.
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
            let above = node.free as f64 - node.low as f64;
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

    /// The node's place; a new node takes a free one.
    fn slot(&mut self, id: u32) -> Option<usize> {
        let slot = self.find(id).or_else(|| self.find(u32::MAX))?;
        self.nodes[slot].id = id;
        Some(slot)
    }
}

/// The kernel's gap between min and low, pages: `__setup_per_zone_wmarks` in mm/page_alloc.c.
fn gap(managed: u64, min: u64, factor: u32) -> f64 {
    (managed as f64 * f64::from(factor) / 10_000.0).max(min as f64 / 4.0)
}
