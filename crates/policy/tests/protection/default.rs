//! The defaults: a soft floor that is learned, and a kill only when the kernel is about to kill.
use super::snapshots::{node, snapshot};
use policy::floors::Learned;
use policy::protect::{Config, Outcome, Protect};
use policy::snapshot::{NodeSnapshot, Snapshot};
use policy::steering::Steer;

const PAGE: u64 = 4096;
const TICK_S: f64 = 0.005;

/// The floor after a second in which pages come back, and after ten more minutes.
fn learned(file: u64, anon: u64) -> (u64, u64) {
    let mut floor = Learned::default();
    let mut see = |now_s, file, anon| {
        floor.observe(now_s, (7_000 + file, 9_000 + anon), 1_000_000);
        floor.pages()
    };
    see(0.0, 0, 0);
    (see(1.0, file, anon), see(601.0, file, anon))
}

#[test]
fn the_soft_floor_is_what_was_read_again_less_what_came_back_from_swap() {
    assert_eq!(learned(0, 0), (0, 0), "nothing is read again");
    assert_eq!(learned(10_000, 0), (10_000, 5_000));
    assert_eq!(learned(10_000, 4_000), (6_000, 3_000));
    assert_eq!(
        learned(10_000, 40_000),
        (0, 0),
        "anonymous memory suffers more"
    );
    assert_eq!(learned(5_000_000, 0).0, 250_000);
}

/// The first decision that kills, and its second. `see` makes the snapshot of a time.
fn killed(
    for_s: f64,
    see: impl Fn(f64, &mut Snapshot, &mut NodeSnapshot),
) -> (Option<f64>, Outcome) {
    let mut protect = Protect::new(Config::default(), PAGE);
    let mut outcome = Outcome::default();
    let mut tick = 0u32;
    while f64::from(tick) * TICK_S <= for_s {
        let now_s = f64::from(tick) * TICK_S;
        let mut one = NodeSnapshot {
            free: 4_500,
            file: 100_000,
            ..node()
        };
        let mut seen = Snapshot {
            now_s,
            ..snapshot(&[])
        };
        see(now_s, &mut seen, &mut one);
        let nodes = [one];
        outcome = protect.decide(&Snapshot {
            nodes: &nodes,
            ..seen
        });
        if outcome.exhausted.is_some() {
            return (Some(now_s), outcome);
        }
        tick += 1;
    }
    (None, outcome)
}

/// File pages of the working set come back.
fn again(seen: &mut Snapshot, file: u64) {
    seen.file_refaults = file;
    seen.file_restores = file;
}

/// 120,000 pages are read again in the first second.
fn reads_again(now_s: f64) -> u64 {
    (now_s.min(1.0) * 120_000.0) as u64
}

#[test]
fn below_the_learned_floor_reclaim_is_steered_and_nobody_is_killed() {
    let (kill, last) = killed(5.0, |now_s, seen, _| {
        again(seen, reads_again(now_s));
        seen.swap_free = 90_000;
    });
    assert_eq!((kill, last.steer), (None, Steer::Anon));
    let (kill, last) = killed(5.0, |_, seen, _| seen.swap_free = 90_000);
    assert_eq!(
        (kill, last.steer),
        (None, Steer::Admin),
        "nothing is read again"
    );
}

/// A copy of more than memory, in swap's presence and then beside a hog without swap.
#[test]
fn pages_of_no_working_set_are_a_reason_to_kill_and_none_to_steer() {
    let (kill, last) = killed(5.0, |now_s, seen, _| {
        seen.file_refaults = reads_again(now_s);
        seen.swap_free = 90_000;
    });
    assert_eq!((kill, last.steer), (None, Steer::Admin));
    let (_, last) = killed(2.0, |now_s, seen, node| {
        seen.file_refaults = reads_again(now_s);
        seen.allocstall = (now_s * 500.0) as u64;
        node.file = 100_000 - (now_s * 50_000.0) as u64;
    });
    assert!(last.clean > 20_000, "{}", last.clean);
}

/// Quick snapshots may cost what they like only where a kill may be due.
#[test]
fn a_shortage_is_pressing_within_seconds_of_the_end_or_a_minute_with_a_hard_floor() {
    let pressing = |hard: bool, ends_s: f64| {
        let floors = match hard {
            true => super::snapshots::hard(),
            false => Config::default().floors,
        };
        let config = Config {
            floors,
            ..Config::default()
        };
        let mut protect = Protect::new(config, PAGE);
        let mut pressing = false;
        for tick in 0..2000 {
            let now_s = f64::from(tick) * TICK_S;
            // The same share of what is left goes in each second, below the floor from the second one on.
            let file = 100_000.0 * (-now_s / ends_s).exp();
            let nodes = [NodeSnapshot {
                free: 4_500,
                file: file as u64,
                ..node()
            }];
            let mut seen = snapshot(&nodes);
            seen.now_s = now_s;
            again(&mut seen, reads_again(now_s));
            pressing = protect.decide(&seen).pressing;
        }
        pressing
    };
    assert!(!pressing(false, 30.0), "half a minute is left");
    assert!(pressing(true, 30.0), "the hard floor's minute");
    assert!(pressing(false, 4.0));
    assert!(!pressing(true, 200.0));
}

/// Swap is full, or there is none, and the learned floor is broken for good.
#[test]
fn a_healthy_machine_past_its_soft_floor_loses_nobody() {
    let none = |state: &str, see: &dyn Fn(f64, &mut Snapshot, &mut NodeSnapshot)| {
        let (kill, _) = killed(20.0, |now_s, seen, node| {
            again(seen, reads_again(now_s));
            see(now_s, seen, node);
        });
        assert_eq!(kill, None, "{state}");
    };
    none("files replace each other", &|_, _, _| {});
    none("and tasks reclaim for themselves", &|now_s, seen, _| {
        seen.allocstall = (now_s * 500.0) as u64;
    });
    none(
        "a program takes a third of what is left in an instant",
        &|now_s, seen, node| {
            seen.allocstall = (now_s * 500.0) as u64;
            node.file = 100_000 - if now_s > 3.0 { 33_000 } else { 0 };
        },
    );
    none(
        "a program takes half of what is left in three seconds",
        &|now_s, seen, node| {
            seen.allocstall = (now_s * 500.0) as u64;
            node.file = 100_000 - ((now_s - 3.0) * 16_000.0).clamp(0.0, 48_000.0) as u64;
        },
    );
    none(
        "memory goes, and no allocation stalls",
        &|now_s, _, node| {
            node.file = 100_000 - (now_s * 4_000.0) as u64;
        },
    );
    none("some tasks wait, and others get on", &|now_s, seen, _| {
        seen.full_us = Some((now_s * 400_000.0) as u64);
    });
}

#[test]
fn the_kernel_is_about_to_kill() {
    // A hog takes 200 MB a second, and allocations stall.
    let hog = |now_s: f64, seen: &mut Snapshot, node: &mut NodeSnapshot| {
        seen.allocstall = (now_s * 500.0) as u64;
        seen.stolen = (now_s * 50_000.0) as u64;
        node.file = 100_000 - (now_s * 50_000.0) as u64;
    };
    // With a soft floor hotsetd kills while the last second's worth of files is there.
    let (kill, last) = killed(2.0, |now_s, seen, node| {
        again(seen, reads_again(now_s));
        hog(now_s, seen, node);
    });
    assert!(
        kill.is_some_and(|at_s| (0.9..1.7).contains(&at_s)),
        "{kill:?}"
    );
    assert!(last.clean > 20_000, "{}", last.clean);
    // Where nothing was learned, it kills before the last pages are gone.
    let (kill, last) = killed(2.0, |now_s, seen, node| {
        hog(now_s, seen, node);
        node.free = 4_200;
    });
    assert!(kill.is_some_and(|at_s| at_s < 2.0), "{kill:?}");
    assert!((1..10_000).contains(&last.clean), "{}", last.clean);
    // Without files, free pages alone keep the kernel from killing.
    let fileless = |free: u64| {
        let without_files = |_: f64, _: &mut Snapshot, node: &mut NodeSnapshot| {
            (node.free, node.file) = (free, 0);
        };
        killed(5.0, without_files).0.is_some()
    };
    assert!(!fileless(4_500) && fileless(3_900));
}

#[test]
fn a_machine_that_stands_still_is_freed() {
    let (kill, _) = killed(20.0, |now_s, seen, _| {
        again(seen, (now_s * 120_000.0) as u64);
        seen.full_us = Some((now_s * 700_000.0) as u64);
    });
    assert!(
        kill.is_some_and(|at_s| (5.0..8.0).contains(&at_s)),
        "{kill:?}"
    );
}
