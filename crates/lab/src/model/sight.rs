//! What the policy sees of the model.
use super::demand::Trace;
use super::kernel::{AskedRate, Kernel, ORDERS};
use policy::{
    Config, Decision, Knobs, Machine, Meminfo, Modules, NodeObservation, Observation, Policy,
    Pressure, Vmstat,
};

/// What may be chosen for a closed loop.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Has the kernel a file to reclaim a node?
    pub node_reclaim: bool,
    /// How fast it is.
    pub asked_rate: AskedRate,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            node_reclaim: true,
            asked_rate: AskedRate::default(),
        }
    }
}

/// The daemon's policy before the model's kernel.
pub struct Sight {
    policy: Policy,
    blocks: [u64; ORDERS],
}

impl Sight {
    pub fn new(_trace: &Trace, level: u8, settings: &Settings) -> Self {
        let config = Config {
            aggressiveness: level,
            // The model has no dentries, no slab and nothing to leak.
            modules: Modules {
                negative_dentries: false,
                object_caching: false,
                leak_check: false,
                tunables: false,
                ..Modules::default()
            },
            ..Config::default()
        };
        let machine = Machine {
            max_nodes: 1,
            max_orders: ORDERS,
            node_reclaim: settings.node_reclaim,
            ..Machine::default()
        };
        Sight {
            policy: Policy::new(config, machine),
            blocks: [0; ORDERS],
        }
    }

    /// One sample, as the kernel's files would give it: whole pages, watermarks as zoneinfo has them.
    pub fn look(&mut self, now_s: f64, kernel: &Kernel, decision: &mut Decision) {
        kernel.free_blocks(&mut self.blocks);
        let stall_us = (kernel.stall_s * 1e6) as u64;
        let nodes = [NodeObservation {
            id: 0,
            managed: kernel.machine.managed as u64,
            free: kernel.free as u64,
            min: kernel.machine.min as u64,
            low: kernel.low as u64,
            high: kernel.high as u64,
            file: kernel.cache as u64,
            anon: kernel.anon.max(0.0) as u64,
            huge: 0,
            stolen: None,
            free_blocks: &self.blocks,
        }];
        let seen = Observation {
            now_s,
            nodes: &nodes,
            vmstat: Vmstat {
                pgsteal_kswapd: kernel.kswapd_steal as u64,
                pgsteal_direct: kernel.direct_steal as u64,
                pgsteal_proactive: kernel.asked_steal as u64,
                // The model knows stalls by their time: one for each step.
                allocstall: (kernel.stall_s * 100.0).round() as u64,
                ..Vmstat::default()
            },
            psi_memory: Some(Pressure {
                some_total_us: stall_us,
                ..Pressure::default()
            }),
            meminfo: Meminfo {
                total: kernel.machine.managed as u64 * 4,
                free: kernel.free as u64 * 4,
                lru: (kernel.cache + kernel.anon.max(0.0)) as u64 * 4,
                ..Meminfo::default()
            },
            knobs: Knobs {
                watermark_scale_factor: Some(kernel.wsf),
                ..Knobs::default()
            },
            ..Observation::default()
        };
        self.policy.observe(&seen, decision);
    }
}
