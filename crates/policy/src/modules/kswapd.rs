//! kswapd: its nice value, and its return after it has given up.
//!
//! The gap between low and min is there for allocations until kswapd works. Where every CPU is busy,
//! most of that time is kswapd's wait for a CPU. With a better nice value the same gap lasts for larger
//! bursts and costs no memory.
//!
//! With too good a value all other tasks wait for kswapd. At -10 a compile beside writers took 4 to 11%
//! longer. At -5 it took no longer (docs/design/predict.md).
use crate::modules::delta::Delta;
use crate::{Action, Config, Decision, Machine, NodeObservation, Observation};

/// One request asks for at most a node's managed pages divided by this. The share is large: allocations
/// go on to reclaim until all missing pages are there.
const MOST_AT_ONCE: f64 = 8.0;
/// kswapd has given up where allocations reclaim more than so many times as much as kswapd.
const GIVEN_UP: f64 = 8.0;
/// Fewer pages are not asked for.
const LEAST: f64 = 256.0;

/// Asks for the nice value of each node's kswapd.
#[derive(Default)]
pub(crate) struct Kswapd {
    /// Nodes whose kswapd has got its nice value.
    nodes: Vec<u32>,
}

impl Kswapd {
    pub fn new(machine: &Machine) -> Self {
        Kswapd {
            nodes: Vec::with_capacity(machine.max_nodes),
        }
    }

    /// Asks once for each node, also for one that is plugged in later, or again: then its kswapd is another thread.
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let nice = config.kswapd_nice;
        if nice == 0 {
            return;
        }
        self.nodes
            .retain(|id| seen.nodes.iter().any(|node| node.id == *id));
        for node in seen.nodes {
            if self.nodes.contains(&node.id) || self.nodes.len() == self.nodes.capacity() {
                continue;
            }
            self.nodes.push(node.id);
            decision.push(
                Action::SetKswapdNice {
                    node: node.id,
                    nice,
                },
                format_args!(
                    "node {}: kswapd shall get a CPU before allocations have used up the headroom",
                    node.id
                ),
            );
        }
    }
}

/// Whether a node below low gets next to nothing from kswapd while allocations reclaim for themselves.
///
/// The counters are the whole machine's. So a node's kswapd that has given up shows only while the other
/// nodes rest.
pub(crate) fn has_given_up(node: &NodeObservation, delta: &Delta) -> bool {
    node.free < node.watermarks.low && delta.direct > GIVEN_UP * delta.kswapd
}

/// Asks for the reclaim that brings a node's kswapd back.
///
/// After 16 runs that freed nothing (`kswapd_failures` in mm/vmscan.c) kswapd sleeps until a reclaim
/// leaves the node balanced. On 7.3 direct reclaim hardly ever balances a node, because it stops at min. A
/// request for twice the pages up to high balances the node, although the node is used meanwhile.
pub(crate) fn bring_back(
    node: &NodeObservation,
    seen: &Observation,
    delta: &Delta,
    machine: &Machine,
    decision: &mut Decision,
) {
    let high = node.watermarks.high;
    let missing = 2.0 * high.saturating_sub(node.free) as f64;
    let swap_free = seen.meminfo.swap_free * 1024 / machine.page_size;
    let reclaimable = node.file + node.anon.min(swap_free);
    let most = (node.managed as f64 / MOST_AT_ONCE).min(reclaimable as f64 / 2.0);
    let pages = missing.min(most);
    if pages < LEAST {
        return;
    }
    decision.push(
        Action::ReclaimNode {
            node: node.id,
            bytes: pages as u64 * machine.page_size,
        },
        format_args!(
            "node {}: kswapd has given up: it freed {:.0} pages, allocations {:.0}; it comes back \
             once {high} pages are free",
            node.id, delta.kswapd, delta.direct
        ),
    );
}
