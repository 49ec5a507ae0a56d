//! The prediction of fragmentation, and compaction.
use super::machine::{blocks, compactions, machine, TestMachine};
use policy::{Action, Config, Machine};

/// Times at which the node was compacted while the share of single pages went from `from` to `to`.
pub fn ramp(machine: &mut TestMachine, from: f64, to: f64) -> Vec<f64> {
    let mut compacted = Vec::new();
    for round in 0..60 {
        let phi = from + (to - from) * f64::from(round) / 60.0;
        machine.nodes[0].blocks = blocks(400_000, phi);
        if compactions(&machine.after(5.0)) > 0 {
            compacted.push(machine.now_s);
        }
    }
    compacted
}

#[test]
fn a_node_is_compacted_only_while_its_large_blocks_go() {
    assert!(!ramp(&mut machine(), 0.1, 0.99).is_empty());
    assert!(ramp(&mut machine(), 0.99, 0.1).is_empty());
    assert!(
        ramp(&mut machine(), 0.97, 0.97).is_empty(),
        "fragmented, but not getting worse"
    );
}

/// A minute in which free pages and pages in blocks of order 9 change so many a second. Returns whether anything was
/// done about fragmentation.
fn minute(free: i64, large: i64) -> (TestMachine, bool) {
    let mut machine = machine();
    machine.knobs.compaction_proactiveness = Some(20);
    let mut acted = false;
    for second in 0..60 {
        let large = 200_000 + large * second;
        machine.nodes[0].free = (400_000 + free * second) as u64;
        machine.nodes[0].blocks = vec![0; 11];
        machine.nodes[0].blocks[9] = large as u64 / 512;
        machine.nodes[0].blocks[0] = machine.nodes[0].free - machine.nodes[0].blocks[9] * 512;
        let fragmentation = |(action, _): &(Action, String)| {
            matches!(
                action,
                Action::CompactNode { .. } | Action::SetCompactionProactiveness(_)
            )
        };
        acted |= machine.after(1.0).iter().any(fragmentation);
    }
    (machine, acted)
}

#[test]
fn large_blocks_that_grow_more_slowly_than_small_ones_have_no_end() {
    let (machine, acted) = minute(20_000, 512);
    let order = machine.decision.summary.nodes[0].order;
    assert!(!acted && !order.predicted);
    assert_eq!(order.time_to_exhaustion_s, None);
    assert!((order.slope - 512.0).abs() < 60.0, "{}", order.slope);
    // Small blocks that are freed take nothing from large ones that stay.
    let (machine, acted) = minute(20_000, 0);
    let order = machine.decision.summary.nodes[0].order;
    assert!(!acted && order.time_to_exhaustion_s.is_none());
    // Large blocks that go have an end, whether free memory grows or not.
    for free in [20_000, 0] {
        let (machine, acted) = minute(free, -2048);
        let order = machine.decision.summary.nodes[0].order;
        assert!(acted && order.slope < -1900.0, "{free}: {}", order.slope);
        assert!(order.time_to_exhaustion_s.is_some(), "{free}");
    }
}

#[test]
fn compactions_are_a_minute_apart_and_further_where_they_bring_nothing() {
    let compacted = ramp(&mut machine(), 0.1, 0.99);
    assert!(
        compacted.windows(2).all(|pair| pair[1] - pair[0] >= 60.0),
        "{compacted:?}"
    );
    // A compaction that brings nothing makes the next wait longer.
    assert!(compacted.len() <= 3, "{compacted:?}");
}

#[test]
fn free_blocks_of_any_number_of_orders_are_counted() {
    for orders in [1usize, 6, 11, 14] {
        let machine = Machine {
            huge_order: 4,
            ..Machine::default()
        };
        let mut machine = TestMachine::new(Config::default(), machine);
        machine.nodes[0].blocks = vec![3; orders];
        machine.decide();
        let expected: u64 = (4..orders).map(|order| 3u64 << order).sum();
        assert_eq!(machine.decision.summary.nodes[0].order.available, expected);
    }
}
