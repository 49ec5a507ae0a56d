//! kswapd's place in the queue for a CPU.
//!
//! The gap between low and min is what allocations may take until kswapd is at work. Where every CPU
//! is taken most of that time is its wait for one: with a better nice value the same gap lasts for
//! larger bursts, and costs no memory. Too good a value has everybody else wait for kswapd: at -10 a
//! compile beside writers took 4 to 11% longer, at -5 it did not (docs/predict.md).
use crate::{Action, Config, Decision, Machine, Observation};

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
