//! Floors and what keeps them: steering, and reclaim ahead of kswapd.
#[path = "common/sights.rs"]
mod sights;

use policy::floors::{Auto, Floors, Pages, Size, Steer, Steering};
use policy::protect::{Config, Protect};
use policy::sight::{NodeSight, Sight};
use sights::{node, sight};

const PAGE: u64 = 4096;
const AUTO: Auto = Auto {
    anon: 3.0,
    clean: 8.0,
};

fn pages() -> Pages {
    Floors::default().pages(1_000_000, 1_000_000, PAGE, Auto::default())
}

#[test]
fn floors_in_percent_bytes_and_auto_per_node() {
    let floors = Floors {
        anon_min: Size::Percent(10.0),
        clean_min: Size::Bytes(1000 * PAGE),
        clean_low: Size::Auto,
    };
    // A quarter of the machine.
    let found = floors.pages(5_000, 20_000, PAGE, AUTO);
    let wanted = Pages {
        anon_min: 500,
        clean_min: 250,
        clean_low: 400,
    };
    assert_eq!(found, wanted);
    // More than there is: something is left to reclaim.
    let all = Floors {
        anon_min: Size::Bytes(u64::MAX),
        clean_min: Size::Bytes(u64::MAX),
        ..floors
    };
    let found = all.pages(5_000, 20_000, PAGE, AUTO);
    assert!(found.anon_min + found.clean_min <= 4_500, "{found:?}");
}

#[test]
fn unequal_nodes_have_floors_of_their_own() {
    // The small node's file pages are gone, the large one's are plenty: together they are enough.
    let large = NodeSight {
        file: 900_000,
        ..node()
    };
    let small = NodeSight {
        id: 1,
        managed: 100_000,
        file: 5_000,
        anon: 90_000,
        ..node()
    };
    let look = |nodes: &[NodeSight]| {
        let floors = |node: &NodeSight| {
            Floors::default().pages(node.managed, 1_100_000, PAGE, Auto::default())
        };
        Steering::default().look(&sight(nodes), floors).to
    };
    assert_eq!(look(&[large, small]), Steer::Anon);
    assert_eq!(look(&[large]), Steer::Admin);
}

#[test]
fn steering_does_not_flutter_around_its_line() {
    let mut steering = Steering::default();
    let mut changes = 0;
    let mut before = Steer::Admin;
    for tick in 0..2000 {
        // 18.75% is the line where pages fall as fast as here: a percent to and fro.
        let file = 187_500 + if tick % 2 == 0 { 10_000 } else { 0 } - 5_000;
        let nodes = [NodeSight { file, ..node() }];
        let seen = Sight {
            now_s: f64::from(tick) * 0.005,
            ..sight(&nodes)
        };
        let to = steering.look(&seen, |_| pages()).to;
        changes += u32::from(to != before);
        before = to;
    }
    assert_eq!((changes, before), (1, Steer::Anon));
}

/// What is above its floor is nobody's due: a cache that does not fall is defended at its floor only.
#[test]
fn the_line_is_where_the_fall_asks_for_it() {
    let to = |file: u64, fell: u64| {
        let mut steering = Steering::default();
        let mut to = Steer::Admin;
        for (now_s, file) in [(1.0, file + fell), (1.005, file)] {
            let nodes = [NodeSight { file, ..node() }];
            let seen = Sight {
                now_s,
                ..sight(&nodes)
            };
            to = steering.look(&seen, |_| pages()).to;
        }
        to
    };
    assert_eq!(to(154_000, 0), Steer::Admin);
    assert_eq!(to(152_000, 0), Steer::Anon);
    // 500 pages in 5 ms are 10000 in a tenth of a second.
    assert_eq!(to(161_000, 500), Steer::Admin);
    assert_eq!(to(159_000, 500), Steer::Anon);
    // However fast they fall.
    assert_eq!(to(188_000, 100_000), Steer::Admin);
    assert_eq!(to(187_000, 100_000), Steer::Anon);
}

#[test]
fn locked_pages_count_as_kept() {
    let nodes = [NodeSight {
        file: 100_000,
        ..node()
    }];
    let seen = sight(&nodes);
    assert_eq!(Steering::default().look(&seen, |_| pages()).to, Steer::Anon);
    let seen = Sight {
        locked: 100_000,
        ..seen
    };
    assert_eq!(
        Steering::default().look(&seen, |_| pages()).to,
        Steer::Admin
    );
}

/// Pages that are reclaimed in place of kswapd at the last of some looks, one each 5 ms: first `quiet`
/// ones at which nothing moves, then one at which `taken` free pages are gone, and `lost` clean ones.
fn ahead(node: NodeSight, quiet: u32, (taken, lost): (u64, u64), swap_free: u64) -> Option<u64> {
    let mut protect = Protect::new(Config::default(), PAGE);
    let mut outcome = None;
    for tick in 0..=quiet {
        let (free, file) = match tick == quiet {
            true => (node.free, node.file),
            false => (node.free + taken, node.file + lost),
        };
        let nodes = [NodeSight { free, file, ..node }];
        let seen = Sight {
            now_s: 1.0 + f64::from(tick) * 0.005,
            swap_free,
            ..sight(&nodes)
        };
        outcome = protect.look(&seen).reclaim_anon;
    }
    outcome.map(|(id, bytes)| {
        assert_eq!(id, 0);
        bytes / PAGE
    })
}

fn below_the_line(free: u64) -> NodeSight {
    NodeSight {
        free,
        file: 150_000,
        ..node()
    }
}

#[test]
fn anonymous_memory_is_reclaimed_ahead_within_bounds() {
    let short = below_the_line(5_200);
    // To high.
    assert_eq!(ahead(short, 1, (0, 0), 90_000), Some(800));
    // At most a 64th of the node at once.
    assert_eq!(ahead(short, 1, (20_000, 0), 90_000), Some(15_625));
    // Neither below the anonymous floor, nor with more than half of what swap has left.
    let anon = NodeSight {
        anon: 150_500,
        ..short
    };
    assert_eq!(ahead(anon, 1, (0, 0), 90_000), Some(500));
    assert_eq!(ahead(short, 1, (0, 0), 1_200), Some(600));
    assert_eq!(ahead(short, 1, (0, 0), 0), None);
}

/// Free pages are kept for what is taken until the next look, not for their own sake: what is kept
/// free serves nobody.
#[test]
fn no_more_is_kept_free_than_is_taken_between_two_looks() {
    let at = |free, taken| ahead(below_the_line(free), 1, (taken, 0), 90_000);
    // Between the watermarks kswapd sleeps.
    assert_eq!(at(5_600, 0), None);
    assert_eq!(at(5_600, 400), None);
    // It would not, at the next look: to twice what is taken.
    assert_eq!(at(5_600, 700), Some(800));
    // However fast: not above a 64th over low.
    assert_eq!(at(5_000 + 15_625, 90_000), None);
}

/// A file cache that nobody takes is not defended: kswapd's work is left to it, with a stroke now and
/// then so that it stays at anonymous pages.
#[test]
fn kswapd_is_left_to_its_work_while_clean_pages_hold() {
    let at = |free, taken, lost| ahead(below_the_line(free), 100, (taken, lost), 90_000);
    assert_eq!(at(5_200, 10_000, 0), None);
    assert_eq!(at(4_900, 10_000, 0), Some(64));
    assert_eq!(at(4_900, 0, 31), Some(64));
    // It takes files all the same.
    assert_eq!(at(4_900, 0, 32), Some(1_100));
}

/// A kernel whose kswapd takes files at every chance gets fewer and fewer of them.
#[test]
fn kswapd_that_takes_files_is_trusted_less_and_less() {
    let mut protect = Protect::new(Config::default(), PAGE);
    let (mut file, mut relaxed) = (150_000u64, 0u64);
    for tick in 0..12_000u32 {
        let nodes = [NodeSight {
            file,
            ..below_the_line(4_900)
        }];
        let seen = Sight {
            now_s: f64::from(tick) * 0.005,
            swap_free: 90_000,
            ..sight(&nodes)
        };
        if protect.look(&seen).reclaim_anon == Some((0, 64 * PAGE)) {
            // It was let at it.
            relaxed += 1;
            file -= 100;
        }
    }
    // 0.25 s, 0.5, 1 and so on within a minute.
    assert!((3..=10).contains(&relaxed), "{relaxed}");
}
