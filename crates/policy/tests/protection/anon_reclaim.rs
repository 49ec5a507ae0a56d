//! Reclaim of anonymous memory ahead of kswapd.
use super::snapshots::{config, node, snapshot};
use policy::protect::Protect;
use policy::snapshot::{NodeSnapshot, Snapshot};

const PAGE: u64 = 4096;

/// Pages to reclaim at the second of two snapshots, 5 ms apart, between which `taken` free pages were taken.
fn reclaimed(node: NodeSnapshot, taken: u64, swap_free: u64) -> Option<u64> {
    let mut protect = Protect::new(config(), PAGE);
    let mut outcome = None;
    for (now_s, free) in [(1.0, node.free + taken), (1.005, node.free)] {
        let nodes = [NodeSnapshot { free, ..node }];
        let seen = Snapshot {
            now_s,
            swap_free,
            ..snapshot(&nodes)
        };
        outcome = protect.decide(&seen).reclaim_anon;
    }
    outcome.map(|(id, bytes)| {
        assert_eq!(id, 0);
        bytes / PAGE
    })
}

fn below_the_line(free: u64) -> NodeSnapshot {
    NodeSnapshot {
        free,
        file: 150_000,
        ..node()
    }
}

#[test]
fn anonymous_memory_is_reclaimed_ahead_within_bounds() {
    let short = below_the_line(5_200);
    // Free pages go up to high.
    assert_eq!(reclaimed(short, 0, 90_000), Some(800));
    // At most a 64th of the node at once.
    assert_eq!(reclaimed(short, 20_000, 90_000), Some(15_625));
    // The anonymous floor and half of swap's room bound the reclaim.
    let anon = NodeSnapshot {
        anon: 150_500,
        ..short
    };
    assert_eq!(reclaimed(anon, 0, 90_000), Some(500));
    assert_eq!(reclaimed(short, 0, 1_200), Some(600));
    assert_eq!(reclaimed(short, 0, 0), None);
}

/// Pages are kept free for the demand until the next snapshot, and no more.
#[test]
fn free_pages_are_kept_for_the_demand_between_two_snapshots() {
    let at = |free, taken| reclaimed(below_the_line(free), taken, 90_000);
    // Between the watermarks kswapd sleeps.
    assert_eq!(at(5_600, 0), None);
    assert_eq!(at(5_600, 400), None);
    // kswapd would be awake at the next snapshot: free pages go to twice the demand.
    assert_eq!(at(5_600, 700), Some(800));
    // Free pages go to at most a 64th of the node above low.
    assert_eq!(at(5_000 + 15_625, 90_000), None);
}
