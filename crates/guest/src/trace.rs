//! Direct reclaim, timed by the kernel's own tracepoints.
//!
//! The events are read as text from `trace_pipe`, which works where there are no histogram triggers
//! (User-Mode Linux). What is kept of them does not grow with their number.
use anyhow::{Context, Result};
use raw::spec::Trace;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::channel::Channel;
use crate::setup::write;

const TRACEFS: &str = "/sys/kernel/tracing";
/// Kernel's buffer for each CPU. An event takes some 50 bytes: thousands fit between two looks.
const BUFFER_KB: &str = "512";
/// How often the buffer is emptied: seldom, since each look takes CPU time from what is measured.
const PERIOD: Duration = Duration::from_millis(50);
/// Threads in reclaim at once that are followed.
const THREADS: usize = 1024;
/// Steps of the histogram for each doubling: a percentile is right to 1/16 of a doubling, 5%.
const STEPS: f64 = 8.0;
/// From 1 microsecond to beyond an hour.
const BUCKETS: usize = 32 * STEPS as usize;

/// The listener, if the spec asks for one.
pub struct Tracer {
    seen: Arc<Mutex<Seen>>,
    on: bool,
}

/// What was seen of each scene.
#[derive(Default)]
struct Seen {
    scenes: Vec<Scene>,
    /// Thread to the time at which its reclaim began.
    open: BTreeMap<u32, f64>,
    lost: u64,
}

struct Scene {
    begin_ms: f64,
    count: u64,
    total_ms: f64,
    max_ms: f64,
    /// Under 5 ms, 5 to 50, 50 to 500, 500 and above.
    coarse: [u64; 4],
    fine: [u32; BUCKETS],
    lost_before: u64,
}

impl Tracer {
    /// Starts to listen. The thread is locked in memory like all of PID 1.
    ///
    /// # Errors
    /// When the kernel has no such tracepoints.
    pub fn start(wanted: &[Trace]) -> Result<Tracer> {
        let tracer = Tracer {
            seen: Arc::new(Mutex::new(Seen::default())),
            on: wanted.contains(&Trace::DirectReclaim),
        };
        if !tracer.on {
            return Ok(tracer);
        }
        let put = |file: &str, value: &str| {
            write(&format!("{TRACEFS}/{file}"), value)
                .context("tracing needs CONFIG_FTRACE and CONFIG_ENABLE_DEFAULT_TRACERS")
        };
        // The clock of all other times of the guest.
        put("trace_clock", "mono")?;
        put("buffer_size_kb", BUFFER_KB)?;
        for event in ["begin", "end"] {
            let event = format!("events/vmscan/mm_vmscan_direct_reclaim_{event}/enable");
            put(&event, "1")?;
        }
        let path = format!("{TRACEFS}/trace_pipe");
        let mut options = std::fs::OpenOptions::new();
        let pipe = options
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path);
        let pipe = pipe.with_context(|| format!("opening {path}"))?;
        let seen = tracer.seen.clone();
        std::thread::spawn(move || listen(pipe, &seen));
        Ok(tracer)
    }

    /// A scene begins.
    pub fn scene(&self, begin_ms: f64) {
        let mut seen = self.seen();
        let lost_before = seen.lost;
        seen.scenes.push(Scene {
            begin_ms,
            count: 0,
            total_ms: 0.0,
            max_ms: 0.0,
            coarse: [0; 4],
            fine: [0; BUCKETS],
            lost_before,
        });
    }

    /// Says what was seen of each scene, once all are over.
    pub fn tell(&self, channel: &Channel) {
        if !self.on {
            return;
        }
        // Two looks: one may be under way.
        std::thread::sleep(PERIOD * 3);
        let seen = self.seen();
        for (place, scene) in seen.scenes.iter().enumerate() {
            let say = |name: &str, value: f64| {
                channel.observe(format!("direct_reclaim.{name}"), scene.begin_ms, value);
            };
            say("count", scene.count as f64);
            say("total_ms", scene.total_ms);
            say("max_ms", scene.max_ms);
            for (name, share) in [("p50_ms", 0.5), ("p90_ms", 0.9), ("p99_ms", 0.99)] {
                say(name, scene.quantile(share));
            }
            let names = ["under_5_ms", "from_5_ms", "from_50_ms", "from_500_ms"];
            for (name, count) in names.iter().zip(scene.coarse) {
                say(name, count as f64);
            }
            say("over_50_ms", (scene.coarse[2] + scene.coarse[3]) as f64);
            let end = seen.scenes.get(place + 1);
            let until = end.map_or(f64::INFINITY, |next| next.begin_ms);
            let open = seen.open.values();
            let open = open.filter(|&&t| scene.begin_ms <= t && t < until).count();
            say("unfinished", open as f64);
            let lost = end.map_or(seen.lost, |next| next.lost_before);
            say("lost", (lost - scene.lost_before) as f64);
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listen(mut pipe: File, seen: &Mutex<Seen>) {
    crate::watch::realtime(40);
    let mut buffer = vec![0u8; 64 << 10];
    let mut kept = 0;
    loop {
        match pipe.read(&mut buffer[kept..]) {
            Ok(0) => std::thread::sleep(PERIOD),
            Ok(n) => {
                let end = kept + n;
                let whole = buffer[..end].iter().rposition(|&b| b == b'\n');
                let whole = whole.map_or(0, |at| at + 1);
                {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    for line in buffer[..whole].split(|&b| b == b'\n') {
                        // A program's name need not be UTF-8; the rest of the line is ASCII.
                        seen.line(&String::from_utf8_lossy(line));
                    }
                }
                buffer.copy_within(whole..end, 0);
                // A line as long as the buffer is none of ours.
                kept = if end - whole == buffer.len() {
                    0
                } else {
                    end - whole
                };
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => std::thread::sleep(PERIOD),
        }
    }
}

impl Seen {
    fn line(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once("[LOST ") {
            let count = rest.split_whitespace().next();
            self.lost += count.and_then(|n| n.parse().ok()).unwrap_or(1);
            // An end may be among them: what is open would last until the thread's next.
            self.open.clear();
            return;
        }
        let Some(Event {
            thread,
            t_ms,
            begin,
        }) = event(line)
        else {
            return;
        };
        if begin {
            if self.open.len() < THREADS {
                self.open.insert(thread, t_ms);
            }
        } else if let Some(from) = self.open.remove(&thread) {
            let scenes = self.scenes.iter_mut().rev();
            if let Some(scene) = { scenes }.find(|scene| scene.begin_ms <= from) {
                scene.take(t_ms - from);
            }
        }
    }
}

struct Event {
    thread: u32,
    t_ms: f64,
    begin: bool,
}

/// `COMM-PID [CPU] FLAGS SECONDS: mm_vmscan_direct_reclaim_begin: order=0 ...`; none for any other
/// event.
fn event(line: &str) -> Option<Event> {
    let (head, begin) = match line.split_once(": mm_vmscan_direct_reclaim_begin:") {
        Some((head, _)) => (head, true),
        None => (line.split_once(": mm_vmscan_direct_reclaim_end:")?.0, false),
    };
    let (before, seconds) = head.rsplit_once(' ')?;
    let (task, _) = before.rsplit_once('[')?;
    let (_, thread) = task.trim_end().rsplit_once('-')?;
    Some(Event {
        thread: thread.parse().ok()?,
        t_ms: seconds.parse::<f64>().ok()? * 1e3,
        begin,
    })
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

    /// In milliseconds; 0 where nothing was reclaimed, for then nobody waited.
    fn quantile(&self, share: f64) -> f64 {
        let rank = (self.count as f64 * share).ceil() as u64;
        let mut sum = 0;
        for (place, &count) in self.fine.iter().enumerate() {
            sum += u64::from(count);
            if sum >= rank && count > 0 {
                // The middle of the step, but never above what was seen.
                let middle = ((place as f64 + 0.5) / STEPS).exp2() / 1e3;
                return middle.min(self.max_ms);
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(begin_ms: f64) -> Scene {
        Scene {
            begin_ms,
            count: 0,
            total_ms: 0.0,
            max_ms: 0.0,
            coarse: [0; 4],
            fine: [0; BUCKETS],
            lost_before: 0,
        }
    }

    fn lines(seen: &mut Seen, text: &str) {
        text.lines().for_each(|line| seen.line(line));
    }

    #[test]
    fn begin_and_end_are_paired_by_thread_and_belong_to_the_scene_of_the_begin() {
        let mut seen = Seen {
            scenes: vec![scene(0.0), scene(2000.0)],
            ..Seen::default()
        };
        lines(
            &mut seen,
            "   tail -- [x]-12   [000] .....     1.000000: mm_vmscan_direct_reclaim_begin: order=0 gfp_flags=GFP_KERNEL\n\
                     cat-7    [001] d..1.     1.001000: mm_vmscan_direct_reclaim_begin: order=0\n\
                     cat-7    [000] .....     1.003500: mm_vmscan_direct_reclaim_end: nr_reclaimed=32\n\
                     cat-7    [000] .....     1.004000: mm_vmscan_memcg_reclaim_end: nr_reclaimed=32\n\
               tail -- [x]-12   [001] .....     3.000000: mm_vmscan_direct_reclaim_end: nr_reclaimed=1\n\
                     cat-9    [000] .....     3.100000: mm_vmscan_direct_reclaim_end: nr_reclaimed=1\n\
                     cat-7    [000] .....     3.200000: mm_vmscan_direct_reclaim_begin: order=0",
        );
        let first = &seen.scenes[0];
        assert_eq!((first.count, first.coarse), (2, [1, 0, 0, 1]));
        assert!((first.total_ms - 2002.5).abs() < 1e-6);
        assert_eq!(first.max_ms, 2000.0);
        assert_eq!(seen.scenes[1].count, 0, "an end without a begin is none");
        assert_eq!(seen.open.len(), 1);
    }

    #[test]
    fn events_that_the_kernel_dropped_are_told_and_pair_nothing() {
        let mut seen = Seen {
            scenes: vec![scene(0.0)],
            ..Seen::default()
        };
        lines(
            &mut seen,
            "cat-7 [000] ..... 1.0: mm_vmscan_direct_reclaim_begin: order=0\n\
             CPU:0 [LOST 312 EVENTS]\n\
             cat-7 [000] ..... 9.0: mm_vmscan_direct_reclaim_end: nr_reclaimed=1",
        );
        assert_eq!((seen.lost, seen.scenes[0].count), (312, 0));
    }

    #[test]
    fn percentiles_are_right_to_a_step() {
        let mut scene = scene(0.0);
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
