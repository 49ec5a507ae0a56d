//! Watches for exhaustion and for OOM kills, from a thread that is never late.
use raw::spec::Workload;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::counters::{read, vmstat_field};

/// How often memory is looked at. One sysinfo(2) a time, so it disturbs nothing.
const PERIOD: Duration = Duration::from_millis(10);
/// A gap this long in the exhaustion means that it passed, and starts the clock anew.
const PASSED_MS: f64 = 100.0;

/// Number of OOM kills seen since boot.
#[derive(Default)]
pub struct Kills(AtomicU64);

impl Kills {
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// Starts the watcher. It observes `exhausted_to_kill_ms` for each OOM kill that comes while
/// memory is exhausted, and says an event `oom-kill` for every one.
///
/// Exhausted means: no swap left (under 1% and 1 MiB), free pages under the high watermarks, and
/// clean file pages at or under the workload's floor. It is the same moment for every arm,
/// protected or not: from there on an allocation can only take what the floor would keep.
pub fn start(workload: &Workload, channel: Arc<Channel>, stop: Arc<AtomicBool>) -> Arc<Kills> {
    let kills = Arc::new(Kills::default());
    let floor_pages = workload.exhausted_below.bytes() / 4096;
    let seen = kills.clone();
    std::thread::spawn(move || {
        realtime();
        let mut watcher = Watcher::new(floor_pages);
        while !stop.load(Ordering::Acquire) {
            watcher.look(&channel, &seen);
            std::thread::sleep(PERIOD);
        }
    });
    kills
}

/// On a one-CPU guest an ordinary thread would measure its own waiting.
fn realtime() {
    let param = libc::sched_param { sched_priority: 50 };
    // SAFETY: sched_setscheduler(2) reads the struct, which lives through the call.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &param) } != 0 {
        eprintln!("watch: SCHED_FIFO: {}", std::io::Error::last_os_error());
    }
}

struct Watcher {
    floor_pages: u64,
    /// Sum of the zones' high watermarks, in pages.
    high_pages: u64,
    since: Option<f64>,
    last: f64,
    kills: u64,
    tick: u32,
}

impl Watcher {
    fn new(floor_pages: u64) -> Watcher {
        Watcher {
            floor_pages,
            high_pages: 0,
            since: None,
            last: 0.0,
            kills: 0,
            tick: 0,
        }
    }

    fn look(&mut self, channel: &Channel, seen: &Kills) {
        let now = now_ms();
        // Watermarks change when a knob is written, seldom: once a second is enough.
        if self.tick.is_multiple_of(100) {
            self.high_pages = high_watermarks();
        }
        self.tick = self.tick.wrapping_add(1);
        let short = self.short();
        let mut vmstat = None;
        if short {
            let text = read("/proc/vmstat").unwrap_or_default();
            if self.clean(&text) <= self.floor_pages {
                self.since.get_or_insert(now);
                self.last = now;
            }
            vmstat = Some(text);
        }
        if self.since.is_some() || self.tick.is_multiple_of(5) {
            let text = vmstat.unwrap_or_else(|| read("/proc/vmstat").unwrap_or_default());
            let kills = vmstat_field(&text, "oom_kill").unwrap_or(0);
            if kills > self.kills {
                if let Some(since) = self.since.take() {
                    channel.observe("exhausted_to_kill_ms".into(), since, now - since);
                }
                channel.event("oom-kill", format!("{} in all", kills));
                self.kills = kills;
                seen.0.store(kills, Ordering::Release);
            }
        }
        if self.since.is_some() && now - self.last > PASSED_MS {
            self.since = None;
        }
    }

    fn short(&self) -> bool {
        let info = rustix::system::sysinfo();
        let unit = u64::from(info.mem_unit.max(1));
        let (free, swap, swap_free) = (
            info.freeram as u64 * unit / 4096,
            info.totalswap as u64 * unit,
            info.freeswap as u64 * unit,
        );
        swap_free <= (swap / 100).max(1 << 20) && free <= self.high_pages
    }

    /// Clean pages on the file LRU lists.
    fn clean(&self, vmstat: &str) -> u64 {
        let get = |name| vmstat_field(vmstat, name).unwrap_or(0);
        (get("nr_inactive_file") + get("nr_active_file"))
            .saturating_sub(get("nr_dirty") + get("nr_writeback"))
    }
}

fn high_watermarks() -> u64 {
    let text = read("/proc/zoneinfo").unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            line.trim()
                .strip_prefix("high ")?
                .trim()
                .parse::<u64>()
                .ok()
        })
        .sum()
}
