//! The leak check: memory that nothing in /proc/meminfo accounts for. It reads no page frames.
use crate::{Action, Decision, Meminfo, Observation, Warning};

/// Seconds between two checks.
const EVERY_S: f64 = 60.0;
/// A growth below this share of memory is noise.
const NOISE: f64 = 0.0005;
/// A leak is sudden where unexplained memory doubled and grew by this share of memory or more.
const SUDDEN: f64 = 0.01;
/// A leak is slow where unexplained memory grew at so many checks in a row.
const GROWTHS: u32 = 10;

#[derive(Default)]
pub(crate) struct Leak {
    /// Time and unexplained memory of the last check, KiB.
    last: Option<(f64, u64)>,
    /// Growths in a row.
    growths: u32,
    /// Unexplained memory when the growths began, KiB.
    since: u64,
}

impl Leak {
    pub fn run(&mut self, seen: &Observation, decision: &mut Decision) {
        let now = unexplained(&seen.meminfo);
        let Some((at_s, before)) = self.last else {
            self.last = Some((seen.now_s, now));
            return;
        };
        if seen.now_s - at_s < EVERY_S {
            return;
        }
        self.last = Some((seen.now_s, now));
        let total = seen.meminfo.total as f64;
        let growth = now.saturating_sub(before) as f64;
        if now >= before.saturating_mul(2) && growth >= SUDDEN * total {
            decision.push(
                Action::Warn(Warning::SuddenLeak),
                format_args!(
                    "memory that nothing accounts for went from {before} to {now} KiB in a minute"
                ),
            );
        }
        if growth < NOISE * total {
            self.growths = 0;
            return;
        }
        if self.growths == 0 {
            self.since = before;
        }
        self.growths += 1;
        if self.growths >= GROWTHS {
            decision.push(
                Action::Warn(Warning::SlowLeak),
                format_args!(
                    "memory that nothing accounts for grew {GROWTHS} times in a row, from {} to \
                     {now} KiB",
                    self.since
                ),
            );
            self.growths = 0;
        }
    }
}

/// Memory that no field of meminfo accounts for, KiB. The fields are read at slightly different moments
/// and may add up to more than there is. Then the result is 0.
fn unexplained(meminfo: &Meminfo) -> u64 {
    let accounted = [
        meminfo.free,
        meminfo.lru,
        meminfo.slab,
        meminfo.kernel_stack,
        meminfo.page_tables,
        meminfo.sec_page_tables,
        meminfo.percpu,
        meminfo.vmalloc_used,
        meminfo.hugetlb,
        meminfo.zswap,
        meminfo.other,
    ];
    accounted
        .iter()
        .fold(meminfo.total, |left, part| left.saturating_sub(*part))
}
