//! Lines from a guest, in order of time. Times are milliseconds of the guest's CLOCK_MONOTONIC.
use crate::pages::PageRun;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub type Counters = BTreeMap<String, f64>;

/// One line of the channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// The first line after boot.
    Hello {
        t_ms: f64,
        /// `uname -r`.
        release: String,
        cpus: u32,
        mem_total_kb: u64,
    },
    /// Settings, read back from the kernel after the knobs were written: path to contents.
    Settings { values: BTreeMap<String, String> },
    /// A scene begins. The counters are every field of /proc/vmstat as `vmstat.NAME`; the totals of
    /// /proc/pressure as `psi.memory.some_us`, `psi.memory.full_us`, likewise `io` and `cpu`; and
    /// `stall.alloc`, the sum of `allocstall` over all zones, which differ by machine.
    SceneBegin {
        t_ms: f64,
        name: String,
        counters: Counters,
    },
    SceneEnd {
        t_ms: f64,
        name: String,
        counters: Counters,
    },
    /// Gauges at a moment: `meminfo.MemFree` and others in KiB, and `meminfo.free_share` of
    /// MemTotal. Of each memory node also `nodeN.clean`, `nodeN.anon` and `nodeN.free`, as shares of
    /// what it can give away.
    Sample { t_ms: f64, gauges: Counters },
    /// One measured value, `probe.read_ms` for instance. Every scene has `stall.longest_ms`, the
    /// longest time in which all running tasks waited for memory. On MGLRU it has `lru_gen.most`,
    /// the most generations of a cgroup at its end.
    Observe { t_ms: f64, name: String, value: f64 },
    /// An event: `oom-kill`, `worker-start`, `worker-end`, `exhausted`, `scene-limit` (the event
    /// that the scene waits for did not come).
    Event {
        t_ms: f64,
        name: String,
        #[serde(default)]
        detail: String,
    },
    /// The page runs that `trace = ["page-cache"]` recorded since the last such line, in order.
    PageCache {
        /// Names of the files that first appear here. Their numbers continue from the last.
        files: Vec<String>,
        runs: Vec<PageRun>,
    },
    /// Share of the task that is done, 0 to 1.
    Progress { fraction: f64 },
    /// The task cannot go on.
    Error { message: String },
    /// The task is finished; the guest powers off now.
    End { t_ms: f64 },
}
