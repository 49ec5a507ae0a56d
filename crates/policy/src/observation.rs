//! The input of the policy: one sample of the machine. It borrows, so that filling it allocates nothing.
use watermarks::Watermarks;

/// One observation. Every counter is the kernel's own running total; the policy takes differences.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation<'a> {
    /// Seconds of a monotonic clock (CLOCK_MONOTONIC or CLOCK_BOOTTIME) whose zero is anywhere.
    pub now_s: f64,
    /// Every node with memory, in any order. A node may come or go between samples.
    pub nodes: &'a [NodeObservation<'a>],
    pub vmstat: Vmstat,
    /// `/proc/pressure/memory`, `None` where PSI is off.
    pub psi_memory: Option<Pressure>,
    pub meminfo: Meminfo,
    /// `/proc/sys/fs/dentry-state`.
    pub dentries: Option<Dentries>,
    /// `/proc/sys/fs/inode-nr`.
    pub inodes: Option<Inodes>,
    pub knobs: Knobs,
}

/// One memory node, its populated zones summed. Pages of the machine's page size.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeObservation<'a> {
    /// The kernel's node number.
    pub id: u32,
    /// Pages that the buddy allocator manages (zoneinfo's `managed`).
    pub managed: u64,
    /// Free pages (zoneinfo's `pages free`), less those that lower zones keep from most allocations
    /// (`protection`).
    pub free: u64,
    /// zoneinfo's `min`, `low` and `high`, less its `boost`.
    pub watermarks: Watermarks,
    /// Pages on the file LRU lists, active and inactive.
    pub file: u64,
    /// Pages on the anonymous LRU lists, active and inactive.
    pub anon: u64,
    /// Pages in persistent huge pages (hugetlb), free ones included: no reclaim frees them.
    pub huge: u64,
    /// Pages stolen on this node since boot, by whomever, where the kernel counts it per node
    /// (`/sys/devices/system/node/nodeN/vmstat`); else `None`, and the total is shared out.
    pub stolen: Option<u64>,
    /// buddyinfo: free blocks of each order, the zones' counts summed. Any number of orders.
    pub free_blocks: &'a [u64],
}

/// Totals of `/proc/vmstat` since boot, in pages or events. A kernel that lacks one leaves it 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vmstat {
    pub pgsteal_kswapd: u64,
    pub pgsteal_direct: u64,
    /// Pages freed by `memory.reclaim` and the nodes' `reclaim` files, ours included (5.19 on).
    pub pgsteal_proactive: u64,
    /// `allocstall_*` of all zones, or the one `allocstall` of kernels before 4.10.
    pub allocstall: u64,
    pub compact_stall: u64,
    pub compact_fail: u64,
    pub compact_success: u64,
    /// `workingset_refault_file` + `workingset_refault_anon`, or `workingset_refault` before 5.9.
    pub workingset_refault: u64,
    pub oom_kill: u64,
}

/// Both lines of a PSI file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Microseconds since boot.
    pub some_total_us: u64,
    pub full_total_us: u64,
    /// Percent of the last 10 s.
    pub some_avg10: f64,
    pub full_avg10: f64,
}

/// The fields of `/proc/meminfo` that the leak check and the bounds need, KiB. A field that the kernel
/// lacks is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meminfo {
    /// `MemTotal`.
    pub total: u64,
    /// `MemFree`.
    pub free: u64,
    /// `Active` + `Inactive` + `Unevictable`: all LRU pages (`Cached`, `Buffers`, `AnonPages`,
    /// `Shmem` and `SwapCached` are among them).
    pub lru: u64,
    /// `SReclaimable` + `SUnreclaim`, or `Slab`.
    pub slab: u64,
    pub kernel_stack: u64,
    pub page_tables: u64,
    /// `SecPageTables` (6.1 on).
    pub sec_page_tables: u64,
    pub percpu: u64,
    pub vmalloc_used: u64,
    /// `Hugetlb`, or `HugePages_Total` x `Hugepagesize`.
    pub hugetlb: u64,
    /// `Zswap`: the compressed pool's own pages.
    pub zswap: u64,
    /// Everything else that meminfo accounts for: `Bounce`, `WritebackTmp`, `HardwareCorrupted`,
    /// `GPUActive`, `GPUReclaim`, and `KReclaimable` beyond `SReclaimable`.
    pub other: u64,
    pub swap_total: u64,
    pub swap_free: u64,
}

/// `/proc/sys/fs/dentry-state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dentries {
    pub count: u64,
    pub unused: u64,
    /// The fifth field (5.0 on).
    pub negative: Option<u64>,
}

/// `/proc/sys/fs/inode-nr`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inodes {
    pub count: u64,
    pub free: u64,
}

/// The knobs at this sample. `None`: the kernel lacks the knob, or its file could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    /// `vm.watermark_scale_factor`, in 1/10000 of a zone.
    pub watermark_scale_factor: Option<u32>,
    /// `vm.compaction_proactiveness`, 0 to 100.
    pub compaction_proactiveness: Option<u32>,
    /// `vm.vfs_cache_pressure`, percent.
    pub vfs_cache_pressure: Option<u32>,
    /// `fs.negative-dentry-limit`, per mille of memory (a vendor kernel's file).
    pub negative_dentry_limit: Option<u32>,
}
