//! Shows the model to the policy, as the daemon shows it a kernel.
use super::kernel::{AskedRate, Kernel, ORDERS};
use policy::{
    Config, Decision, Knobs, Machine, Meminfo, Modules, NodeObservation, Observation, Policy,
    Pressure, Vmstat, Watermarks,
};

/// The settings of a closed loop.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Whether the kernel has a file with which a node is reclaimed.
    pub node_reclaim: bool,
    /// The speed of that reclaim.
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

/// The daemon's policy, in front of the model's kernel.
pub struct Observer {
    policy: Policy,
    blocks: [u64; ORDERS],
}

impl Observer {
    pub fn new(level: u8, settings: &Settings) -> Self {
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
        Observer {
            policy: Policy::new(config, machine),
            blocks: [0; ORDERS],
        }
    }

    /// Takes a sample, as the kernel's files would give it: whole pages, and watermarks as zoneinfo has
    /// them. The policy's decision goes to `decision`.
    pub fn sample(&mut self, now_s: f64, kernel: &Kernel, decision: &mut Decision) {
        kernel.free_blocks(&mut self.blocks);
        let stall_us = (kernel.stall_s * 1e6) as u64;
        let nodes = [NodeObservation {
            id: 0,
            managed: kernel.machine.managed as u64,
            free: kernel.free as u64,
            watermarks: Watermarks {
                min: kernel.machine.min as u64,
                low: kernel.low as u64,
                high: kernel.high as u64,
            },
            file: kernel.cache as u64,
            anon: kernel.anon.max(0.0) as u64,
            huge: 0,
            stolen: None,
            free_blocks: &self.blocks,
        }];
        let observation = Observation {
            now_s,
            nodes: &nodes,
            vmstat: Vmstat {
                pgsteal_kswapd: kernel.kswapd_steal as u64,
                pgsteal_direct: kernel.direct_steal as u64,
                pgsteal_proactive: kernel.asked_steal as u64,
                // The model has the time of stalls and no count: one stall a step.
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
        self.policy.observe(&observation, decision);
    }
}
