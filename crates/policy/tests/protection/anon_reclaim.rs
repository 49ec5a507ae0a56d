//! Reclaim of anonymous memory ahead of kswapd.
use super::snapshots::{config, node, snapshot};
use policy::protect::Protect;
use policy::snapshot::{NodeSnapshot, Snapshot};

const PAGE: u64 = 4096;

/// Pages to reclaim at the last of some snapshots, 5 ms apart. At the first `quiet` ones nothing moves. At
/// the last, `taken` free pages and `lost` clean pages are gone.
fn reclaimed(
    node: NodeSnapshot,
    quiet: u32,
    (taken, lost): (u64, u64),
    swap_free: u64,
) -> Option<u64> {
    let mut protect = Protect::new(config(), PAGE);
    let mut outcome = None;
    for tick in 0..=quiet {
        let (free, file) = match tick == quiet {
            true => (node.free, node.file),
            false => (node.free + taken, node.file + lost),
        };
        let nodes = [NodeSnapshot { free, file, ..node }];
        let seen = Snapshot {
            now_s: 1.0 + f64::from(tick) * 0.005,
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
    assert_eq!(reclaimed(short, 1, (0, 0), 90_000), Some(800));
    // At most a 64th of the node at once.
    assert_eq!(reclaimed(short, 1, (20_000, 0), 90_000), Some(15_625));
    // The anonymous floor and half of swap's room bound the reclaim.
    let anon = NodeSnapshot {
        anon: 150_500,
        ..short
    };
    assert_eq!(reclaimed(anon, 1, (0, 0), 90_000), Some(500));
    assert_eq!(reclaimed(short, 1, (0, 0), 1_200), Some(600));
    assert_eq!(reclaimed(short, 1, (0, 0), 0), None);
}

/// Pages are kept free for the demand until the next snapshot, and no more.
#[test]
fn free_pages_are_kept_for_the_demand_between_two_snapshots() {
    let at = |free, taken| reclaimed(below_the_line(free), 1, (taken, 0), 90_000);
    // Between the watermarks kswapd sleeps.
    assert_eq!(at(5_600, 0), None);
    assert_eq!(at(5_600, 400), None);
    // kswapd would be awake at the next snapshot: free pages go to twice the demand.
    assert_eq!(at(5_600, 700), Some(800));
    // Free pages go to at most a 64th of the node above low.
    assert_eq!(at(5_000 + 15_625, 90_000), None);
}

/// While clean pages hold, kswapd reclaims. A stroke now and then keeps it at anonymous pages.
#[test]
fn kswapd_reclaims_while_clean_pages_hold() {
    let at = |free, taken, lost| reclaimed(below_the_line(free), 100, (taken, lost), 90_000);
    assert_eq!(at(5_200, 10_000, 0), None);
    assert_eq!(at(4_900, 10_000, 0), Some(64));
    assert_eq!(at(4_900, 0, 31), Some(64));
    // kswapd takes file pages all the same.
    assert_eq!(at(4_900, 0, 32), Some(1_100));
}

/// A kswapd that takes file pages whenever it may is forestalled for longer and longer.
#[test]
fn a_kswapd_that_takes_file_pages_is_forestalled_longer_and_longer() {
    let mut protect = Protect::new(config(), PAGE);
    let (mut file, mut relaxed) = (150_000u64, 0u64);
    for tick in 0..12_000u32 {
        let nodes = [NodeSnapshot {
            file,
            ..below_the_line(4_900)
        }];
        let seen = Snapshot {
            now_s: f64::from(tick) * 0.005,
            swap_free: 90_000,
            ..snapshot(&nodes)
        };
        if protect.decide(&seen).reclaim_anon == Some((0, 64 * PAGE)) {
            // kswapd was left to reclaim.
            relaxed += 1;
            file -= 100;
        }
    }
    // kswapd is forestalled for 0.25 s, 0.5 s, 1 s and so on within a minute.
    assert!((3..=10).contains(&relaxed), "{relaxed}");
}
