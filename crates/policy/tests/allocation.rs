//! Nothing is allocated for an observation.
use policy::{
    Config, Decision, Dentries, Inodes, Machine, NodeObservation, Observation, Policy, Watermarks,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// One count a thread, because the test harness allocates too.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn an_observation_allocates_nothing() {
    let machine = Machine {
        node_reclaim: true,
        max_nodes: 4,
        ..Machine::default()
    };
    let mut policy = Policy::new(
        Config {
            aggressiveness: 3,
            ..Config::default()
        },
        machine,
    );
    let mut decision = Decision::default();
    let mut actions = 0;
    let mut run = |from: u64, policy: &mut Policy, decision: &mut Decision| -> usize {
        let before = COUNT.with(Cell::get);
        for round in from..from + 2000 {
            // Bursts, stalls, fragmentation, and dentries that come and go reach every module.
            let wave = round % 40;
            let blocks = [wave * 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 400 - wave * 10];
            let node = |id: u32| NodeObservation {
                id,
                managed: 1_000_000,
                free: if wave == 30 {
                    4_000
                } else {
                    400_000 - wave * 9_000
                },
                watermarks: Watermarks {
                    min: 4_000,
                    low: 5_000,
                    high: 6_000,
                },
                file: 300_000,
                free_blocks: &blocks,
                ..NodeObservation::default()
            };
            let nodes = [node(0), node(1), node(2), node(3)];
            let mut seen = Observation {
                now_s: round as f64 * 5.0,
                nodes: &nodes,
                ..Observation::default()
            };
            seen.vmstat.pgsteal_kswapd = round * 1000;
            seen.vmstat.pgsteal_direct = round / 40 * 1000;
            seen.vmstat.allocstall = round / 40 * 10;
            seen.knobs.watermark_scale_factor = Some(10);
            seen.knobs.vfs_cache_pressure = Some(100);
            seen.knobs.negative_dentry_limit = Some(900);
            seen.meminfo.total = 16_000_000;
            seen.meminfo.hugetlb = round % 100 * 100_000;
            seen.dentries = Some(Dentries {
                count: 1_000_000 + wave * 90_000,
                ..Dentries::default()
            });
            seen.inodes = Some(Inodes::default());
            policy.observe(&seen, decision);
            actions += decision.actions().count();
        }
        COUNT.with(Cell::get) - before
    };
    // The lists of a fresh decision grow to the number of nodes once.
    run(0, &mut policy, &mut decision);
    let allocated = run(2000, &mut policy, &mut decision);
    assert!(
        actions > 100,
        "only {actions} actions: the test does not reach the modules"
    );
    assert_eq!(allocated, 0);
}
