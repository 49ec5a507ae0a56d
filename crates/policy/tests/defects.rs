//! Every defect that was found in the daemon of 2019 and that concerns a decision: a test that fails
//! on it. Those of reading files are in crates/kernfs/tests/defects.rs, those of configuration, locks
//! and writing in crates/hotsetd/tests/defects.rs.
mod common;

use common::{blocks, compactions, wsf_of, Bench, TestNode};
use policy::{
    Action, Config, Decision, Dentries, Inodes, Knobs, Machine, Meminfo, Observation, Warning,
};

fn bench() -> Bench {
    // kswapd's nice value is set at the start and says nothing here.
    let config = Config {
        kswapd_nice: 0,
        ..Config::default()
    };
    Bench::new(config, Machine::default())
}

/// Falls by `step` pages every `seconds`, `looks` times.
fn fall(bench: &mut Bench, node: usize, seconds: f64, step: u64, looks: usize) {
    for _ in 0..looks {
        bench.nodes[node].free -= step;
        bench.after(seconds);
    }
}

/// Microseconds added as milliseconds: a slope from samples a quarter of a second apart was wrong.
#[test]
fn time_to_low_is_right_below_a_second() {
    let mut bench = bench();
    bench.nodes[0].free = 205_000;
    bench.look();
    fall(&mut bench, 0, 0.25, 250, 12);
    let node = bench.decision.summary.nodes[0];
    // 1000 pages a second, 197,000 pages above low.
    assert!((node.demand - 1000.0).abs() < 1.0, "{node:?}");
    assert!(
        (node.time_to_low_s.unwrap() - 197.0).abs() < 0.5,
        "{node:?}"
    );
}

/// The distance to exhaustion cancelled out of the decision: far and near looked alike.
#[test]
fn distance_counts() {
    let (mut near, mut far) = (bench(), bench());
    near.nodes[0].free = 30_000;
    far.nodes[0].free = 900_000;
    near.look();
    far.look();
    fall(&mut near, 0, 1.0, 1000, 10);
    fall(&mut far, 0, 1.0, 1000, 10);
    assert!(near.decision.summary.nodes[0].predicted);
    assert!(!far.decision.summary.nodes[0].predicted);
}

/// A reclaim rate of zero meant no action, even below the min watermark.
#[test]
fn no_reclaim_seen_is_no_reason_to_wait() {
    let mut bench = bench();
    bench.nodes[0].free = 5_010;
    bench.look();
    bench.nodes[0].free = 3_000;
    bench.vmstat.allocstall += 10;
    bench.stall_us += 200_000;
    let actions = bench.after(0.25);
    assert_eq!(bench.vmstat.pgsteal_kswapd + bench.vmstat.pgsteal_direct, 0);
    assert!(
        wsf_of(&actions).first().is_some_and(|value| *value > 10),
        "{actions:?}"
    );
}

/// A compaction rate of zero discarded a reclaim that was decided already.
#[test]
fn fragmentation_does_not_discard_a_reclaim() {
    let mut bench = bench();
    let mut both = false;
    for look in 0..40u64 {
        bench.nodes[0].blocks = blocks(400_000, 0.1 + 0.02 * look as f64);
        let actions = match look {
            30 => {
                bench.nodes[0].free = 3_000;
                bench.stall_us += 200_000;
                bench.after(0.25)
            }
            _ => bench.after(5.0),
        };
        let fragmented = bench.decision.summary.nodes[0].order.predicted;
        both |= fragmented && !wsf_of(&actions).is_empty();
    }
    assert!(
        both,
        "no look had a raise while fragmentation was predicted"
    );
}

/// The intercept was off by the scaling of the slope by 100.
#[test]
fn the_baseline_has_the_right_intercept() {
    let points: Vec<_> = (0..8)
        .map(|i| (f64::from(i), 1234.0 - 5.0 * f64::from(i)))
        .collect();
    let (slope, intercept) = forecast::least_squares(&points).unwrap();
    assert!((slope + 5.0).abs() < 1e-9 && (intercept - 1234.0).abs() < 1e-9);
}

fn ramp(bench: &mut Bench, from: f64, to: f64) -> Vec<f64> {
    let mut compacted = Vec::new();
    for look in 0..60 {
        let phi = from + (to - from) * f64::from(look) / 60.0;
        bench.nodes[0].blocks = blocks(400_000, phi);
        if compactions(&bench.after(5.0)) > 0 {
            compacted.push(bench.now_s);
        }
    }
    compacted
}

/// The comparison was inverted, and what it called compaction rate was the growth of fragmentation.
#[test]
fn compaction_comes_when_large_blocks_go_and_not_when_they_come() {
    assert!(!ramp(&mut bench(), 0.1, 0.99).is_empty());
    assert!(ramp(&mut bench(), 0.99, 0.1).is_empty());
    assert!(
        ramp(&mut bench(), 0.97, 0.97).is_empty(),
        "fragmented, but not getting worse"
    );
}

/// Two compactions in a row, against its own rule.
#[test]
fn compactions_keep_their_distance() {
    let compacted = ramp(&mut bench(), 0.1, 0.99);
    assert!(
        compacted.windows(2).all(|pair| pair[1] - pair[0] >= 60.0),
        "{compacted:?}"
    );
    // One that brought nothing makes the next wait longer.
    assert!(compacted.len() <= 3, "{compacted:?}");
}

/// All nodes' free pages were compared with the average watermark.
#[test]
fn one_short_node_is_not_hidden_by_another() {
    let mut bench = bench();
    bench.nodes.push(TestNode {
        free: 900_000,
        ..TestNode::new(3)
    });
    bench.nodes[0].free = 30_000;
    bench.look();
    fall(&mut bench, 0, 1.0, 1000, 10);
    let nodes = &bench.decision.summary.nodes;
    assert!(nodes[0].predicted && !nodes[1].predicted, "{nodes:?}");
}

/// Rates of the whole machine were set against the trend of one node.
#[test]
fn what_one_node_stole_is_not_another_nodes_demand() {
    let mut bench = bench();
    bench.nodes.push(TestNode::new(1));
    for node in &mut bench.nodes {
        node.stolen = Some(0);
    }
    bench.look();
    for _ in 0..10 {
        bench.nodes[0].stolen = bench.nodes[0].stolen.map(|stolen| stolen + 5000);
        bench.vmstat.pgsteal_kswapd += 5000;
        bench.after(1.0);
    }
    let nodes = &bench.decision.summary.nodes;
    assert!(
        (nodes[0].demand - 5000.0).abs() < 1.0 && nodes[1].demand.abs() < 1.0,
        "{nodes:?}"
    );
}

/// The number of orders was fixed at 11.
#[test]
fn any_number_of_orders() {
    for orders in [1usize, 6, 11, 14] {
        let machine = Machine {
            huge_order: 4,
            ..Machine::default()
        };
        let mut bench = Bench::new(Config::default(), machine);
        bench.nodes[0].blocks = vec![3; orders];
        bench.look();
        let expected: u64 = (4..orders).map(|order| 3u64 << order).sum();
        assert_eq!(bench.decision.summary.nodes[0].order.available, expected);
    }
}

/// An aggressiveness of 0 spun the CPU: it may not make a sampling interval of nothing.
#[test]
fn any_aggressiveness_leaves_time_between_samples() {
    for aggressiveness in [0, 1, 3, 255] {
        let config = Config {
            aggressiveness,
            ..Config::default()
        };
        let mut bench = Bench::new(config, Machine::default());
        for _ in 0..40 {
            bench.burst();
            assert!(bench.decision.next_sample_s >= 0.25);
        }
        for _ in 0..40 {
            bench.after(10.0);
        }
        assert_eq!(
            bench.decision.next_sample_s, 10.0,
            "asleep when nothing happens"
        );
    }
}

/// vfs_cache_pressure went down for good, and could not rise from 9 or less.
#[test]
fn cache_pressure_comes_back() {
    let config = Config {
        prefer_object_caching: true,
        ..Config::default()
    };
    for start in [5u32, 9, 100] {
        let mut bench = Bench::new(config.clone(), Machine::default());
        bench.knobs.vfs_cache_pressure = Some(start);
        let mut count = 1_000_000;
        let mut lowest = start;
        let mut step = |bench: &mut Bench, count: u64| {
            bench.seen.dentries = Some(Dentries {
                count,
                ..Dentries::default()
            });
            bench.seen.inodes = Some(Inodes::default());
            bench.vmstat.pgsteal_kswapd += 100;
            bench.after(30.0);
            lowest = lowest.min(bench.knobs.vfs_cache_pressure.unwrap());
        };
        for _ in 0..20 {
            step(&mut bench, count);
            count = count * 9 / 10;
        }
        for _ in 0..400 {
            step(&mut bench, count);
        }
        assert_eq!(bench.knobs.vfs_cache_pressure, Some(start));
        assert!(lowest >= start.min(20), "{lowest}");
        assert!(start < 20 || lowest < start, "it was never lowered");
    }
}

/// The administrator's own vm.watermark_scale_factor decayed to 10.
#[test]
fn the_administrators_value_is_the_floor() {
    let mut bench = bench();
    bench.knobs.watermark_scale_factor = Some(150);
    bench.nodes[0].low = 4_000 + 15_000;
    bench.nodes[0].high = 4_000 + 30_000;
    bench.look();
    for _ in 0..5 {
        bench.burst();
    }
    assert!(bench.wsf() > 150, "never raised");
    bench.nodes[0].free = 500_000;
    for _ in 0..20_000 {
        bench.after(10.0);
        assert!(bench.wsf() >= 150);
    }
    assert_eq!(bench.wsf(), 150, "not given back after two quiet days");
}

/// A write of the administrator's is yielded to, with a word about it, once.
#[test]
fn the_administrators_write_is_theirs() {
    let mut bench = bench();
    bench.look();
    bench.burst();
    assert!(bench.wsf() > 10);
    bench.knobs.watermark_scale_factor = Some(33);
    let actions = bench.after(1.0);
    let yielded = |actions: &[(Action, String)]| {
        actions
            .iter()
            .filter(|(action, _)| *action == Action::Warn(Warning::Yielded))
            .count()
    };
    assert_eq!(yielded(&actions), 1);
    for _ in 0..10 {
        let actions = bench.burst();
        assert!(wsf_of(&actions).is_empty() && yielded(&actions) == 0);
    }
    assert_eq!(bench.wsf(), 33);
}

/// The arithmetic of the leak check wrapped around zero.
#[test]
fn more_accounted_for_than_there_is_is_no_leak() {
    let mut bench = bench();
    for look in 0..30 {
        bench.seen.meminfo = Meminfo {
            total: 1_000_000,
            free: 500_000,
            lru: 499_990 + look,
            slab: 100_000,
            ..Meminfo::default()
        };
        assert!(bench.after(60.0).is_empty());
    }
}

/// Leaks themselves are told: sudden ones once, slow ones after ten growths.
#[test]
fn leaks_are_told() {
    let meminfo = |leaked: u64| Meminfo {
        total: 1_000_000,
        free: 900_000 - leaked,
        lru: 90_000,
        ..Meminfo::default()
    };
    let warnings = |bench: &mut Bench, leaked: u64| -> Vec<Action> {
        bench.seen.meminfo = meminfo(leaked);
        bench
            .after(60.0)
            .into_iter()
            .map(|(action, _)| action)
            .collect()
    };
    let mut sudden = bench();
    assert!(warnings(&mut sudden, 0).is_empty());
    assert_eq!(
        warnings(&mut sudden, 50_000),
        [Action::Warn(Warning::SuddenLeak)]
    );
    assert!(warnings(&mut sudden, 50_000).is_empty());
    let mut slow = bench();
    let told: Vec<_> = (0..=10)
        .map(|look| warnings(&mut slow, look * 1000))
        .collect();
    assert!(told[..10].iter().all(Vec::is_empty), "{told:?}");
    assert_eq!(told[10], [Action::Warn(Warning::SlowLeak)]);
}

/// The cap was lowered for huge pages and never raised again; with many huge pages a raise was
/// followed by the OOM killer.
#[test]
fn the_cap_follows_huge_pages_down_and_up() {
    let mut bench = bench();
    let cap = |bench: &mut Bench, huge: u64| {
        bench.nodes[0].huge = huge;
        bench.nodes[0].file = (1_000_000 - huge) / 2;
        bench.nodes[0].free = 20_000;
        bench.after(1.0);
        bench.decision.summary.free_pages.cap
    };
    let before = cap(&mut bench, 0);
    let heavy = cap(&mut bench, 960_000);
    // High stands two gaps above min: at most 8% of the 36,000 pages that can be free, and a quarter
    // where the administrator says how far to go.
    assert!(2 * u64::from(heavy) * 100 <= 36_000 * 8 / 100, "{heavy}");
    let configured = Config {
        watermark_scale_factor_max: Some(1000),
        ..Config::default()
    };
    let further = cap(&mut Bench::new(configured, Machine::default()), 960_000);
    assert!(heavy < further, "{further}");
    assert!(2 * u64::from(further) * 100 <= 36_000 / 4, "{further}");
    assert!(heavy < before);
    assert_eq!(cap(&mut bench, 0), before);
}

/// Where nearly all memory is anonymous, 8% of the few file pages is too small a gap for any burst; but
/// what cannot become free is not asked for there either.
#[test]
fn the_cap_leaves_room_where_file_pages_are_few() {
    let mut bench = bench();
    let mut cap = |file: u64| {
        bench.nodes[0].file = file;
        bench.nodes[0].free = 20_000;
        bench.after(1.0);
        u64::from(bench.decision.summary.free_pages.cap)
    };
    // Two gaps of cap / 10,000 of the 1,000,000 managed pages, of which 4,000 are min.
    assert_eq!(2 * cap(184_000) * 100, 40_000);
    let few = 2 * cap(64_000) * 100;
    assert!(few * 4 <= 80_000 && few * 100 > 80_000 * 8, "{few}");
    assert_eq!(2 * cap(984_000) * 100, 80_000);
}

/// After 16 runs in vain kswapd sleeps until its node is balanced, and allocations reclaim for themselves: on
/// 7.3 for a second and more, each no further than to min.
#[test]
fn kswapd_that_has_given_up_is_brought_back() {
    let machine = Machine {
        node_reclaim: true,
        ..Machine::default()
    };
    let asked = |by_kswapd: u64, file: u64| {
        let mut bench = Bench::new(Config::default(), machine);
        bench.nodes[0].file = file;
        bench.nodes[0].free = bench.nodes[0].min;
        bench.look();
        bench.vmstat.pgsteal_direct += 4_000;
        bench.vmstat.pgsteal_kswapd += by_kswapd;
        let actions = bench.after(0.25);
        let gave_up = actions.iter().find(|(_, why)| why.contains("given up"));
        gave_up.map(|(action, _)| match action {
            Action::ReclaimNode { node: 0, bytes } => bytes / machine.page_size,
            other => panic!("{other:?}"),
        })
    };
    // High is 2,000 pages away, and the node goes on being used meanwhile.
    assert!(asked(0, 400_000).is_some_and(|pages| pages > 2_000));
    // One that does its work is left to it, and what is not there is not asked for.
    assert_eq!(asked(2_000, 400_000), None);
    assert_eq!(asked(0, 400), None);
}

/// A fallback went round the cap.
#[test]
fn nothing_goes_round_the_cap() {
    for (config_max, gap_bytes) in [(Some(50), None), (None, Some(4096 * 5_000))] {
        let config = Config {
            aggressiveness: 3,
            watermark_scale_factor_max: config_max,
            max_gap_bytes: gap_bytes,
            ..Config::default()
        };
        let mut bench = Bench::new(config, Machine::default());
        bench.look();
        for _ in 0..30 {
            bench.burst();
            assert!(bench.wsf() <= 50);
        }
        assert!(bench.wsf() > 10);
    }
}

/// The ceiling was 1000 where the kernel takes 3000.
#[test]
fn the_ceiling_is_the_kernels() {
    let run = |kernel: u32| {
        let config = Config {
            watermark_scale_factor_max: Some(3000),
            ..Config::default()
        };
        let machine = Machine {
            watermark_scale_factor_max: kernel,
            ..Machine::default()
        };
        let mut bench = Bench::new(config, machine);
        bench.nodes[0].free = 900_000;
        bench.nodes[0].file = 1_900_000; // Room enough under the bound of what is reclaimable.
        bench.look();
        for _ in 0..10 {
            bench.nodes[0].free = bench.nodes[0].low + 10;
            bench.after(0.25);
            bench.nodes[0].free = bench.nodes[0].min;
            bench.stall_us += 250_000;
            bench.vmstat.pgsteal_direct += 150_000;
            bench.after(0.25);
            bench.nodes[0].free = bench.nodes[0].high;
            bench.after(0.25);
        }
        bench.wsf()
    };
    assert_eq!(run(1000), 1000);
    assert!(run(3000) > 1000);
}

/// No hysteresis: from 10 to 700 in one step, and back, at every sample.
#[test]
fn the_size_is_that_of_the_need_and_stays() {
    let mut bench = bench();
    bench.look();
    // 3000 pages deep: 30 of 10000 and its margin, not the cap.
    bench.nodes[0].free = 5_000 - 3_000;
    bench.after(0.25);
    let first = bench.wsf();
    assert!((30..=60).contains(&first), "{first}");
    let mut writes = 0;
    for look in 0..200 {
        bench.nodes[0].free = bench.nodes[0].high + 500 * (look % 2);
        writes += wsf_of(&bench.after(1.0)).len();
    }
    assert!(writes <= 1, "{writes} writes with nothing new");
}

/// Division by zero, in every way that a sample can be empty.
#[test]
fn nothing_is_divided_by_nothing() {
    let mut bench = bench();
    bench.nodes.clear();
    bench.look();
    bench.after(0.0);
    bench.after(-5.0);
    bench.now_s = f64::NAN;
    bench.look();
    bench.now_s = 2000.0;
    bench.nodes.push(TestNode {
        id: 7,
        managed: 0,
        free: 0,
        min: 0,
        low: 0,
        high: 0,
        file: 0,
        huge: 5,
        stolen: Some(3),
        blocks: Vec::new(),
    });
    for _ in 0..50 {
        bench.after(1.0);
        assert!(bench.decision.next_sample_s.is_finite());
        assert_eq!(bench.wsf(), 10);
    }
    // Counters that were reset.
    bench.vmstat.pgsteal_kswapd = 1_000_000;
    bench.after(1.0);
    bench.vmstat.pgsteal_kswapd = 0;
    bench.nodes[0].stolen = Some(0);
    bench.after(1.0);
    assert!(bench.decision.summary.rates.kswapd.abs() < 1.0);
}

/// A dry run's writes are not done: the same is not asked for at every sample, and the administrator
/// is not taken to have written.
#[test]
fn a_dry_run_is_not_asked_again_and_again() {
    let mut bench = bench();
    bench.obey = false;
    bench.look();
    let mut asked = 0;
    for _ in 0..100 {
        let actions = bench.burst();
        asked += wsf_of(&actions).len();
        assert!(!actions
            .iter()
            .any(|(action, _)| *action == Action::Warn(Warning::Yielded)));
    }
    assert!((1..=20).contains(&asked), "{asked}");
}

/// Modules that are off do nothing.
#[test]
fn every_module_can_be_switched_off() {
    let mut config = Config::default();
    let modules = &mut config.modules;
    modules.free_pages = false;
    modules.fragmentation = false;
    modules.negative_dentries = false;
    modules.object_caching = false;
    modules.leak_check = false;
    modules.tunables = false;
    let mut bench = Bench::new(
        config,
        Machine {
            node_reclaim: true,
            ..Machine::default()
        },
    );
    bench.knobs = Knobs {
        watermark_scale_factor: Some(10),
        compaction_proactiveness: Some(20),
        vfs_cache_pressure: Some(100),
        negative_dentry_limit: Some(900),
    };
    bench.seen.meminfo.total = 1_000_000;
    for _ in 0..10 {
        assert!(bench.burst().is_empty());
    }
    assert!(ramp(&mut bench, 0.1, 0.99).is_empty());
    let mut decision = Decision::default();
    bench.policy.observe(&Observation::default(), &mut decision);
}

/// kswapd is seen to once a node, and where the configuration says so.
#[test]
fn kswapd_is_seen_to_once_a_node() {
    let renices = |bench: &mut Bench| -> Vec<Action> {
        let actions = bench.after(1.0).into_iter().map(|(action, _)| action);
        actions
            .filter(|action| matches!(action, Action::SetKswapdNice { .. }))
            .collect()
    };
    let mut bench = Bench::new(Config::default(), Machine::default());
    let (node, nice) = (0, -5);
    assert_eq!(renices(&mut bench), [Action::SetKswapdNice { node, nice }]);
    assert_eq!(renices(&mut bench), []);
    assert_eq!(renices(&mut self::bench()), []);
}
