//! All modules, run with every observation.
use crate::modules::delta::Delta;
use crate::modules::fragmentation::Fragmentation;
use crate::modules::free_pages::headroom::FreePages;
use crate::modules::kswapd::Kswapd;
use crate::modules::leak::Leak;
use crate::modules::negative_dentries::NegativeDentries;
use crate::modules::object_caching::ObjectCaching;
use crate::modules::tunables::Tunables;
use crate::{Config, Decision, Learned, Machine, Observation, Pressure, Rates, Vmstat};

/// All modules and their state.
pub struct Policy {
    config: Config,
    machine: Machine,
    before: Option<Before>,
    free_pages: FreePages,
    kswapd: Kswapd,
    fragmentation: Fragmentation,
    negative_dentries: NegativeDentries,
    object_caching: ObjectCaching,
    leak: Leak,
    tunables: Tunables,
}

/// The figures of the last observation.
#[derive(Clone, Copy)]
struct Before {
    now_s: f64,
    vmstat: Vmstat,
    psi_memory: Option<Pressure>,
    /// Free pages of all nodes.
    free: u64,
}

impl Policy {
    /// Makes all the room that [`Policy::observe`] needs.
    pub fn new(config: Config, machine: Machine) -> Self {
        Policy {
            free_pages: FreePages::new(&config, &machine),
            kswapd: Kswapd::new(&machine),
            fragmentation: Fragmentation::new(&config, &machine),
            negative_dentries: NegativeDentries::default(),
            object_caching: ObjectCaching::default(),
            leak: Leak::default(),
            tunables: Tunables::default(),
            config,
            machine,
            before: None,
        }
    }

    /// Adds to `learned` what the next policy begins with by [`Policy::recall`].
    pub fn learned(&self, learned: &mut Learned) {
        if let Some(before) = self.before {
            self.free_pages.learned(before.now_s, learned);
        }
    }

    /// Begins with what an earlier policy learned, `age_s` seconds ago.
    pub fn recall(&mut self, learned: &Learned, now_s: f64, age_s: f64) {
        self.free_pages.recall(learned, now_s, age_s);
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Takes one observation and fills `decision`, which it clears first.
    ///
    /// An observation that is not later than the last one is left out, because the clock is wrong.
    pub fn observe(&mut self, seen: &Observation, decision: &mut Decision) {
        decision.clear();
        decision.next_sample_s = self.config.sample_near_s;
        let free: u64 = seen.nodes.iter().map(|node| node.free).sum();
        let Some(delta) = self.delta(seen) else {
            return;
        };
        decision.summary.rates = rates(&delta, self.before.map(|before| before.free), free);
        self.before = Some(Before {
            now_s: seen.now_s,
            vmstat: seen.vmstat,
            psi_memory: seen.psi_memory,
            free,
        });

        self.free_pages.observe(seen, &delta, decision);
        let modules = self.config.modules;
        if modules.tunables {
            self.tunables.run(seen, &self.config, decision);
        }
        if modules.free_pages {
            self.kswapd.run(seen, &self.config, decision);
            self.free_pages
                .decide(seen, &delta, &self.config, &self.machine, decision);
        }
        if modules.fragmentation {
            self.fragmentation.run(seen, &self.config, decision);
        }
        if modules.negative_dentries {
            self.negative_dentries.run(seen, &self.config, decision);
        }
        if modules.object_caching {
            self.object_caching.run(seen, &self.config, decision);
        }
        if modules.leak_check {
            self.leak.run(seen, decision);
        }
        decision.next_sample_s = self.free_pages.next_sample_s(seen, &self.config);
    }

    fn delta(&self, seen: &Observation) -> Option<Delta> {
        let Some(before) = self.before else {
            return Some(Delta::default());
        };
        let elapsed_s = seen.now_s - before.now_s;
        if elapsed_s.is_nan() || elapsed_s <= 0.0 {
            return None;
        }
        // A counter that goes back was reset: there are no events, rather than 2^64.
        let grown = |now: u64, then: u64| now.saturating_sub(then) as f64;
        let (now, vmstat) = (seen.vmstat, before.vmstat);
        let allocstall = grown(now.allocstall, vmstat.allocstall);
        let stall_s = match (seen.psi_memory, before.psi_memory) {
            (Some(now), Some(then)) => grown(now.some_total_us, then.some_total_us) / 1e6,
            // Without PSI the whole interval may have been a stall.
            _ if allocstall > 0.0 => elapsed_s,
            _ => 0.0,
        };
        Some(Delta {
            elapsed_s,
            kswapd: grown(now.pgsteal_kswapd, vmstat.pgsteal_kswapd),
            direct: grown(now.pgsteal_direct, vmstat.pgsteal_direct),
            proactive: grown(now.pgsteal_proactive, vmstat.pgsteal_proactive),
            refaults: grown(now.workingset_refault, vmstat.workingset_refault),
            allocstall,
            stall_s: stall_s.min(elapsed_s),
        })
    }
}

fn rates(delta: &Delta, free_before: Option<u64>, free: u64) -> Rates {
    let Some(free_before) = free_before.filter(|_| delta.elapsed_s > 0.0) else {
        return Rates::default();
    };
    let taken = free_before as f64 - free as f64 + delta.stolen();
    Rates {
        demand: taken / delta.elapsed_s,
        kswapd: delta.kswapd / delta.elapsed_s,
        direct: delta.direct / delta.elapsed_s,
        proactive: delta.proactive / delta.elapsed_s,
        refaults: delta.refaults / delta.elapsed_s,
        allocstall: delta.allocstall / delta.elapsed_s,
        ..Rates::default()
    }
}
