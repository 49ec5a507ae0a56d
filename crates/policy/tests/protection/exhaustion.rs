//! Exhaustion, and states that only resemble it.
use super::snapshots::{config, node, pages, snapshot};
use policy::exhaustion::{Cause, Exhaustion, Shrinkage, UsedDuringKill};
use policy::protect::Protect;
use policy::snapshot::{NodeSnapshot, Snapshot};
use policy::Watermarks;

const PAGE: u64 = 4096;

/// The second at which memory is exhausted, and why. `see` changes a snapshot every 5 ms.
fn exhausted(
    for_s: f64,
    see: impl Fn(f64, &mut Snapshot, &mut NodeSnapshot),
) -> Option<(f64, Cause)> {
    let (mut exhaustion, mut shrinkage) = (Exhaustion::default(), Shrinkage::default());
    let mut tick = 0;
    while f64::from(tick) * 0.005 <= for_s {
        let now_s = f64::from(tick) * 0.005;
        // Memory is taken at 2 GB/s.
        let mut one = NodeSnapshot {
            free: 4_500,
            file: 149_000u64.saturating_sub(2_500 * u64::from(tick as u32)),
            ..node()
        };
        let mut seen = Snapshot {
            now_s,
            stolen: u64::from(tick as u32) * 2_500,
            ..snapshot(&[])
        };
        see(now_s, &mut seen, &mut one);
        let nodes = [one];
        let seen = Snapshot {
            nodes: &nodes,
            ..seen
        };
        shrinkage.observe(&seen);
        let used = UsedDuringKill::default();
        if let Some(cause) = exhaustion.decide(&seen, &shrinkage, pages(), used, PAGE) {
            return Some((now_s, cause));
        }
        tick += 1;
    }
    None
}

#[test]
fn exhaustion_is_decided_within_50_ms() {
    let (at_s, cause) = exhausted(1.0, |_, _, _| {}).unwrap();
    assert!(at_s <= 0.05, "{at_s}");
    assert_eq!(cause, Cause::SwapFull);
    let swapless = exhausted(1.0, |_, seen, _| seen.swap_total = 0);
    assert!(swapless.is_some());
}

#[test]
fn no_single_sign_is_exhaustion() {
    let none = |state: &str, see: &dyn Fn(f64, &mut Snapshot, &mut NodeSnapshot)| {
        assert_eq!(exhausted(10.0, see), None, "{state}");
    };
    none("much is free", &|_, _, node| node.free = 100_000);
    none("clean pages enough", &|_, _, node| node.file = 160_000);
    none("a stream goes through what is left", &|_, _, node| {
        node.file = 140_000
    });
    none(
        "a program starts and takes a fifteenth of what is left",
        &|now_s, _, node| {
            node.file = 140_000 - ((now_s - 1.0) * 200_000.0).clamp(0.0, 9_000.0) as u64;
        },
    );
    none(
        "a program grows, and would for a minute yet",
        &|now_s, _, node| {
            node.file = 140_000 - (now_s * 2_000.0) as u64;
        },
    );
    none("a writer has dirtied the cache", &|now_s, _, node| {
        node.file = 140_000;
        node.unclean = ((now_s * 500_000.0) as u64).min(30_000);
    });
    none(
        "some tasks wait, and others get on",
        &|now_s, seen, node| {
            node.file = 140_000;
            seen.full_us = Some((now_s * 400_000.0) as u64);
        },
    );
    none("swap has room and takes", &|now_s, seen, _| {
        seen.swap_free = 50_000;
        seen.swapped_out = (now_s * 1000.0) as u64;
    });
    none(
        "swap takes no pages, because the machine stands still",
        &|now_s, seen, _| {
            seen.swap_free = 50_000;
            seen.allocstall = now_s as u64;
        },
    );
    none("the shortage comes and goes", &|now_s, _, node| {
        if ((now_s * 200.0).round() as u64).is_multiple_of(2) {
            node.free = 7_000;
        }
    });
}

#[test]
fn dirty_pages_and_stuck_swap_are_waited_for_up_to_a_second() {
    let (at_s, _) = exhausted(5.0, |now_s, _, node| {
        (node.file, node.unclean) = (400_000 - (now_s * 100_000.0) as u64, 260_000);
    })
    .unwrap();
    assert!((0.5..1.0).contains(&at_s), "{at_s}");
    let stuck = exhausted(5.0, |now_s, seen, node| {
        seen.swap_free = 50_000;
        seen.allocstall = (now_s * 100.0) as u64;
        node.free = 4_500;
    });
    assert_eq!(stuck.map(|(_, cause)| cause), Some(Cause::SwapStuck));
}

#[test]
fn a_machine_on_which_no_task_gets_on_is_exhausted_though_nothing_shrinks() {
    let (at_s, _) = exhausted(10.0, |now_s, seen, node| {
        node.file = 140_000;
        // PSI is brought up to date every 2 s.
        seen.full_us = Some(((now_s / 2.0).floor() * 1_800_000.0) as u64);
    })
    .unwrap();
    assert!((5.0..8.0).contains(&at_s), "{at_s}");
}

/// The memory of the kernel's own victim comes back first. A user whose cgroup kills without end delays nothing for long.
#[test]
fn the_kernels_own_kill_is_waited_for_once_a_second() {
    let (at_s, _) = exhausted(1.0, |now_s, seen, _| {
        seen.oom_kills = u64::from(now_s > 0.008)
    })
    .unwrap();
    assert!((0.25..0.3).contains(&at_s), "{at_s}");
    let (at_s, _) = exhausted(1.0, |now_s, seen, _| {
        seen.oom_kills = (now_s * 200.0) as u64
    })
    .unwrap();
    assert!((0.25..0.3).contains(&at_s), "{at_s}");
    // A kill of long ago, while memory sufficed, is over.
    let (at_s, _) = exhausted(3.0, |now_s, seen, node| {
        seen.oom_kills = u64::from(now_s > 0.5);
        // A first snapshot is short.
        if now_s > 0.0 && now_s < 2.0 {
            (node.free, node.file) = (100_000, 149_000);
        }
    })
    .unwrap();
    assert!((2.0..2.1).contains(&at_s), "{at_s}");
}

/// The kernel kills once all clean pages are gone, whatever room a swap has that takes nothing.
#[test]
fn the_last_pages_shorten_the_wait_where_swap_takes_nothing() {
    let last = |left: u64, swapped_a_second: f64, reclaims_a_second: f64| {
        exhausted(2.9, |now_s, seen, node| {
            seen.swap_free = 50_000;
            seen.swapped_out = (now_s * swapped_a_second) as u64;
            seen.allocstall = (now_s * reclaims_a_second) as u64;
            node.free = 3_900;
            node.file = left.saturating_sub((now_s * 100_000.0) as u64);
        })
    };
    let (at_s, cause) = last(0, 50.0, 1000.0).unwrap();
    assert_eq!(cause, Cause::SwapStuck);
    assert!((0.05..0.2).contains(&at_s), "{at_s}");
    // The wait is the usual one where swap takes pages, where nothing reclaims in vain, and where clean pages are
    // left.
    assert_eq!(last(0, 300.0, 1000.0), None);
    assert_eq!(last(0, 50.0, 5.0), None);
    let shallow = last(140_000, 50.0, 1000.0);
    assert!(shallow.is_none_or(|(at_s, _)| at_s >= 0.6), "{shallow:?}");
}

/// Swap that a hog uses up before it can be killed counts as full. Swap that is used slowly does not.
#[test]
fn swap_that_is_used_up_during_a_kill_counts_as_full() {
    let swap_at_the_kill = |taken: u64| {
        let mut protect = Protect::new(config(), PAGE);
        (0..8).for_each(|_| protect.killed(0.1));
        (0..4000u64).find_map(|tick| {
            let nodes = [NodeSnapshot {
                free: 4_500,
                file: 8_000,
                ..node()
            }];
            let seen = Snapshot {
                now_s: tick as f64 * 0.005,
                stolen: tick * 100,
                swapped_out: tick * taken,
                swap_free: 100_000u64.saturating_sub(taken * tick),
                ..snapshot(&nodes)
            };
            protect.decide(&seen).exhausted.map(|_| seen.swap_free)
        })
    };
    // At 60000 pages a second, a kill of 0.1 s gives up at most a quarter of swap.
    let left = swap_at_the_kill(300).unwrap();
    assert!((4_000..12_000).contains(&left), "{left}");
    let left = swap_at_the_kill(30).unwrap();
    assert!(left < 2_500, "{left}");
}

/// Locked pages come on top of the floor. Where they counted for it, all else that is hot had the rest of it.
#[test]
fn the_floor_holds_whatever_is_locked() {
    let left_at_the_kill = |locked: u64, taken: u64| {
        let mut protect = Protect::new(config(), PAGE);
        (0..2000u64).find_map(|tick| {
            let file = 300_000u64.saturating_sub(taken * tick);
            let nodes = [NodeSnapshot {
                free: 4_500,
                file,
                ..node()
            }];
            let seen = Snapshot {
                now_s: tick as f64 * 0.005,
                stolen: tick * 100,
                locked,
                ..snapshot(&nodes)
            };
            protect.decide(&seen).exhausted.map(|_| file)
        })
    };
    let left = left_at_the_kill(0, 150).unwrap();
    assert!((140_000..190_000).contains(&left), "{left}");
    assert_eq!(left_at_the_kill(200_000, 150), Some(left));
    // No pages are taken: nobody is killed.
    assert_eq!(left_at_the_kill(200_000, 0), None);
}

/// The kernel kills before clean pages are gone where all of them would not lift free pages to min. A
/// boost after a fallback makes min several times as high.
#[test]
fn pages_below_a_boosted_min_are_not_spare() {
    let left_at_the_kill = |min: u64| {
        let mut protect = Protect::new(config(), PAGE);
        (0..8).for_each(|_| protect.killed(0.05));
        (0..2000u64).find_map(|tick| {
            let file = 100_000u64.saturating_sub(100 * tick);
            let nodes = [NodeSnapshot {
                free: 3_000,
                watermarks: Watermarks {
                    min,
                    low: min + 1_000,
                    high: min + 2_000,
                },
                file,
                ..node()
            }];
            let seen = Snapshot {
                now_s: tick as f64 * 0.005,
                stolen: tick * 100,
                ..snapshot(&nodes)
            };
            protect.decide(&seen).exhausted.map(|_| file + 3_000)
        })
    };
    let plain = left_at_the_kill(4_000).unwrap();
    let boosted = left_at_the_kill(24_000).unwrap();
    assert!(plain > 4_000, "{plain}");
    assert!((24_000..24_000 + plain).contains(&boosted), "{boosted}");
}

/// Clean pages when memory is exhausted. Anonymous memory takes `taken` of them every 5 ms.
fn clean_at_the_kill(taken: u64, kill_s: f64) -> Option<u64> {
    let mut protect = Protect::new(config(), PAGE);
    (0..8).for_each(|_| protect.killed(kill_s));
    for tick in 0..400 {
        let gone = taken * tick;
        let nodes = [NodeSnapshot {
            free: 4_500,
            file: 200_000 - gone.min(200_000),
            anon: 500_000 + gone,
            ..node()
        }];
        let seen = Snapshot {
            now_s: tick as f64 * 0.005,
            stolen: tick * 100,
            ..snapshot(&nodes)
        };
        if protect.decide(&seen).exhausted.is_some() {
            return Some(nodes[0].file);
        }
    }
    None
}

#[test]
fn a_slow_kill_is_begun_before_the_floor_is_broken() {
    let floor = pages().clean_min;
    // A kill that takes no time waits for the floor, and for the snapshots that confirm the shortage.
    let at_once = clean_at_the_kill(500, 0.0).unwrap();
    assert!(at_once <= floor + 500 * 3, "{at_once} of {floor}");
    // 50 ms are ten snapshots, and three more confirm the shortage.
    let slow = clean_at_the_kill(500, 0.05).unwrap();
    assert!(
        (floor..=floor + 500 * 12).contains(&slow),
        "{slow} of {floor}"
    );
    // However slow the kill, it begins at most at the line below which reclaim is steered.
    let slowest = clean_at_the_kill(500, 10.0).unwrap();
    assert!(slowest <= policy::floors::clean_line(pages()), "{slowest}");
    // No clean pages are taken, so no kill is needed.
    assert_eq!(clean_at_the_kill(0, 10.0), None);
}

/// Where no clean pages are left, free ones alone last until the kernel's own kill: the memory that one kill gave back
/// may be taken before kswapd's marks are reached again.
#[test]
fn free_pages_are_no_reserve_where_they_end_during_a_kill() {
    let free_at_the_kill = |taken: u64| {
        let mut protect = Protect::new(config(), PAGE);
        (0..8).for_each(|_| protect.killed(0.05));
        (0..2000u64).find_map(|tick| {
            let free = 60_000u64.saturating_sub(taken * tick);
            let nodes = [NodeSnapshot {
                free,
                file: 200,
                ..node()
            }];
            let seen = Snapshot {
                now_s: tick as f64 * 0.005,
                ..snapshot(&nodes)
            };
            protect.decide(&seen).exhausted.map(|_| free)
        })
    };
    let left = free_at_the_kill(1_000).unwrap();
    // The kill takes ten snapshots.
    assert!((4_000 + 8_000..4_000 + 16_000).contains(&left), "{left}");
    // Nothing is taken: there are free pages for as long as anybody wants.
    assert_eq!(free_at_the_kill(0), None);
}

/// A virtual machine is stopped for long, and memory is at the floor afterwards. Nobody is killed for what went on in
/// between.
#[test]
fn what_was_used_up_during_a_gap_is_no_rate() {
    for gap_s in [3.0 * 3600.0, 600.0] {
        let mut protect = Protect::new(config(), PAGE);
        let mut see = |now_s, file| {
            let nodes = [NodeSnapshot {
                free: 6_500,
                file,
                ..node()
            }];
            let seen = Snapshot {
                now_s,
                ..snapshot(&nodes)
            };
            protect.decide(&seen)
        };
        for tick in 0..200 {
            see(1000.0 + f64::from(tick) * 0.01, 400_000);
        }
        for tick in 0..500 {
            let now_s = 1002.0 + gap_s + f64::from(tick) * 0.01;
            let decision = see(now_s, 145_000);
            assert_eq!(decision.exhausted, None, "{gap_s}, {tick}");
        }
    }
}
