//! Direct reclaim, timed by the kernel's own tracepoints. The memory for the results does not grow
//! with the number of events.
use super::event::Event;
use std::collections::BTreeMap;

/// KiB of the kernel's buffer a CPU. An event takes some 50 bytes, so thousands fit between two
/// reads.
pub const BUFFER_KB: u32 = 512;
/// Threads in reclaim that are followed at once.
const THREADS: usize = 1024;
/// Steps of the histogram for each doubling. A percentile is right to 1/16 of a doubling, 5%.
const STEPS: f64 = 8.0;
/// Steps from 1 microsecond to beyond an hour.
const BUCKETS: usize = 32 * STEPS as usize;

#[derive(Default)]
pub struct Reclaim {
    scenes: Vec<Scene>,
    /// Thread to the time at which its reclaim began, in milliseconds.
    open: BTreeMap<u32, f64>,
}

struct Scene {
    begin_ms: f64,
    count: u64,
    total_ms: f64,
    max_ms: f64,
    /// Counts under 5 ms, from 5 to 50, from 50 to 500, from 500 on.
    coarse: [u64; 4],
    fine: [u32; BUCKETS],
}

impl Reclaim {
    pub fn scene(&mut self, begin_ms: f64) {
        self.scenes.push(Scene {
            begin_ms,
            count: 0,
            total_ms: 0.0,
            max_ms: 0.0,
            coarse: [0; 4],
            fine: [0; BUCKETS],
        });
    }

    /// Forgets open reclaims, since the kernel dropped events. An end may be among them, and the
    /// reclaim would last until the thread's next one.
    pub fn lost(&mut self) {
        self.open.clear();
    }

    pub fn event(&mut self, event: &Event<'_>) {
        match event.name {
            "mm_vmscan_direct_reclaim_begin" if self.open.len() < THREADS => {
                self.open.insert(event.thread, event.t_ms);
            }
            "mm_vmscan_direct_reclaim_end" => {
                let Some(from) = self.open.remove(&event.thread) else {
                    return;
                };
                let scenes = self.scenes.iter_mut().rev();
                if let Some(scene) = { scenes }.find(|scene| scene.begin_ms <= from) {
                    scene.take(event.t_ms - from);
                }
            }
            _ => {}
        }
    }

    /// Observes the numbers of one scene, which ends at `until`, in milliseconds.
    pub fn report(&self, place: usize, until: f64, mut observe: impl FnMut(&str, f64)) {
        let scene = &self.scenes[place];
        observe("count", scene.count as f64);
        observe("total_ms", scene.total_ms);
        observe("max_ms", scene.max_ms);
        for (name, share) in [("p50_ms", 0.5), ("p90_ms", 0.9), ("p99_ms", 0.99)] {
            observe(name, scene.quantile(share));
        }
        let names = ["under_5_ms", "from_5_ms", "from_50_ms", "from_500_ms"];
        for (name, count) in names.iter().zip(scene.coarse) {
            observe(name, count as f64);
        }
        observe("over_50_ms", (scene.coarse[2] + scene.coarse[3]) as f64);
        let open = self.open.values();
        let open = open.filter(|&&t| scene.begin_ms <= t && t < until).count();
        observe("unfinished", open as f64);
    }
}

impl Scene {
    fn take(&mut self, ms: f64) {
        self.count += 1;
        self.total_ms += ms;
        self.max_ms = self.max_ms.max(ms);
        let coarse = match ms {
            ms if ms < 5.0 => 0,
            ms if ms < 50.0 => 1,
            ms if ms < 500.0 => 2,
            _ => 3,
        };
        self.coarse[coarse] += 1;
        let place = ((ms * 1e3).max(1.0).log2() * STEPS) as usize;
        self.fine[place.min(BUCKETS - 1)] += 1;
    }

    /// A quantile in milliseconds; 0 without any reclaim.
    fn quantile(&self, share: f64) -> f64 {
        let rank = (self.count as f64 * share).ceil() as u64;
        let mut sum = 0;
        for (place, &count) in self.fine.iter().enumerate() {
            sum += u64::from(count);
            if sum >= rank && count > 0 {
                // The middle of the step, but at most the longest time seen.
                let middle = ((place as f64 + 0.5) / STEPS).exp2() / 1e3;
                return middle.min(self.max_ms);
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::event;
    use super::*;

    #[test]
    fn begin_and_end_are_paired_by_thread_and_belong_to_the_scene_of_the_begin() {
        let mut seen = Reclaim::default();
        seen.scene(0.0);
        seen.scene(2000.0);
        let lines =
            "   tail -- [x]-12   [000] .....     1.000000: mm_vmscan_direct_reclaim_begin: order=0 gfp_flags=GFP_KERNEL\n\
                     cat-7    [001] d..1.     1.001000: mm_vmscan_direct_reclaim_begin: order=0\n\
                     cat-7    [000] .....     1.003500: mm_vmscan_direct_reclaim_end: nr_reclaimed=32\n\
                     cat-7    [000] .....     1.004000: mm_vmscan_memcg_reclaim_end: nr_reclaimed=32\n\
               tail -- [x]-12   [001] .....     3.000000: mm_vmscan_direct_reclaim_end: nr_reclaimed=1\n\
                     cat-9    [000] .....     3.100000: mm_vmscan_direct_reclaim_end: nr_reclaimed=1\n\
                     cat-7    [000] .....     3.200000: mm_vmscan_direct_reclaim_begin: order=0";
        for event in lines.lines().filter_map(event) {
            seen.event(&event);
        }
        let first = &seen.scenes[0];
        assert_eq!((first.count, first.coarse), (2, [1, 0, 0, 1]));
        assert!((first.total_ms - 2002.5).abs() < 1e-6);
        assert_eq!(first.max_ms, 2000.0);
        assert_eq!(seen.scenes[1].count, 0, "an end without a begin is none");
        assert_eq!(seen.open.len(), 1);
    }

    #[test]
    fn percentiles_are_right_to_one_step_of_the_histogram() {
        let mut reclaim = Reclaim::default();
        reclaim.scene(0.0);
        let scene = &mut reclaim.scenes[0];
        assert_eq!(scene.quantile(0.9), 0.0);
        for ms in 1..=1000 {
            scene.take(f64::from(ms));
        }
        for (share, known) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
            let found = scene.quantile(share);
            assert!((found / known - 1.0).abs() < 0.06, "{share}: {found}");
        }
        assert_eq!(scene.coarse, [4, 45, 450, 501]);
    }
}
