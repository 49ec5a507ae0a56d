//! A machine whose figures a test sets, observed a sample at a time.
use policy::{
    Action, Config, Decision, Knobs, Machine, NodeObservation, Observation, Policy, Pressure,
    Vmstat, Watermarks,
};

/// One node, whose figures a test sets. Pages.
#[derive(Clone, Debug)]
pub struct TestNode {
    pub id: u32,
    pub managed: u64,
    pub free: u64,
    pub watermarks: Watermarks,
    pub file: u64,
    pub huge: u64,
    pub stolen: Option<u64>,
    pub blocks: Vec<u64>,
}

impl TestNode {
    /// A node of 4 GB, half of it free.
    pub fn new(id: u32) -> Self {
        TestNode {
            id,
            managed: 1_000_000,
            free: 500_000,
            watermarks: Watermarks {
                min: 4_000,
                low: 5_000,
                high: 6_000,
            },
            file: 400_000,
            huge: 0,
            stolen: None,
            blocks: vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 400],
        }
    }
}

/// A machine, its policy and the last decision.
pub struct TestMachine {
    pub policy: Policy,
    pub nodes: Vec<TestNode>,
    pub now_s: f64,
    pub vmstat: Vmstat,
    pub stall_us: u64,
    pub knobs: Knobs,
    pub seen: Observation<'static>,
    pub decision: Decision,
    /// Whether the policy's writes take effect.
    pub obey: bool,
}

impl TestMachine {
    /// A machine on which only node 0 exists.
    pub fn new(config: Config, machine: Machine) -> Self {
        TestMachine {
            policy: Policy::new(config, machine),
            nodes: vec![TestNode::new(0)],
            now_s: 1000.0,
            vmstat: Vmstat::default(),
            stall_us: 0,
            knobs: Knobs {
                watermark_scale_factor: Some(10),
                ..Knobs::default()
            },
            seen: Observation::default(),
            decision: Decision::default(),
            obey: true,
        }
    }

    /// Has the policy decide now. Returns the actions and their reasons.
    pub fn decide(&mut self) -> Vec<(Action, String)> {
        let nodes: Vec<NodeObservation> = self
            .nodes
            .iter()
            .map(|node| NodeObservation {
                id: node.id,
                managed: node.managed,
                free: node.free,
                watermarks: node.watermarks,
                file: node.file,
                anon: 0,
                huge: node.huge,
                stolen: node.stolen,
                free_blocks: &node.blocks,
            })
            .collect();
        let seen = Observation {
            now_s: self.now_s,
            nodes: &nodes,
            vmstat: self.vmstat,
            psi_memory: Some(Pressure {
                some_total_us: self.stall_us,
                ..Pressure::default()
            }),
            knobs: self.knobs,
            ..self.seen
        };
        self.policy.observe(&seen, &mut self.decision);
        let actions: Vec<_> = self
            .decision
            .actions()
            .map(|(action, why)| (action, why.to_owned()))
            .collect();
        for (action, why) in &actions {
            assert!(!why.is_empty(), "{action:?} has no reason");
            if self.obey {
                match *action {
                    Action::SetWatermarkScaleFactor(value) => {
                        self.knobs.watermark_scale_factor = Some(value);
                        for node in &mut self.nodes {
                            let gap = (node.managed * u64::from(value) / 10_000)
                                .max(node.watermarks.min / 4);
                            (node.watermarks.low, node.watermarks.high) =
                                (node.watermarks.min + gap, node.watermarks.min + 2 * gap);
                        }
                    }
                    Action::SetVfsCachePressure(value) => {
                        self.knobs.vfs_cache_pressure = Some(value)
                    }
                    Action::SetCompactionProactiveness(value) => {
                        self.knobs.compaction_proactiveness = Some(value);
                    }
                    Action::SetNegativeDentryLimit(value) => {
                        self.knobs.negative_dentry_limit = Some(value);
                    }
                    _ => {}
                }
            }
        }
        actions
    }

    /// Has the policy decide after `seconds`.
    pub fn after(&mut self, seconds: f64) -> Vec<(Action, String)> {
        self.now_s += seconds;
        self.decide()
    }

    /// A burst that empties node 0 down to min and stalls for a second.
    pub fn burst(&mut self) -> Vec<(Action, String)> {
        self.nodes[0].free = self.nodes[0].watermarks.low + 10;
        self.after(0.25);
        self.nodes[0].free = self.nodes[0].watermarks.min;
        self.vmstat.pgsteal_kswapd += 10_000;
        self.vmstat.pgsteal_direct += 10_000;
        self.vmstat.allocstall += 100;
        self.stall_us += 250_000;
        let actions = self.after(0.25);
        self.nodes[0].free = self.nodes[0].watermarks.high;
        self.vmstat.pgsteal_kswapd += 10_000;
        self.after(0.25);
        actions
    }

    pub fn wsf(&self) -> u32 {
        self.knobs.watermark_scale_factor.unwrap_or(0)
    }
}

/// A machine with the default configuration, without the action for kswapd's nice value.
pub fn machine() -> TestMachine {
    let config = Config {
        kswapd_nice: 0,
        ..Config::default()
    };
    TestMachine::new(config, Machine::default())
}

/// The values that vm.watermark_scale_factor was set to.
pub fn scale_factors(actions: &[(Action, String)]) -> Vec<u32> {
    actions
        .iter()
        .filter_map(|(action, _)| match action {
            Action::SetWatermarkScaleFactor(value) => Some(*value),
            _ => None,
        })
        .collect()
}

pub fn compactions(actions: &[(Action, String)]) -> usize {
    actions
        .iter()
        .filter(|(action, _)| matches!(action, Action::CompactNode { .. }))
        .count()
}

/// Free blocks of `free` pages, the share `phi` of them in single pages.
pub fn blocks(free: u64, phi: f64) -> Vec<u64> {
    let low = (free as f64 * phi) as u64;
    let mut blocks = vec![0; 11];
    blocks[10] = (free - low) / 1024;
    blocks[0] = free - blocks[10] * 1024;
    blocks
}

/// Takes `step` pages of a node every `seconds`, `times` times.
pub fn fall(machine: &mut TestMachine, node: usize, seconds: f64, step: u64, times: usize) {
    for _ in 0..times {
        machine.nodes[node].free -= step;
        machine.after(seconds);
    }
}
