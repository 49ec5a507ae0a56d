//! All modules together.
use super::fragmentation::ramp;
use super::machine::{machine, TestMachine, TestNode};
use policy::{Config, Decision, Knobs, Machine, Observation, Watermarks};

#[test]
fn every_aggressiveness_leaves_time_between_samples() {
    for aggressiveness in [0, 1, 3, 255] {
        let config = Config {
            aggressiveness,
            ..Config::default()
        };
        let mut machine = TestMachine::new(config, Machine::default());
        for _ in 0..40 {
            machine.burst();
            assert!(machine.decision.next_sample_s >= 0.25);
        }
        for _ in 0..40 {
            machine.after(10.0);
        }
        assert_eq!(
            machine.decision.next_sample_s, 10.0,
            "asleep when nothing happens"
        );
    }
}

#[test]
fn empty_samples_and_reset_counters_give_finite_numbers() {
    let mut machine = machine();
    machine.nodes.clear();
    machine.decide();
    machine.after(0.0);
    machine.after(-5.0);
    machine.now_s = f64::NAN;
    machine.decide();
    machine.now_s = 2000.0;
    machine.nodes.push(TestNode {
        id: 7,
        managed: 0,
        free: 0,
        watermarks: Watermarks {
            min: 0,
            low: 0,
            high: 0,
        },
        file: 0,
        huge: 5,
        stolen: Some(3),
        blocks: Vec::new(),
    });
    for _ in 0..50 {
        machine.after(1.0);
        assert!(machine.decision.next_sample_s.is_finite());
        assert_eq!(machine.wsf(), 10);
    }
    // The counters are reset.
    machine.vmstat.pgsteal_kswapd = 1_000_000;
    machine.after(1.0);
    machine.vmstat.pgsteal_kswapd = 0;
    machine.nodes[0].stolen = Some(0);
    machine.after(1.0);
    assert!(machine.decision.summary.rates.kswapd.abs() < 1.0);
}

#[test]
fn modules_that_are_off_ask_for_nothing() {
    let mut config = Config::default();
    let modules = &mut config.modules;
    modules.free_pages = false;
    modules.fragmentation = false;
    modules.negative_dentries = false;
    modules.object_caching = false;
    modules.leak_check = false;
    modules.tunables = false;
    let mut machine = TestMachine::new(
        config,
        Machine {
            node_reclaim: true,
            ..Machine::default()
        },
    );
    machine.knobs = Knobs {
        watermark_scale_factor: Some(10),
        compaction_proactiveness: Some(20),
        vfs_cache_pressure: Some(100),
        negative_dentry_limit: Some(900),
    };
    machine.seen.meminfo.total = 1_000_000;
    for _ in 0..10 {
        assert!(machine.burst().is_empty());
    }
    assert!(ramp(&mut machine, 0.1, 0.99).is_empty());
    let mut decision = Decision::default();
    machine
        .policy
        .observe(&Observation::default(), &mut decision);
}

/// The clock stands still while a machine sleeps, and goes on where a virtual machine was stopped.
#[test]
fn a_machine_that_was_asleep_gives_no_wrong_rate_and_no_forecast() {
    for (gap_s, lost) in [(10.0, 0), (3.0 * 3600.0, 300_000)] {
        let mut machine = machine();
        machine.seen.meminfo.total = 4_000_000;
        for _ in 0..20 {
            machine.nodes[0].free -= 10;
            machine.after(1.0);
        }
        // Before a hibernation the kernel reclaims a gigabyte at once, which is free afterwards.
        if lost == 0 {
            machine.vmstat.pgsteal_direct += 250_000;
            machine.vmstat.allocstall += 1_000;
            machine.nodes[0].free += 250_000;
        }
        machine.nodes[0].free -= lost;
        let actions = machine.after(gap_s);
        assert_eq!(actions, [], "{gap_s}");
        let summary = &machine.decision.summary;
        let rate = summary.rates.demand;
        assert!((0.0..100.0).contains(&rate), "{gap_s}: {rate}");
        assert!(!summary.nodes[0].predicted, "{gap_s}");
        for _ in 0..20 {
            machine.nodes[0].free -= 10;
            assert_eq!(machine.after(1.0), [], "{gap_s}");
            assert!(!machine.decision.summary.nodes[0].predicted, "{gap_s}");
        }
    }
}
