//! The document, with the parts that every daemon reports.
use crate::protection::Protection;
use crate::tolerant::document;
use serde::{Deserialize, Serialize};

/// The name and version of the document's fields. The version grows where a field goes or changes its meaning.
pub const SCHEMA: &str = "hotset.status.1";

/// Fields, besides `schema`, that the document of every daemon has.
pub const REQUIRED: &[&str] = &[
    "version",
    "aggressiveness",
    "modules",
    "nodes",
    "watermarks",
    "rates",
    "knobs",
    "counts",
    "actions",
];

document! {
    /// The status of a running daemon. Pages are of the size [`Status::page_size`].
    pub struct Status {
        /// [`SCHEMA`] of the daemon; empty: a daemon that does not report it.
        pub schema: String,
        /// The daemon's version.
        pub version: String,
        /// The daemon's process id.
        pub pid: Option<u32>,
        /// Bytes of a page. `None`: not reported.
        pub page_size: Option<u64>,
        /// The daemon writes nothing.
        pub dry_run: bool,
        /// 1 (careful) to 3.
        pub aggressiveness: u8,
        /// Seconds since the daemon's start.
        pub uptime_s: Option<f64>,
        /// CPU seconds of all of the daemon's threads.
        pub cpu_s: f64,
        /// Seconds since the last sample.
        pub sample_age_s: f64,
        /// Seconds from the last sample to the next.
        pub next_sample_s: f64,
        /// Which modules are enabled.
        pub modules: Modules,
        /// The forecast of each NUMA node.
        pub nodes: Vec<Node>,
        /// The sizing of the gap between the watermarks.
        pub watermarks: FreePages,
        /// Rates between the last two samples.
        pub rates: Rates,
        /// The knobs that the daemon reads or has written.
        pub knobs: Vec<Knob>,
        /// Events since the daemon's start.
        pub counts: Counts,
        /// The last actions, the oldest first.
        pub actions: Vec<Action>,
        /// Protection of the working set. `None`: it is off.
        pub protect: Option<Protection>,
    }

    /// Which modules of the policy are enabled.
    pub struct Modules {
        /// Watermarks follow the forecast of free pages.
        pub free_pages: bool,
        /// Compaction ahead of fragmentation.
        pub fragmentation: bool,
        /// A limit on negative dentries.
        pub negative_dentries: bool,
        /// vm.vfs_cache_pressure follows the demand for inodes and dentries.
        pub object_caching: bool,
        /// Warnings of memory that no counter explains.
        pub leak_check: bool,
        /// The administrator's own knobs.
        pub tunables: bool,
    }

    /// The forecast of one NUMA node.
    pub struct Node {
        /// The node's number.
        pub id: u32,
        /// Free pages.
        pub free_pages: u64,
        /// The min watermark of all zones together, pages.
        pub min: u64,
        /// The low watermark of all zones together, pages.
        pub low: u64,
        /// The high watermark of all zones together, pages.
        pub high: u64,
        /// Gross demand, pages a second.
        pub demand_pages_per_s: f64,
        /// Standard error of the demand, pages a second.
        pub demand_error: f64,
        /// Seconds until free pages are at the low watermark. `None`: they do not fall towards it.
        pub time_to_low_s: Option<f64>,
        /// Seconds until free pages are at the low watermark, at the slope's 90% bound.
        pub earliest_low_s: Option<f64>,
        /// The policy predicts that free pages are exhausted.
        pub exhaustion_predicted: bool,
        /// Blocks of the huge order.
        pub order: Order,
    }

    /// The forecast of one order's blocks on a node.
    pub struct Order {
        /// A block has 2^order pages.
        pub order: usize,
        /// Free pages in blocks of this order and above.
        pub available_pages: u64,
        /// Change of these pages, pages a second.
        pub slope_pages_per_s: f64,
        /// Seconds until less than 5% of the free pages are in such blocks. `None`: they do not become fewer.
        pub time_to_exhaustion_s: Option<f64>,
        /// The policy predicts that these blocks are exhausted.
        pub exhaustion_predicted: bool,
    }

    /// The sizing of the gap between the low and the min watermark.
    pub struct FreePages {
        /// Pages that allocations take, net, while kswapd reacts.
        pub drawdown_pages: f64,
        /// vm.watermark_scale_factor that the forecast asks for, 1/10000 of a zone.
        pub wanted: u32,
        /// The least value that the policy sets, 1/10000 of a zone.
        pub floor: u32,
        /// The largest value that the policy sets, 1/10000 of a zone.
        pub cap: u32,
    }

    /// Rates between the last two samples, of the whole machine.
    pub struct Rates {
        /// Pages that allocations take, net of freed pages, a second.
        pub demand_pages_per_s: f64,
        /// Pages that kswapd reclaims, a second.
        pub kswapd_pages_per_s: f64,
        /// Pages that allocating tasks reclaim, a second.
        pub direct_pages_per_s: f64,
        /// Pages reclaimed on request, a second.
        pub proactive_pages_per_s: f64,
        /// Pages that kswapd reclaimed in its best second so far; 0: not seen yet.
        pub kswapd_capacity_pages_per_s: f64,
        /// Pages refaulted, a second.
        pub refaults_per_s: f64,
        /// Allocations that had to reclaim, a second.
        pub allocstalls_per_s: f64,
    }

    /// A knob of the kernel.
    pub struct Knob {
        /// The sysctl's name, or a path.
        pub name: String,
        /// The value at the last sample or write.
        pub value: Option<KnobValue>,
        /// The value before the daemon first wrote the knob. `None`: the daemon has not written it.
        pub original: Option<String>,
        /// The knob holds a value of the daemon's.
        pub set_by_hotsetd: bool,
    }

    /// Events since the daemon's start.
    pub struct Counts {
        /// Samples taken.
        pub samples: u64,
        /// Wakes by the timer.
        pub wakes_timer: u64,
        /// Wakes by memory pressure.
        pub wakes_pressure: u64,
        /// Writes of vm.watermark_scale_factor.
        pub watermark_writes: u64,
        /// Reclaims on request that ended.
        pub reclaims: u64,
        /// Bytes reclaimed on request.
        pub reclaimed_bytes: u64,
        /// Compactions on request that ended.
        pub compactions: u64,
        /// Writes of other knobs.
        pub other_writes: u64,
        /// Warnings logged.
        pub warnings: u64,
        /// Knobs left to the administrator.
        pub yields: u64,
        /// Actions that failed.
        pub failures: u64,
        /// Kernel files that could not be read, all samples together.
        pub unreadable_files: u64,
    }

    /// One action and its outcome.
    pub struct Action {
        /// Seconds since 1970.
        pub at_unix_s: f64,
        /// The action, such as `vm.watermark_scale_factor = 120`.
        pub action: String,
        /// Why the policy decided it.
        pub reason: String,
        /// The outcome of the action.
        pub outcome: String,
    }
}

/// A knob's value: most are numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KnobValue {
    /// One number.
    Number(i64),
    /// Any other text.
    Text(String),
}

impl std::fmt::Display for KnobValue {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            KnobValue::Number(number) => number.fmt(to),
            KnobValue::Text(text) => text.fmt(to),
        }
    }
}
