//! Samples memory for exhaustion and OOM kills, from a real-time thread.
use protocol::spec::Workload;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, vmstat_field};

/// Time between two samples. A sample is one sysinfo(2), so it disturbs nothing.
const PERIOD: Duration = Duration::from_millis(10);
/// Milliseconds without exhaustion after which a later exhaustion is a new one.
const PASSED_MS: f64 = 100.0;

/// OOM kills since boot, and the longest stall and the least clean pages since they were last
/// taken.
pub struct Watched {
    count: AtomicU64,
    /// Times that memory came to be exhausted.
    exhausted: AtomicU64,
    stall_us: AtomicU64,
    /// Workers' processes that were killed.
    died: AtomicU64,
    /// Least clean pages since they were last taken; u64::MAX: none sampled.
    least_clean: AtomicU64,
}

impl Default for Watched {
    fn default() -> Watched {
        Watched {
            count: AtomicU64::new(0),
            exhausted: AtomicU64::new(0),
            stall_us: AtomicU64::new(0),
            died: AtomicU64::new(0),
            least_clean: AtomicU64::new(u64::MAX),
        }
    }
}

impl Watched {
    /// A worker's process was killed, by the kernel or by a daemon.
    pub fn died(&self) {
        self.died.fetch_add(1, Ordering::AcqRel);
    }

    /// The least number of clean file pages in the samples since the last call, locked pages
    /// included. Clean pages are sampled when free pages or swap are short, else every other time.
    pub fn take_least_clean(&self) -> Option<u64> {
        let least = self.least_clean.swap(u64::MAX, Ordering::AcqRel);
        (least < u64::MAX).then_some(least)
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// The times that memory came to be exhausted, since boot.
    pub fn exhausted(&self) -> u64 {
        self.exhausted.load(Ordering::Acquire)
    }

    /// The longest stall since the last call, in milliseconds: a time in which every task that was not
    /// idle waited for memory, so that `full` of /proc/pressure/memory grew as fast as the clock. The
    /// error is one period of the samples.
    pub fn take_stall_ms(&self) -> f64 {
        self.stall_us.swap(0, Ordering::AcqRel) as f64 / 1e3
    }
}

/// Starts the watcher. Each OOM kill is an event `oom-kill`, and observes `exhausted_to_kill_ms`
/// where memory was exhausted before. Each death of a worker's process by SIGKILL observes
/// `exhausted_to_death_ms`, 0 where memory was not exhausted.
///
/// Exhausted means: no swap left (under 1% or 1 MiB), free pages under the high watermarks, and
/// clean file pages at or under the workload's floor. This moment is the same for every arm,
/// protected or not: from then on an allocation can only take pages that the floor would keep. A
/// kill may come between two samples with clean pages at the floor at the first. The time between
/// the samples is then observed, which is an upper bound.
pub fn start(workload: &Workload, channel: Arc<Channel>, stop: Arc<AtomicBool>) -> Arc<Watched> {
    let watched = Arc::new(Watched::default());
    let floor_pages = workload.exhausted_below.bytes() / 4096;
    let seen = watched.clone();
    std::thread::spawn(move || {
        realtime(50);
        let mut watcher = Watcher::new(floor_pages);
        while !stop.load(Ordering::Acquire) {
            watcher.sample(&channel, &seen);
            std::thread::sleep(PERIOD);
        }
    });
    watched
}

/// Gives this thread a real-time priority. On a one-CPU guest an ordinary thread would measure its own
/// waiting.
pub fn realtime(priority: i32) {
    let param = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: sched_setscheduler(2) reads the struct, which lives through the call.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &param) } != 0 {
        eprintln!("watch: SCHED_FIFO: {}", std::io::Error::last_os_error());
    }
}

struct Watcher {
    floor_pages: u64,
    /// Sum of the zones' high watermarks, in pages.
    high_pages: u64,
    /// The times of the first and of the last sample of the present exhaustion.
    since: Option<f64>,
    seen: f64,
    /// Time of the last sample of vmstat, and whether clean pages were at the floor.
    last: (f64, bool),
    kills: u64,
    died: u64,
    /// Pages that were locked at the first sample. Pages locked later are files that a daemon
    /// holds.
    locked: Option<u64>,
    tick: u32,
    stall: Stall,
}

/// Follows /proc/pressure/memory.
#[derive(Default)]
struct Stall {
    /// Time and total of the last sample, in milliseconds.
    last: Option<(f64, f64)>,
    /// Milliseconds stalled without a break.
    run: f64,
}

impl Stall {
    /// The length of the present stall in milliseconds, given the total stalled time. Nine tenths
    /// of the time between two samples count as all of it, since samples are not exact.
    fn sample(&mut self, now: f64, total: f64) -> f64 {
        if let Some((then, before)) = self.last.replace((now, total)) {
            let (passed, stalled) = (now - then, total - before);
            self.run = match stalled >= passed * 0.9 {
                true => self.run + stalled,
                // The stall ended or began within this stretch.
                false => stalled,
            };
        }
        self.run
    }
}

impl Watcher {
    fn new(floor_pages: u64) -> Watcher {
        Watcher {
            floor_pages,
            high_pages: 0,
            since: None,
            seen: 0.0,
            last: (now_ms(), false),
            kills: 0,
            died: 0,
            locked: None,
            tick: 0,
            stall: Stall::default(),
        }
    }

    fn sample(&mut self, channel: &Channel, watched: &Watched) {
        let now = now_ms();
        // Watermarks change only when a knob is written: once a second is enough.
        if self.tick.is_multiple_of(100) {
            self.high_pages = high_watermarks();
        }
        self.tick = self.tick.wrapping_add(1);
        if let Some(total) = stalled_ms() {
            let run = self.stall.sample(now, total);
            watched
                .stall_us
                .fetch_max((run * 1e3) as u64, Ordering::AcqRel);
        }
        let (free, swap) = self.short();
        // vmstat costs more than sysinfo(2): it is read every other time, and each time when memory
        // is short.
        if !free && !swap && self.since.is_none() && !self.tick.is_multiple_of(2) {
            return;
        }
        let vmstat = read("/proc/vmstat").unwrap_or_default();
        let pages = self.clean(&vmstat);
        watched.least_clean.fetch_min(pages, Ordering::AcqRel);
        let clean = pages <= self.floor_pages;
        if free && swap && clean {
            if self.since.is_none() {
                self.since = Some(now);
                watched.exhausted.fetch_add(1, Ordering::AcqRel);
            }
            self.seen = now;
        }
        let died = watched.died.load(Ordering::Acquire);
        if died > self.died {
            self.died = died;
            let since = self.since.or((self.last.1 || clean).then_some(self.last.0));
            let since = since.unwrap_or(now);
            channel.observe("exhausted_to_death_ms".into(), now, now - since);
        }
        let killed = vmstat_field(&vmstat, "oom_kill").unwrap_or(0);
        if killed > self.kills {
            // Exhausted for less than the time between two samples: observed as that time.
            let between = (self.last.1 || clean).then_some(self.last.0);
            if self.since.is_none() && between.is_some() {
                watched.exhausted.fetch_add(1, Ordering::AcqRel);
            }
            if let Some(since) = self.since.take().or(between) {
                channel.observe("exhausted_to_kill_ms".into(), since, now - since);
            }
            channel.event("oom-kill", format!("{killed} in all"));
            self.kills = killed;
            watched.count.store(killed, Ordering::Release);
        }
        if self.since.is_some() && now - self.seen > PASSED_MS {
            self.since = None;
        }
        self.last = (now, clean);
    }

    /// Whether free pages are short, and whether swap is used up.
    fn short(&self) -> (bool, bool) {
        let info = rustix::system::sysinfo();
        let unit = u64::from(info.mem_unit.max(1));
        let (free, swap, swap_free) = (
            info.freeram as u64 * unit / 4096,
            info.totalswap as u64 * unit,
            info.freeswap as u64 * unit,
        );
        (
            free <= self.high_pages,
            swap_free <= (swap / 100).max(1 << 20),
        )
    }

    /// Clean pages of the file LRU lists, and the pages locked since the first sample.
    fn clean(&mut self, vmstat: &str) -> u64 {
        let get = |name| vmstat_field(vmstat, name).unwrap_or(0);
        let locked = get("nr_mlock");
        let before = *self.locked.get_or_insert(locked);
        (get("nr_inactive_file") + get("nr_active_file"))
            .saturating_sub(get("nr_dirty") + get("nr_writeback"))
            + locked.saturating_sub(before)
    }
}

/// Total of `full` memory pressure; none where the kernel has no PSI.
fn stalled_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/pressure/memory").ok()?;
    let full = text.lines().find(|line| line.starts_with("full "))?;
    let total = full.rsplit_once("total=")?.1;
    Some(total.trim().parse::<f64>().ok()? / 1e3)
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

#[cfg(test)]
mod tests {
    use super::Stall;

    #[test]
    fn a_stall_is_added_up_until_it_breaks() {
        let mut stall = Stall::default();
        let totals = [
            (0.0, 5.0),
            (10.0, 5.0),
            (20.0, 9.0),
            (30.0, 19.0),
            (40.0, 28.5),
        ];
        let runs: Vec<f64> = totals.iter().map(|(t, x)| stall.sample(*t, *x)).collect();
        assert_eq!(runs, [0.0, 0.0, 4.0, 14.0, 23.5]);
        assert_eq!(stall.sample(50.0, 30.0), 1.5);
        assert_eq!(stall.sample(60.0, 30.0), 0.0);
    }
}
