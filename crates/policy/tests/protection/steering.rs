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
        // The line is 18.75% at this rate of fall. Pages move by a percent around it.
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

/// A cache that does not fall is defended at its floor only.
#[test]
fn the_line_is_higher_the_faster_clean_pages_fall() {
    let to = |file: u64, fell: u64| {
        let mut steering = Steering::default();
        let mut to = Steer::Admin;
        for (now_s, file) in [(1.0, file + fell), (1.005, file)] {
            let nodes = [NodeSnapshot { file, ..node() }];
            let seen = Snapshot {
                now_s,
                ..snapshot(&nodes)
            };
            to = steering.decide(&seen, |_| pages()).to;
        }
        to
    };
    assert_eq!(to(154_000, 0), Steer::Admin);
    assert_eq!(to(152_000, 0), Steer::Anon);
    // 500 pages in 5 ms are 10000 in a tenth of a second.
    assert_eq!(to(161_000, 500), Steer::Admin);
    assert_eq!(to(159_000, 500), Steer::Anon);
    // The line is at most a quarter above the floor.
    assert_eq!(to(188_000, 100_000), Steer::Admin);
    assert_eq!(to(187_000, 100_000), Steer::Anon);
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
