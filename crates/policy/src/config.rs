//! The administrator's choices, and the machine's abilities.

/// The administrator's choices. [`Config::default`] has the values of an empty file.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// 1 (careful), 2 (the default) or 3: how large a burst to be ready for, and how far ahead. Any other
    /// number counts as the nearest of the three.
    pub aggressiveness: u8,
    pub modules: Modules,
    /// Bound of vm.watermark_scale_factor, in place of the bound by reclaimable pages. The kernel takes
    /// 1 to 1000, from 5.15.58 on 3000: see [`Machine::watermark_scale_factor_max`].
    pub watermark_scale_factor_max: Option<u32>,
    /// The largest gap between the low and the high watermark, in bytes of the whole machine.
    pub max_gap_bytes: Option<u64>,
    /// Negative dentries: their largest share of memory that is not huge pages, per mille, 1 to 100.
    pub negative_dentry_permille: u32,
    /// Object caching: keep dentries and inodes in preference to the page cache.
    pub prefer_object_caching: bool,
    /// Seconds between samples near the watermarks.
    pub sample_near_s: f64,
    /// Seconds between samples far from the watermarks.
    pub sample_far_s: f64,
    /// Seconds between two compactions of one node at the earliest.
    pub compact_every_s: f64,
    /// Whether nodes may be reclaimed before a predicted crossing, where the kernel has a file for it.
    pub node_reclaim: bool,
    /// The nice value for kswapd, -20 to 0; 0 leaves it alone.
    pub kswapd_nice: i32,
    /// Knobs that are set at the start and on events.
    pub tunables: Vec<Tunable>,
}

/// The modules that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modules {
    pub free_pages: bool,
    pub fragmentation: bool,
    pub negative_dentries: bool,
    pub object_caching: bool,
    pub leak_check: bool,
    pub tunables: bool,
}

/// A knob that is set at the start or after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// The name as in sysctl(8): `vm.swappiness`.
    pub name: String,
    pub value: String,
    pub when: When,
}

/// When a [`Tunable`] is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the first sample.
    Start,
    /// When the number of huge pages has changed by 5% or more.
    HugePagesChanged,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            aggressiveness: 2,
            modules: Modules::default(),
            watermark_scale_factor_max: None,
            max_gap_bytes: None,
            negative_dentry_permille: 10,
            prefer_object_caching: false,
            sample_near_s: 0.25,
            sample_far_s: 10.0,
            compact_every_s: 60.0,
            node_reclaim: true,
            kswapd_nice: -5,
            tunables: Vec::new(),
        }
    }
}

impl Default for Modules {
    fn default() -> Self {
        Modules {
            free_pages: true,
            fragmentation: true,
            negative_dentries: true,
            object_caching: true,
            leak_check: true,
            tunables: true,
        }
    }
}

/// The machine's abilities, found once at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Bytes of a page.
    pub page_size: u64,
    /// Nodes to make room for. Further nodes are left out of the forecast.
    pub max_nodes: usize,
    /// Orders of free blocks to make room for.
    pub max_orders: usize,
    /// The order of a transparent huge page, which compaction provides. 9 with pages of 4 KiB.
    pub huge_order: usize,
    /// The kernel's own ceiling: 1000 before 5.15.58, then 3000.
    pub watermark_scale_factor_max: u32,
    /// Whether a node can be asked to reclaim (`nodeN/reclaim`, or `memory.reclaim` of the root).
    pub node_reclaim: bool,
    /// Whether there is a `nodeN/compact`.
    pub node_compact: bool,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            page_size: 4096,
            max_nodes: 16,
            max_orders: 16,
            huge_order: 9,
            watermark_scale_factor_max: 1000,
            node_reclaim: false,
            node_compact: true,
        }
    }
}
