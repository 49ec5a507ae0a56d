//! When memory is exhausted, and when it only looks so.
#[path = "common/sights.rs"]
mod sights;

use policy::exhaustion::{Cause, Exhaustion, Soon};
use policy::floors::{Auto, Floors, Pages};
use policy::protect::{Config, Protect};
use policy::sight::{NodeSight, Sight};
use sights::{node, sight};

const PAGE: u64 = 4096;

fn pages() -> Pages {
    Floors::default().pages(1_000_000, 1_000_000, PAGE, Auto::default())
}

/// Looks every 5 ms at what `see` gives for the seconds so far; when it was exhausted, and why.
fn exhausted(for_s: f64, see: impl Fn(f64, &mut Sight, &mut NodeSight)) -> Option<(f64, Cause)> {
    let mut exhaustion = Exhaustion::default();
    let mut tick = 0;
    while f64::from(tick) * 0.005 <= for_s {
        let now_s = f64::from(tick) * 0.005;
        let mut one = NodeSight {
            free: 4_500,
            file: 140_000,
            ..node()
        };
        let mut seen = Sight {
            now_s,
            stolen: u64::from(tick as u32) * 100,
            ..sight(&[])
        };
        see(now_s, &mut seen, &mut one);
        let nodes = [one];
        let seen = Sight {
            nodes: &nodes,
            ..seen
        };
        if let Some(cause) = exhaustion.look(&seen, pages(), Soon::default(), PAGE) {
            return Some((now_s, cause));
        }
        tick += 1;
    }
    None
}

#[test]
fn exhaustion_is_seen_within_two_hundredths_of_a_second() {
    let (at_s, cause) = exhausted(1.0, |_, _, _| {}).unwrap();
    assert!(at_s <= 0.02, "{at_s}");
    assert_eq!(cause, Cause::SwapFull);
    let swapless = exhausted(1.0, |_, seen, _| seen.swap_total = 0);
    assert!(swapless.is_some());
}

#[test]
fn each_sign_alone_misleads() {
    let none = |what: &str, see: &dyn Fn(f64, &mut Sight, &mut NodeSight)| {
        assert_eq!(exhausted(10.0, see), None, "{what}");
    };
    none("much is free", &|_, _, node| node.free = 100_000);
    none("clean pages enough", &|_, _, node| node.file = 160_000);
    none("nobody takes memory", &|_, seen, _| seen.stolen = 7);
    none("swap has room and takes", &|now_s, seen, _| {
        seen.swap_free = 50_000;
        seen.swapped_out = (now_s * 1000.0) as u64;
    });
    none(
        "swap takes nothing, for the machine stands still",
        &|now_s, seen, _| {
            seen.swap_free = 50_000;
            seen.allocstall = now_s as u64;
        },
    );
    none("it comes and goes", &|now_s, _, node| {
        if ((now_s * 200.0).round() as u64).is_multiple_of(2) {
            node.free = 7_000;
        }
    });
    // PSI lives, and says that nobody waits, and dirty pages will be clean.
    let quiet = exhausted(2.0, |now_s, seen, node| {
        seen.stall_us = Some(10);
        (node.file, node.unclean) = (400_000, 260_000);
        if now_s < 0.05 {
            seen.stall_us = Some(5);
            node.free = 100_000;
        }
    });
    assert_eq!(quiet, None);
}

#[test]
fn dirty_pages_and_stuck_swap_are_waited_for_but_not_for_ever() {
    let (at_s, _) = exhausted(5.0, |_, _, node| {
        (node.file, node.unclean) = (400_000, 260_000);
    })
    .unwrap();
    assert!((0.5..1.0).contains(&at_s), "{at_s}");
    let stuck = exhausted(5.0, |now_s, seen, node| {
        seen.swap_free = 50_000;
        seen.allocstall = (now_s * 100.0) as u64;
        node.free = 4_500;
    });
    assert_eq!(stuck.map(|(_, cause)| cause), Some(Cause::SwapStuck));
    // PSI that is there and empty must not hide it: it has never moved.
    let empty = exhausted(1.0, |_, seen, _| seen.stall_us = Some(0));
    assert!(empty.is_some());
}

/// Half of the floor gone while swap takes nothing: the kernel kills as soon as the rest is gone too.
#[test]
fn a_deep_breach_is_not_waited_out_where_swap_takes_nothing() {
    let breach = |left: u64, swapped_a_second: f64, reclaims_a_second: f64| {
        exhausted(2.9, |now_s, seen, node| {
            seen.swap_free = 50_000;
            seen.swapped_out = (now_s * swapped_a_second) as u64;
            seen.allocstall = (now_s * reclaims_a_second) as u64;
            // Brought up to date every 2 s, and once before.
            seen.stall_us = Some(5 + u64::from(now_s > 0.01));
            (node.file, node.free) = (left, 4_500);
        })
    };
    let (at_s, cause) = breach(30_000, 50.0, 1000.0).unwrap();
    assert_eq!(cause, Cause::SwapStuck);
    assert!((0.05..0.2).contains(&at_s), "{at_s}");
    let (at_s, _) = breach(60_000, 50.0, 1000.0).unwrap();
    assert!((0.2..0.3).contains(&at_s), "{at_s}");
    // Swap takes pages, nobody reclaims in vain, or the floor is hardly broken: waited for as ever.
    assert_eq!(breach(30_000, 300.0, 1000.0), None);
    assert_eq!(breach(30_000, 50.0, 5.0), None);
    let shallow = breach(140_000, 50.0, 1000.0);
    assert!(shallow.is_none_or(|(at_s, _)| at_s >= 0.6), "{shallow:?}");
}

#[test]
fn without_a_floor_nobody_is_killed() {
    let mut exhaustion = Exhaustion::default();
    for tick in 0..100u32 {
        let nodes = [NodeSight {
            free: 100,
            file: 0,
            ..node()
        }];
        let seen = Sight {
            now_s: f64::from(tick) * 0.005,
            stolen: u64::from(tick),
            ..sight(&nodes)
        };
        assert_eq!(
            exhaustion.look(&seen, Pages::default(), Soon::default(), PAGE),
            None
        );
    }
}

/// Swap that a hog uses up before it can be killed is no room; one that is used slowly is.
#[test]
fn swap_that_is_gone_before_the_kill_is_full() {
    let swap_at_the_kill = |taken: u64| {
        let mut protect = Protect::new(Config::default(), PAGE);
        (0..8).for_each(|_| protect.killed(0.1));
        (0..4000u64).find_map(|tick| {
            let nodes = [NodeSight {
                free: 4_500,
                file: 140_000,
                ..node()
            }];
            let seen = Sight {
                now_s: tick as f64 * 0.005,
                stolen: tick * 100,
                swapped_out: tick * taken,
                swap_free: 100_000u64.saturating_sub(taken * tick),
                ..sight(&nodes)
            };
            protect.look(&seen).exhausted.map(|_| seen.swap_free)
        })
    };
    // 60000 pages a second, a kill takes a tenth of one: at most a quarter of swap is given up.
    let left = swap_at_the_kill(300).unwrap();
    assert!((4_000..12_000).contains(&left), "{left}");
    let left = swap_at_the_kill(30).unwrap();
    assert!(left < 2_500, "{left}");
}

/// Locked pages stand in for the floor, and cannot be reclaimed: what can is used up sooner, and then
/// the kernel would kill.
#[test]
fn what_is_locked_is_nothing_to_reclaim() {
    let ends = |locked: u64, taken: u64| {
        let mut protect = Protect::new(Config::default(), PAGE);
        (0..8).for_each(|_| protect.killed(0.1));
        (0..2000u64).find_map(|tick| {
            // `taken` pages a look, of the 100000 that are not locked.
            let file = 100_000u64.saturating_sub(taken * tick);
            let nodes = [NodeSight {
                free: 4_500,
                file,
                ..node()
            }];
            let seen = Sight {
                now_s: tick as f64 * 0.005,
                stolen: tick * 100,
                locked,
                ..sight(&nodes)
            };
            protect.look(&seen).exhausted.map(|_| file)
        })
    };
    // All of the floor and more is locked. 60000 pages a second, and a kill takes a tenth of one.
    let left = ends(200_000, 300).unwrap();
    assert!((4_000..12_000).contains(&left), "{left}");
    // Nobody takes any: there is no need for them.
    assert_eq!(ends(200_000, 0), None);
    // Slowly: nearly all of it is used first.
    let left = ends(200_000, 60).unwrap();
    assert!(left < 2_000, "{left}");
}

/// The kernel kills while there are clean pages still, where all of them would not lift free pages to min:
/// a boost after a fallback makes that several times as high.
#[test]
fn a_boosted_min_is_no_spare_memory() {
    let left_at_the_kill = |min: u64| {
        let mut protect = Protect::new(Config::default(), PAGE);
        (0..8).for_each(|_| protect.killed(0.05));
        (0..2000u64).find_map(|tick| {
            let file = 100_000u64.saturating_sub(100 * tick);
            let nodes = [NodeSight {
                free: 3_000,
                min,
                low: min + 1_000,
                high: min + 2_000,
                file,
                ..node()
            }];
            let seen = Sight {
                now_s: tick as f64 * 0.005,
                stolen: tick * 100,
                locked: 200_000,
                ..sight(&nodes)
            };
            protect.look(&seen).exhausted.map(|_| file + 3_000)
        })
    };
    let plain = left_at_the_kill(4_000).unwrap();
    let boosted = left_at_the_kill(24_000).unwrap();
    assert!(plain > 4_000, "{plain}");
    assert!((24_000..24_000 + plain).contains(&boosted), "{boosted}");
}

/// Clean pages when it is said that memory is exhausted; anonymous memory takes `taken` of them at each
/// look, every 5 ms.
fn clean_at_the_kill(taken: u64, kill_s: f64) -> Option<u64> {
    let mut protect = Protect::new(Config::default(), PAGE);
    (0..8).for_each(|_| protect.killed(kill_s));
    for tick in 0..400 {
        let gone = taken * tick;
        let nodes = [NodeSight {
            free: 4_500,
            file: 200_000 - gone.min(200_000),
            anon: 500_000 + gone,
            ..node()
        }];
        let seen = Sight {
            now_s: tick as f64 * 0.005,
            stolen: tick * 100,
            ..sight(&nodes)
        };
        if protect.look(&seen).exhausted.is_some() {
            return Some(nodes[0].file);
        }
    }
    None
}

#[test]
fn a_slow_kill_is_begun_before_the_floor_is_broken() {
    let floor = pages().clean_min;
    // A kill that takes no time waits for the floor, but for the looks that it takes to be sure.
    let at_once = clean_at_the_kill(500, 0.0).unwrap();
    assert!(at_once <= floor + 500 * 3, "{at_once} of {floor}");
    // 50 ms are ten looks' worth, and three more for being sure.
    let slow = clean_at_the_kill(500, 0.05).unwrap();
    assert!(
        (floor..=floor + 500 * 12).contains(&slow),
        "{slow} of {floor}"
    );
    // Never above the line where reclaim is steered, however slow it is.
    let slowest = clean_at_the_kill(500, 10.0).unwrap();
    assert!(slowest <= policy::floors::clean_line(pages()), "{slowest}");
    // Nobody takes clean pages: nobody is killed for what a kill would take.
    assert_eq!(clean_at_the_kill(0, 10.0), None);
}
