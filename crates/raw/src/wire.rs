//! Lines from a guest, in order of time. Times are milliseconds of the guest's CLOCK_MONOTONIC.
use crate::pages::PageRun;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub type Counters = BTreeMap<String, f64>;

/// One line of the channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// First words after boot.
    Hello {
        t_ms: f64,
        /// `uname -r`.
        release: String,
        cpus: u32,
        mem_total_kb: u64,
    },
    /// Settings as read back from the kernel after the knobs were written (path to contents).
    Settings { values: BTreeMap<String, String> },
    /// A scene begins. Counters: every field of /proc/vmstat as `vmstat.NAME`, and the totals of
    /// /proc/pressure as `psi.memory.some_us`, `psi.memory.full_us`, likewise `io` and `cpu`;
    /// `stall.alloc`, the sum of `allocstall` over all zones, which not every machine has alike.
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
    /// Gauges at a moment, `meminfo.MemFree` in KiB and the like, `meminfo.free_share` of MemTotal; with several memory nodes
    /// `nodeN.clean`, `nodeN.anon` and `nodeN.free` as shares of the node's own pages.
    Sample { t_ms: f64, gauges: Counters },
    /// One measured value, `probe.read_ms` for instance. Of every scene there is
    /// `stall.longest_ms`: the longest time in which all tasks that ran waited for memory; on MGLRU
    /// `lru_gen.most`: the most generations that a cgroup had at its end.
    Observe { t_ms: f64, name: String, value: f64 },
    /// Something that happened: `oom-kill`, `worker-start`, `worker-end`, `exhausted`,
    /// `scene-limit` (what the scene waits for did not come).
    Event {
        t_ms: f64,
        name: String,
        #[serde(default)]
        detail: String,
    },
    /// What `trace = ["page-cache"]` saw since the last such line, in order.
    PageCache {
        /// Names of the files that were not seen before: their numbers go on from the last.
        files: Vec<String>,
        runs: Vec<PageRun>,
    },
    /// How far the task is, 0 to 1.
    Progress { fraction: f64 },
    /// The task cannot go on.
    Error { message: String },
    /// The task is finished; the guest powers off now.
    End { t_ms: f64 },
}
