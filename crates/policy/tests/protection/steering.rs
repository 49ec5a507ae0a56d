//! Steering of reclaim.
use super::snapshots::{hard, node, pages, snapshot};
use policy::snapshot::{NodeSnapshot, Snapshot};
use policy::steering::{Steer, Steering};

const PAGE: u64 = 4096;

#[test]
fn a_node_below_its_own_floor_is_enough_to_steer() {
    // The small node has few file pages. The large one has enough for both.
    let large = NodeSnapshot {
        file: 900_000,
        ..node()
    };
    let small = NodeSnapshot {
        id: 1,
        managed: 100_000,
        file: 5_000,
        anon: 90_000,
        ..node()
    };
    let decided = |nodes: &[NodeSnapshot]| {
        let floors = |node: &NodeSnapshot| hard().pages(node.managed, 1_100_000, 0, PAGE);
        Steering::default().decide(&snapshot(nodes), floors).to
    };
    assert_eq!(decided(&[large, small]), Steer::Anon);
    assert_eq!(decided(&[large]), Steer::Admin);
}

#[test]
fn steering_changes_once_while_pages_move_around_the_line() {
    let mut steering = Steering::default();
    let mut changes = 0;
    let mut before = Steer::Admin;
    for tick in 0..2000 {
        // The line is 18.75%. Pages move by a percent around it.
        let file = 187_500 + if tick % 2 == 0 { 10_000 } else { 0 } - 5_000;
        let nodes = [NodeSnapshot { file, ..node() }];
        let seen = Snapshot {
            now_s: f64::from(tick) * 0.005,
            ..snapshot(&nodes)
        };
        let to = steering.decide(&seen, |_| pages()).to;
        changes += u32::from(to != before);
        before = to;
    }
    assert_eq!((changes, before), (1, Steer::Anon));
}

#[test]
fn steering_begins_at_the_line_and_ends_well_above() {
    let mut steering = Steering::default();
    let mut to = |now_s: f64, file: u64| {
        let nodes = [NodeSnapshot { file, ..node() }];
        let seen = Snapshot {
            now_s,
            ..snapshot(&nodes)
        };
        steering.decide(&seen, |_| pages()).to
    };
    // The floor is 150,000 pages.
    assert_eq!(to(1.0, 188_000), Steer::Admin);
    assert_eq!(to(2.0, 187_000), Steer::Anon);
    assert_eq!(to(3.0, 209_000), Steer::Anon);
    assert_eq!(to(4.0, 210_000), Steer::Admin);
}

#[test]
fn a_floor_is_of_pages_that_are_not_locked() {
    let nodes = [NodeSnapshot {
        file: 100_000,
        ..node()
    }];
    let seen = snapshot(&nodes);
    assert_eq!(
        Steering::default().decide(&seen, |_| pages()).to,
        Steer::Anon
    );
    let seen = Snapshot {
        locked: 100_000,
        ..seen
    };
    assert_eq!(
        Steering::default().decide(&seen, |_| pages()).to,
        Steer::Anon
    );
}
