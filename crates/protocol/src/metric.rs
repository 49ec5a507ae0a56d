//! The metrics that a guest records by itself, besides those of its workers.
use crate::spec::Trace;

/// The way in which a metric is recorded, which decides the statistics that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Growth over a scene: `delta` or `rate`. Counters can be added, and divided by each other.
    Counter,
    /// Values in the course of a scene, or one at its end: every other statistic.
    Values,
}

/// Fields of /proc/meminfo that are sampled as `meminfo.NAME`, in KiB.
pub const MEMINFO: [&str; 13] = [
    "MemFree",
    "MemAvailable",
    "Active(anon)",
    "Inactive(anon)",
    "Active(file)",
    "Inactive(file)",
    "SwapFree",
    "SwapCached",
    "Dirty",
    "Writeback",
    "Mapped",
    "Slab",
    "Unevictable",
];

const COUNTERS: [&str; 11] = [
    "stall.alloc",
    "psi.memory.some_us",
    "psi.memory.full_us",
    "psi.io.some_us",
    "psi.io.full_us",
    "psi.cpu.some_us",
    "psi.cpu.full_us",
    "kswapd.cpu_ticks",
    "kswapd.run_ns",
    "daemon.cpu_us",
    "zram.failed_writes",
];

const VALUES: [&str; 7] = [
    "stall.longest_ms",
    "clean.least_mb",
    "lru_gen.most",
    "exhausted_to_kill_ms",
    "exhausted_to_death_ms",
    "meminfo.file",
    "meminfo.free_share",
];

const DIRECT_RECLAIM: [&str; 13] = [
    "count",
    "total_ms",
    "max_ms",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "under_5_ms",
    "from_5_ms",
    "from_50_ms",
    "from_500_ms",
    "over_50_ms",
    "unfinished",
    "lost",
];

const PAGE_CACHE: [&str; 4] = ["inserted", "evicted", "lost", "unread"];

/// The metrics of a tracepoint: their common name, and the part behind its dot.
pub fn of_trace(trace: Trace) -> (&'static str, &'static [&'static str]) {
    match trace {
        Trace::DirectReclaim => ("direct_reclaim", &DIRECT_RECLAIM),
        Trace::PageCache => ("page_cache", &PAGE_CACHE),
    }
}

/// Every metric that each guest records, and those of each of its `nodes` of memory. The fields
/// of /proc/vmstat, `vmstat.NAME`, depend on the kernel and are not among them.
pub fn of_guest(nodes: usize) -> Vec<(String, Recorded)> {
    let named = |names: &[&str], how| -> Vec<(String, Recorded)> {
        names.iter().map(|name| (name.to_string(), how)).collect()
    };
    let mut all = named(&COUNTERS, Recorded::Counter);
    all.extend(named(&VALUES, Recorded::Values));
    let fields = MEMINFO.iter().map(|field| format!("meminfo.{field}"));
    all.extend(fields.map(|name| (name, Recorded::Values)));
    for node in 0..nodes {
        for name in ["clean", "anon", "free"] {
            all.push((format!("node{node}.{name}"), Recorded::Values));
        }
    }
    all
}
