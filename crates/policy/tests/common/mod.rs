//! A machine to look at, a sample at a time.
#![allow(dead_code)]
use policy::{
    Action, Config, Decision, Knobs, Machine, NodeObservation, Observation, Policy, Pressure,
    Vmstat,
};

/// One node of a machine that a test moves as it likes.
#[derive(Clone, Debug)]
pub struct TestNode {
    pub id: u32,
    pub managed: u64,
    pub free: u64,
    pub min: u64,
    pub low: u64,
    pub high: u64,
    pub file: u64,
    pub huge: u64,
    pub stolen: Option<u64>,
    pub blocks: Vec<u64>,
}

impl TestNode {
    /// 4 GB with nothing special about it.
    pub fn new(id: u32) -> Self {
        TestNode {
            id,
            managed: 1_000_000,
            free: 500_000,
            min: 4_000,
            low: 5_000,
            high: 6_000,
            file: 400_000,
            huge: 0,
            stolen: None,
            blocks: vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 400],
        }
    }
}

pub struct Bench {
    pub policy: Policy,
    pub nodes: Vec<TestNode>,
    pub now_s: f64,
    pub vmstat: Vmstat,
    pub stall_us: u64,
    pub knobs: Knobs,
    pub seen: Observation<'static>,
    pub decision: Decision,
    /// Are the policy's writes done?
    pub obey: bool,
}

impl Bench {
    pub fn new(config: Config, machine: Machine) -> Self {
        Bench {
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

    /// Looks now; returns the actions and their reasons.
    pub fn look(&mut self) -> Vec<(Action, String)> {
        let nodes: Vec<NodeObservation> = self
            .nodes
            .iter()
            .map(|node| NodeObservation {
                id: node.id,
                managed: node.managed,
                free: node.free,
                min: node.min,
                low: node.low,
                high: node.high,
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
                            let gap = (node.managed * u64::from(value) / 10_000).max(node.min / 4);
                            (node.low, node.high) = (node.min + gap, node.min + 2 * gap);
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

    /// Looks after `seconds`.
    pub fn after(&mut self, seconds: f64) -> Vec<(Action, String)> {
        self.now_s += seconds;
        self.look()
    }

    /// A burst that empties node 0 down to min and stalls for a second.
    pub fn burst(&mut self) -> Vec<(Action, String)> {
        self.nodes[0].free = self.nodes[0].low + 10;
        self.after(0.25);
        self.nodes[0].free = self.nodes[0].min;
        self.vmstat.pgsteal_kswapd += 10_000;
        self.vmstat.pgsteal_direct += 10_000;
        self.vmstat.allocstall += 100;
        self.stall_us += 250_000;
        let actions = self.after(0.25);
        self.nodes[0].free = self.nodes[0].high;
        self.vmstat.pgsteal_kswapd += 10_000;
        self.after(0.25);
        actions
    }

    pub fn wsf(&self) -> u32 {
        self.knobs.watermark_scale_factor.unwrap_or(0)
    }
}

/// The values that vm.watermark_scale_factor was set to.
pub fn wsf_of(actions: &[(Action, String)]) -> Vec<u32> {
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
