//! kswapd: its place in the queue for a CPU, and what to do when it has given up.
//!
//! The gap between low and min is what allocations may take until kswapd is at work. Where every CPU
//! is taken most of that time is its wait for one: with a better nice value the same gap lasts for
//! larger bursts, and costs no memory. Too good a value has everybody else wait for kswapd: at -10 a
//! compile beside writers took 4 to 11% longer, at -5 it did not (docs/predict.md).
use crate::free_pages::Delta;
use crate::{Action, Config, Decision, Machine, NodeObservation, Observation};

/// A node's managed pages by this are the most to ask for at once. Much, for all that is missing is to be
/// there at once, or allocations go on to reclaim.
const MOST_AT_ONCE: f64 = 8.0;
/// kswapd has given up where it frees so much less than allocations reclaim for themselves.
const GIVEN_UP: f64 = 8.0;

#[derive(Default)]
pub(crate) struct Kswapd {
    /// Nodes whose kswapd has been seen to.
    nodes: Vec<u32>,
}

impl Kswapd {
    pub fn new(machine: &Machine) -> Self {
        Kswapd {
            nodes: Vec::with_capacity(machine.max_nodes),
        }
    }

    /// Asks once for each node, those plugged in later among them.
    pub fn run(&mut self, seen: &Observation, config: &Config, decision: &mut Decision) {
        let nice = config.kswapd_nice;
        if nice == 0 {
            return;
        }
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
                    "once woken it is not to wait for a CPU until the headroom is used up"
                ),
            );
        }
    }
}

/// Does a node below low get next to nothing from kswapd, while allocations reclaim for themselves?
/// The counters are the machine's: that of one node among others is seen when those of the others rest.
pub(crate) fn has_given_up(node: &NodeObservation, delta: &Delta) -> bool {
    node.free < node.low && delta.direct > GIVEN_UP * delta.kswapd
}

/// Brings a node's kswapd back. After 16 runs that freed nothing (`kswapd_failures`, mm/vmscan.c) it sleeps
/// until a reclaim leaves the node balanced, which on 7.3 those of allocations hardly ever do: each stops
/// at min. One that goes up to high does, and to spare, for the node is used meanwhile.
pub(crate) fn bring_back(
    node: &NodeObservation,
    seen: &Observation,
    delta: &Delta,
    machine: &Machine,
    decision: &mut Decision,
) {
    let missing = 2.0 * node.high.saturating_sub(node.free) as f64;
    let swap_free = seen.meminfo.swap_free * 1024 / machine.page_size;
    let reclaimable = node.file + node.anon.min(swap_free);
    let most = (node.managed as f64 / MOST_AT_ONCE).min(reclaimable as f64 / 2.0);
    let pages = missing.min(most);
    if pages < 256.0 {
        return;
    }
    decision.push(
        Action::ReclaimNode { node: node.id, bytes: pages as u64 * machine.page_size },
        format_args!("node {}: kswapd has given up, {:.0} pages by it and {:.0} by those who allocate: it comes back once {} pages are free", node.id, delta.kswapd, delta.direct, node.high),
    );
}
