//! How deep a floor is broken when memory is taken fast, in a model of a node: looks come when the
//! policy asks for them, reclaim takes what vm.swappiness says, and a kill takes a while. It proves
//! the cadence of looks, nothing about a kernel.
use policy::floors::Steer;
use policy::protect::{Config, Protect};
use policy::sight::{NodeSight, Sight};

const PAGE: u64 = 4096;
const STEP_S: f64 = 0.0005;
/// From the decision until the victim's memory is there.
const KILL_S: f64 = 0.01;

struct Run {
    /// Clean pages under the floor at the worst, in bytes.
    breach: f64,
    kills: u32,
    looks: u32,
    seconds: f64,
}

/// A hog takes `rate` bytes a second of a machine of `mb`; `swap_mb` of swap. It is killed at most
/// `kills` times and comes again at once.
fn run(mb: u64, swap_mb: u64, rate: f64, seconds: f64) -> Run {
    let pages = |mb: u64| (mb << 20) as f64 / PAGE as f64;
    let managed = pages(mb);
    let (low, high) = (managed * 0.012, managed * 0.015);
    let (mut free, mut clean, mut anon) = (managed * 0.4, managed * 0.4, managed * 0.2);
    let (mut swap, mut hog, mut stolen, mut swapped) = (pages(swap_mb), 0.0, 0.0, 0.0);
    let mut protect = Protect::new(
        Config {
            enabled: true,
            ..Config::default()
        },
        PAGE,
    );
    let floor = managed * 0.15;
    let (mut steer, mut dying) = (Steer::Admin, None);
    let mut result = Run {
        breach: 0.0,
        kills: 0,
        looks: 0,
        seconds,
    };
    let (mut now_s, mut look_s) = (0.0, 0.0);
    while now_s < seconds {
        let taken = rate / PAGE as f64 * STEP_S;
        (free, anon, hog) = (free - taken, anon + taken, hog + taken);
        if free < low {
            let wanted = high - free;
            // Without steering all of it comes from files: the worst case.
            let to_swap = match steer {
                Steer::Anon => wanted.min(swap).min(anon),
                _ => 0.0,
            };
            let files = (wanted - to_swap).min(clean).max(0.0);
            (swap, swapped, anon) = (swap - to_swap, swapped + to_swap, anon - to_swap);
            clean -= files;
            free += to_swap + files;
            stolen += to_swap + files;
        }
        result.breach = result.breach.max((floor - clean) * PAGE as f64);
        if dying.is_some_and(|at_s| now_s >= at_s) {
            // Part of it is in swap.
            let (in_swap, in_memory) = (swapped.min(hog), (hog - swapped.min(hog)).min(anon));
            (swap, swapped, anon, free) = (
                swap + in_swap,
                swapped - in_swap,
                anon - in_memory,
                free + in_memory,
            );
            // Others read their files again.
            let back = (floor * 2.0 - clean).clamp(0.0, (free - high * 2.0).max(0.0));
            (clean, free) = (clean + back, free - back);
            (hog, dying) = (0.0, None);
        }
        if now_s >= look_s {
            let nodes = [NodeSight {
                id: 0,
                managed: managed as u64,
                free: free.max(0.0) as u64,
                min: (managed * 0.01) as u64,
                low: low as u64,
                high: high as u64,
                file: clean as u64,
                unclean: 0,
                anon: anon as u64,
            }];
            let outcome = protect.look(&Sight {
                now_s,
                nodes: &nodes,
                swap_total: pages(swap_mb) as u64,
                swap_free: swap as u64,
                swapped_out: swapped as u64,
                stolen: stolen as u64,
                ..Sight::default()
            });
            result.looks += 1;
            steer = outcome.steer;
            look_s = now_s + outcome.next_s;
            if outcome.exhausted.is_some() && dying.is_none() {
                dying = Some(now_s + KILL_S);
                protect.killed(KILL_S);
                result.kills += 1;
            }
        }
        now_s += STEP_S;
    }
    result
}

#[test]
fn the_breach_is_bounded_by_the_rate() {
    for (mb, swap_mb) in [(256, 64), (256, 0), (4096, 1024)] {
        for rate in [0.1e9, 0.5e9, 1e9, 2e9] {
            let seconds = 4.0 * f64::from(mb as u32) * 1e6 / rate;
            let run = run(mb, swap_mb, rate, seconds);
            // Three looks, a kill, and a step of the watermarks.
            let bound = rate * (0.02 + KILL_S) + (mb << 20) as f64 * 0.02;
            println!(
                "{mb} MB, swap {swap_mb}, {:.1} GB/s: breach {:.1} MB, {} kills, {} looks in {:.1} s",
                rate / 1e9, run.breach / 1e6, run.kills, run.looks, run.seconds
            );
            assert!(
                run.kills > 0,
                "{mb} MB, {swap_mb} MB of swap, {rate}: nothing was tested"
            );
            assert!(
                run.breach <= bound,
                "{mb} MB, {swap_mb}: {} of {bound}",
                run.breach
            );
        }
    }
}

#[test]
fn a_machine_at_rest_is_looked_at_as_rarely_as_the_forecast_asks() {
    let mut protect = Protect::new(
        Config {
            enabled: true,
            ..Config::default()
        },
        PAGE,
    );
    let nodes = [NodeSight {
        managed: 4_000_000,
        free: 2_000_000,
        min: 11_000,
        low: 14_000,
        high: 17_000,
        file: 1_000_000,
        anon: 900_000,
        ..NodeSight::default()
    }];
    let mut now_s = 0.0;
    for _ in 0..50 {
        let seen = Sight {
            now_s,
            nodes: &nodes,
            ..Sight::default()
        };
        now_s += protect.look(&seen).next_s;
    }
    // 9 GB to go at a GB a second: half of the 8.5 s that they last.
    assert!(now_s > 50.0 * 4.0, "{now_s}");
}
