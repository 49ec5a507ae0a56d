//! The breach of a floor while memory is taken fast, in a model of a node.
//!
//! Snapshots come when the policy asks for them, reclaim takes pages by vm.swappiness, and a kill
//! takes a while. The model proves the cadence of snapshots, nothing about a kernel.
use super::snapshots::config;
use policy::protect::{Outcome, Protect};
use policy::snapshot::{NodeSnapshot, Snapshot};
use policy::steering::Steer;
use policy::Watermarks;

/// Bytes of a page: of most machines, and of some with arm64.
const PAGES: [u64; 2] = [4096, 65_536];
/// Seconds of a step of the model.
const STEP_S: f64 = 0.0005;
/// Seconds from the decision until the victim's memory is free.
const KILL_S: f64 = 0.01;

/// The result of one run of the model.
struct Run {
    /// Clean pages under the floor at the worst, bytes.
    breach: f64,
    kills: u32,
    snapshots: u32,
}

/// A node on which a hog takes memory. Pages, as real numbers.
struct Model {
    /// Bytes of a page.
    page: f64,
    managed: f64,
    low: f64,
    high: f64,
    free: f64,
    clean: f64,
    anon: f64,
    /// Free pages of swap.
    swap: f64,
    swap_total: f64,
    /// Pages of the hog, in memory and in swap.
    hog: f64,
    swapped: f64,
    stolen: f64,
}

impl Model {
    fn new(page: u64, mb: u64, swap_mb: u64) -> Model {
        let page = page as f64;
        let pages = |mb: u64| (mb << 20) as f64 / page;
        let managed = pages(mb);
        Model {
            page,
            managed,
            low: managed * 0.012,
            high: managed * 0.015,
            free: managed * 0.4,
            clean: managed * 0.4,
            anon: managed * 0.2,
            swap: pages(swap_mb),
            swap_total: pages(swap_mb),
            hog: 0.0,
            swapped: 0.0,
            stolen: 0.0,
        }
    }

    /// The hog takes pages, and reclaim frees pages where vm.swappiness steers it.
    fn take(&mut self, taken: f64, steer: Steer) {
        self.free -= taken;
        self.anon += taken;
        self.hog += taken;
        if self.free >= self.low {
            return;
        }
        let wanted = self.high - self.free;
        // Without steering all pages come from files: the worst case.
        let to_swap = match steer {
            Steer::Anon => wanted.min(self.swap).min(self.anon),
            _ => 0.0,
        };
        let files = (wanted - to_swap).min(self.clean).max(0.0);
        self.swap -= to_swap;
        self.swapped += to_swap;
        self.anon -= to_swap;
        self.clean -= files;
        self.free += to_swap + files;
        self.stolen += to_swap + files;
    }

    /// The hog's memory comes back, and other processes read their files again.
    fn kill(&mut self, floor: f64) {
        let in_swap = self.swapped.min(self.hog);
        let in_memory = (self.hog - in_swap).min(self.anon);
        self.swap += in_swap;
        self.swapped -= in_swap;
        self.anon -= in_memory;
        self.free += in_memory;
        let back = (floor * 2.0 - self.clean).clamp(0.0, (self.free - self.high * 2.0).max(0.0));
        self.clean += back;
        self.free -= back;
        self.hog = 0.0;
    }

    fn node(&self) -> NodeSnapshot {
        NodeSnapshot {
            id: 0,
            managed: self.managed as u64,
            free: self.free.max(0.0) as u64,
            watermarks: Watermarks {
                min: (self.managed * 0.01) as u64,
                low: self.low as u64,
                high: self.high as u64,
            },
            file: self.clean as u64,
            unclean: 0,
            anon: self.anon as u64,
        }
    }

    fn decide(&self, protect: &mut Protect, now_s: f64) -> Outcome {
        protect.decide(&Snapshot {
            now_s,
            nodes: &[self.node()],
            swap_total: self.swap_total as u64,
            swap_free: self.swap as u64,
            swapped_out: self.swapped as u64,
            stolen: self.stolen as u64,
            ..Snapshot::default()
        })
    }
}

/// A hog takes `rate` bytes a second of a machine of `mb`, in pages of `page` bytes, with `swap_mb` of swap. Whenever it is killed, it
/// begins again at once.
fn run(page: u64, mb: u64, swap_mb: u64, rate: f64, seconds: f64) -> Run {
    let mut model = Model::new(page, mb, swap_mb);
    let mut protect = protect(page);
    let floor = model.managed * 0.15;
    let (mut steer, mut dying) = (Steer::Admin, None);
    let mut result = Run {
        breach: 0.0,
        kills: 0,
        snapshots: 0,
    };
    let (mut now_s, mut next_s) = (0.0, 0.0);
    while now_s < seconds {
        model.take(rate / model.page * STEP_S, steer);
        result.breach = result.breach.max((floor - model.clean) * model.page);
        if dying.is_some_and(|at_s| now_s >= at_s) {
            model.kill(floor);
            dying = None;
        }
        if now_s >= next_s {
            let outcome = model.decide(&mut protect, now_s);
            result.snapshots += 1;
            steer = outcome.steer;
            next_s = now_s + outcome.next_s;
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

fn protect(page: u64) -> Protect {
    Protect::new(config(), page)
}

#[test]
fn the_breach_is_bounded_by_the_rate() {
    let machines = [(256, 64), (256, 0), (4096, 1024)];
    let machines = PAGES.map(|page| machines.map(|(mb, swap_mb)| (page, mb, swap_mb)));
    for (page, mb, swap_mb) in machines.concat() {
        for rate in [0.1e9, 0.5e9, 1e9, 2e9] {
            let seconds = 4.0 * f64::from(mb as u32) * 1e6 / rate;
            let run = run(page, mb, swap_mb, rate, seconds);
            // Three snapshots, a kill, and a step of the watermarks.
            let bound = rate * (0.02 + KILL_S) + (mb << 20) as f64 * 0.02;
            println!(
                "{page}: {mb} MB, swap {swap_mb}, {:.1} GB/s: breach {:.1} MB, {} kills, {} snapshots in {seconds:.1} s",
                rate / 1e9, run.breach / 1e6, run.kills, run.snapshots
            );
            assert!(
                run.kills > 0,
                "{page}: {mb} MB, {swap_mb} MB of swap, {rate}: nothing was tested"
            );
            assert!(
                run.breach <= bound,
                "{page}: {mb} MB, {swap_mb}: {} of {bound}",
                run.breach
            );
        }
    }
}

#[test]
fn snapshots_of_a_machine_at_rest_are_seconds_apart() {
    let mut protect = protect(PAGES[0]);
    let nodes = [NodeSnapshot {
        managed: 4_000_000,
        free: 2_000_000,
        watermarks: Watermarks {
            min: 11_000,
            low: 14_000,
            high: 17_000,
        },
        file: 1_000_000,
        anon: 900_000,
        ..NodeSnapshot::default()
    }];
    let mut now_s = 0.0;
    for _ in 0..50 {
        let seen = Snapshot {
            now_s,
            nodes: &nodes,
            ..Snapshot::default()
        };
        now_s += protect.decide(&seen).next_s;
    }
    // 9 GB last 8.5 s at a GB a second. The next snapshot comes after half of them.
    assert!(now_s > 50.0 * 4.0, "{now_s}");
}
