//! The size of the headroom: vm.watermark_scale_factor.
use super::machine::{blocks, machine, scale_factors, TestMachine};
use policy::{Action, Config, Learned, Machine, Warning};

#[test]
fn a_stall_below_min_raises_the_factor_before_any_reclaim() {
    let mut machine = machine();
    machine.nodes[0].free = 5_010;
    machine.decide();
    machine.nodes[0].free = 3_000;
    machine.vmstat.allocstall += 10;
    machine.stall_us += 200_000;
    let actions = machine.after(0.25);
    assert_eq!(
        machine.vmstat.pgsteal_kswapd + machine.vmstat.pgsteal_direct,
        0
    );
    assert!(
        scale_factors(&actions)
            .first()
            .is_some_and(|value| *value > 10),
        "{actions:?}"
    );
}

#[test]
fn a_raise_is_decided_while_fragmentation_is_predicted() {
    let mut machine = machine();
    let mut both = false;
    for round in 0..40u64 {
        machine.nodes[0].blocks = blocks(400_000, 0.1 + 0.02 * round as f64);
        let actions = match round {
            30 => {
                machine.nodes[0].free = 3_000;
                machine.stall_us += 200_000;
                machine.after(0.25)
            }
            _ => machine.after(5.0),
        };
        let fragmented = machine.decision.summary.nodes[0].order.predicted;
        both |= fragmented && !scale_factors(&actions).is_empty();
    }
    assert!(
        both,
        "no sample had a raise while fragmentation was predicted"
    );
}

#[test]
fn the_administrators_value_is_the_floor_and_comes_back() {
    let mut machine = machine();
    machine.knobs.watermark_scale_factor = Some(150);
    machine.nodes[0].watermarks.low = 4_000 + 15_000;
    machine.nodes[0].watermarks.high = 4_000 + 30_000;
    machine.decide();
    for _ in 0..5 {
        machine.burst();
    }
    assert!(machine.wsf() > 150, "the factor was never raised");
    machine.nodes[0].free = 500_000;
    for _ in 0..20_000 {
        machine.after(10.0);
        assert!(machine.wsf() >= 150);
    }
    assert_eq!(
        machine.wsf(),
        150,
        "the factor is not given back after two quiet days"
    );
}

#[test]
fn the_policy_yields_to_the_administrators_write_with_one_warning() {
    let mut machine = machine();
    machine.decide();
    machine.burst();
    assert!(machine.wsf() > 10);
    machine.knobs.watermark_scale_factor = Some(33);
    let actions = machine.after(1.0);
    let yielded = |actions: &[(Action, String)]| {
        actions
            .iter()
            .filter(|(action, _)| *action == Action::Warn(Warning::Yielded))
            .count()
    };
    assert_eq!(yielded(&actions), 1);
    for _ in 0..10 {
        let actions = machine.burst();
        assert!(scale_factors(&actions).is_empty() && yielded(&actions) == 0);
    }
    assert_eq!(machine.wsf(), 33);
}

/// `sysctl --system`, or a configuration manager.
#[test]
fn the_administrators_value_written_again_does_not_end_the_policy() {
    let mut machine = machine();
    machine.decide();
    machine.burst();
    let raised = machine.wsf();
    assert!(raised > 10);
    machine.knobs.watermark_scale_factor = Some(10);
    let mut warned = machine.after(1.0);
    // A value is asked for again after a minute.
    for _ in 0..30 {
        warned.extend(machine.after(2.5));
    }
    assert!(machine.wsf() >= raised, "{}", machine.wsf());
    assert!(!warned
        .iter()
        .any(|(action, _)| *action == Action::Warn(Warning::Yielded)));
}

#[test]
fn the_cap_follows_huge_pages_down_and_up() {
    let mut machine = machine();
    let cap = |machine: &mut TestMachine, huge: u64| {
        machine.nodes[0].huge = huge;
        machine.nodes[0].file = (1_000_000 - huge) / 2;
        machine.nodes[0].free = 20_000;
        machine.after(60.0);
        machine.decision.summary.free_pages.cap
    };
    let before = cap(&mut machine, 0);
    let heavy = cap(&mut machine, 960_000);
    // High stands two gaps above min. The two gaps are at most 8% of the 36,000 pages that can be free.
    // Where the administrator sets the bound, they are at most a quarter.
    assert!(2 * u64::from(heavy) * 100 <= 36_000 * 8 / 100, "{heavy}");
    let configured = Config {
        watermark_scale_factor_max: Some(1000),
        ..Config::default()
    };
    let further = cap(
        &mut TestMachine::new(configured, Machine::default()),
        960_000,
    );
    assert!(heavy < further, "{further}");
    assert!(2 * u64::from(further) * 100 <= 36_000 / 4, "{further}");
    assert!(heavy < before);
    assert_eq!(cap(&mut machine, 0), before);
}

/// Free pages are no cache: at most 4% of memory stands free, and 8% of what can become free.
#[test]
fn the_cap_leaves_room_where_file_pages_are_few() {
    let mut machine = machine();
    let mut gaps = |file: u64| {
        machine.nodes[0].file = file;
        machine.nodes[0].free = 20_000;
        machine.after(60.0);
        2 * 100 * u64::from(machine.decision.summary.free_pages.cap)
    };
    // Of the 1,000,000 managed pages 4,000 are min.
    assert_eq!(gaps(984_000), 40_000);
    assert_eq!(gaps(184_000), 16_000);
    assert_eq!(gaps(64_000), 6_400);
}

fn after_thirty_bursts() -> TestMachine {
    let mut machine = machine();
    machine.decide();
    for _ in 0..30 {
        machine.burst();
    }
    machine
}

/// Where a program takes most of memory, the gap follows.
#[test]
fn a_gap_that_became_too_large_is_lowered_in_seconds() {
    let mut machine = after_thirty_bursts();
    let before = machine.wsf();
    machine.nodes[0].file = 60_000;
    machine.nodes[0].free = 10_000;
    for _ in 0..10 {
        machine.after(1.0);
    }
    let cap = machine.decision.summary.free_pages.cap;
    assert!(cap < before / 2, "{before} {cap}");
    assert!(machine.wsf() <= cap.max(10), "{} {cap}", machine.wsf());
}

/// Each kill frees pages, which the next hog takes.
#[test]
fn the_gap_does_not_follow_memory_that_is_short_again_and_again() {
    let mut machine = after_thirty_bursts();
    let mut writes = 0;
    for round in 0..80 {
        let before = machine.wsf();
        machine.nodes[0].file = [60_000, 900_000][round % 2];
        machine.nodes[0].free = 10_000;
        machine.after(0.25);
        writes += u32::from(machine.wsf() != before);
    }
    assert_eq!(writes, 0, "the gap stays in 20 s");
}

/// A program starts: memory is short for a second. The gap may be lowered, but it is soon back.
#[test]
fn the_gap_is_back_seconds_after_memory_was_short() {
    let mut machine = after_thirty_bursts();
    let before = machine.wsf();
    let mut second = |file| {
        machine.nodes[0].file = file;
        machine.nodes[0].free = 10_000;
        machine.after(1.0);
        machine.wsf()
    };
    second(60_000);
    let mut factor = 0;
    for _ in 0..10 {
        factor = second(900_000);
    }
    // It is raised for a tenth or more.
    assert!(factor * 11 / 10 >= before, "{factor} {before}");
}

/// On a small machine a burst is no smaller.
#[test]
fn the_cap_is_16_mib_where_memory_is_small() {
    let mut machine = machine();
    let node = &mut machine.nodes[0];
    (node.managed, node.file, node.free) = (60_000, 50_000, 5_000);
    machine.after(1.0);
    let cap = f64::from(machine.decision.summary.free_pages.cap);
    let bytes = 2.0 * cap / 10_000.0 * 60_000.0 * 4096.0;
    assert!((15e6..17e6).contains(&bytes), "{bytes}");
}

#[test]
fn the_factor_stays_below_the_configured_bounds() {
    for (config_max, gap_bytes) in [(Some(50), None), (None, Some(4096 * 5_000))] {
        let config = Config {
            aggressiveness: 3,
            watermark_scale_factor_max: config_max,
            max_gap_bytes: gap_bytes,
            ..Config::default()
        };
        let mut machine = TestMachine::new(config, Machine::default());
        machine.decide();
        for _ in 0..30 {
            machine.burst();
            assert!(machine.wsf() <= 50);
        }
        assert!(machine.wsf() > 10);
    }
}

#[test]
fn the_factor_reaches_the_kernels_own_bound() {
    let run = |kernel: u32| {
        let config = Config {
            watermark_scale_factor_max: Some(3000),
            ..Config::default()
        };
        let machine = Machine {
            watermark_scale_factor_max: kernel,
            ..Machine::default()
        };
        let mut machine = TestMachine::new(config, machine);
        machine.nodes[0].free = 900_000;
        // Enough reclaimable pages for the kernel's bound to be the lowest.
        machine.nodes[0].file = 1_900_000;
        machine.decide();
        for _ in 0..10 {
            machine.nodes[0].free = machine.nodes[0].watermarks.low + 10;
            machine.after(0.25);
            machine.nodes[0].free = machine.nodes[0].watermarks.min;
            machine.stall_us += 250_000;
            machine.vmstat.pgsteal_direct += 150_000;
            machine.after(0.25);
            machine.nodes[0].free = machine.nodes[0].watermarks.high;
            machine.after(0.25);
        }
        machine.wsf()
    };
    assert_eq!(run(1000), 1000);
    assert!(run(3000) > 1000);
}

#[test]
fn the_factor_fits_the_burst_and_does_not_flutter() {
    let mut machine = machine();
    machine.decide();
    // A burst of 3000 pages needs a factor of 30 and a margin.
    machine.nodes[0].free = 5_000 - 3_000;
    machine.after(0.25);
    let first = machine.wsf();
    assert!((30..=60).contains(&first), "{first}");
    let mut writes = 0;
    for round in 0..200 {
        machine.nodes[0].free = machine.nodes[0].watermarks.high + 500 * (round % 2);
        writes += scale_factors(&machine.after(1.0)).len();
    }
    assert!(writes <= 1, "{writes} writes with nothing new");
}

#[test]
fn a_write_without_effect_is_asked_for_once_a_minute() {
    let mut machine = machine();
    machine.obey = false;
    machine.decide();
    let mut asked = 0;
    for _ in 0..100 {
        let actions = machine.burst();
        asked += scale_factors(&actions).len();
        assert!(!actions
            .iter()
            .any(|(action, _)| *action == Action::Warn(Warning::Yielded)));
    }
    assert!((1..=20).contains(&asked), "{asked}");
}

/// The reasons to reclaim a node ahead of time, for each number of free pages.
fn reasons_to_reclaim(free: u64) -> Vec<String> {
    let reclaim = Machine {
        node_reclaim: true,
        ..Machine::default()
    };
    let mut machine = TestMachine::new(Config::default(), reclaim);
    machine.obey = false;
    machine.decide();
    for _ in 0..5 {
        machine.burst();
    }
    let mut reasons = Vec::new();
    for _ in 0..200 {
        machine.nodes[0].free = free;
        let actions = machine.after(1.0);
        let reclaims = actions
            .into_iter()
            .filter(|(action, _)| matches!(action, Action::ReclaimNode { .. }));
        reasons.extend(reclaims.map(|(_, why)| why));
    }
    reasons
}

#[test]
fn a_reason_to_reclaim_has_no_negative_number() {
    // The low watermark of the machine is 5000 pages.
    for (free, wanted) in [
        (4_200, "800 pages below low"),
        (5_020, "20 pages above low"),
    ] {
        let reasons = reasons_to_reclaim(free);
        assert!(!reasons.is_empty(), "{free} free pages and no reclaim");
        for why in reasons {
            assert!(why.contains(wanted), "{why}");
            assert!(!why.contains(" -"), "{why}");
        }
    }
}

/// The machine after a restart, `age_s` seconds later.
fn restarted(before: &TestMachine, age_s: f64) -> TestMachine {
    let mut learned = Learned::default();
    before.policy.learned(&mut learned);
    let mut after = machine();
    after.policy.recall(&learned, after.now_s, age_s);
    after
}

#[test]
fn bursts_that_were_learned_are_known_at_the_next_start_and_fade() {
    let mut before = machine();
    before.obey = false;
    before.nodes[0].watermarks.low = 8_000;
    before.decide();
    for burst in 0..60 {
        before.nodes[0].free = 5_000 - 20 * burst;
        before.after(0.25);
        before.nodes[0].free = 500_000;
        before.after(15.0);
    }
    before.after(1.0);
    let (wanted, cap) = (
        before.decision.summary.free_pages.wanted,
        before.decision.summary.free_pages.cap,
    );
    assert!(wanted > 20 && wanted < cap, "{wanted} of {cap}");
    let mut next = restarted(&before, 0.0);
    assert_eq!(scale_factors(&next.decide()), [wanted]);
    // A night later nothing is asked for, until the first burst.
    let mut next = restarted(&before, 8.0 * 3600.0);
    assert_eq!(scale_factors(&next.decide()), []);
    next.nodes[0].free = 4_400;
    let raised = scale_factors(&next.after(0.25));
    assert!(raised.iter().any(|factor| *factor >= wanted), "{raised:?}");
}

/// The node's min was boosted, or blocks of the wanted order were missing.
#[test]
fn a_stall_beside_enough_free_pages_teaches_nothing() {
    let mut machine = machine();
    machine.decide();
    for _ in 0..20 {
        machine.vmstat.pgsteal_direct += 5_000;
        machine.vmstat.allocstall += 100;
        machine.stall_us += 100_000;
        assert_eq!(scale_factors(&machine.after(0.25)), []);
    }
}
