//! The input of protection: few figures, sampled so often that a fast allocation is met in time.
use watermarks::Watermarks;

/// One fast sample. Pages have the machine's page size. Counters are the kernel's running totals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot<'a> {
    /// Seconds of a monotonic clock.
    pub now_s: f64,
    /// Every node with memory.
    pub nodes: &'a [NodeSnapshot],
    /// Pages of all swap areas.
    pub swap_total: u64,
    /// Pages of swap that hold nothing.
    pub swap_free: u64,
    /// `pswpout`: pages written to swap.
    pub swapped_out: u64,
    /// Pages reclaimed by anyone.
    pub stolen: u64,
    /// Allocations that had to reclaim.
    pub allocstall: u64,
    /// Processes that the kernel has killed for want of memory (`oom_kill`), in cgroups or not.
    pub oom_kills: u64,
    /// File pages that were read again after reclaim had taken them (`workingset_refault_file`).
    pub file_refaults: u64,
    /// Those of them that are of the working set (`workingset_restore_file`; before Linux 4.20 those that came back
    /// soon, `workingset_activate`).
    pub file_restores: u64,
    /// Anonymous pages that came back from swap (`workingset_refault_anon`); 0 before Linux 5.9.
    pub anon_refaults: u64,
    /// PSI `some` of memory, microseconds in which a task waited; `None` where PSI is off. The kernel brings it up to
    /// date every 2 s only (`PSI_FREQ` in kernel/sched/psi.c).
    pub some_us: Option<u64>,
    /// PSI `full` of memory, microseconds in which no task could run.
    pub full_us: Option<u64>,
    /// File pages that the daemon holds locked. They are on no list that reclaim scans, so no floor counts them.
    pub locked: u64,
}

/// One memory node. Pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSnapshot {
    /// The kernel's node number.
    pub id: u32,
    /// Pages that the buddy allocator manages, but for huge page pools.
    pub managed: u64,
    /// Free pages.
    pub free: u64,
    pub watermarks: Watermarks,
    /// Pages on the file lists, clean or not.
    pub file: u64,
    /// Dirty pages and pages under writeback. Reclaim cannot take them at once.
    pub unclean: u64,
    /// Pages on the anonymous lists.
    pub anon: u64,
}

impl NodeSnapshot {
    /// Clean file pages as the floors count them: file lists - dirty - writeback.
    #[must_use]
    pub fn clean(&self) -> u64 {
        self.file.saturating_sub(self.unclean)
    }
}

impl Snapshot<'_> {
    /// Pages that are free, clean or in swap.
    #[must_use]
    pub fn left(&self) -> u64 {
        let whole = self.whole();
        whole.free + whole.clean() + self.swap_free
    }

    /// The sums over all nodes, under id 0.
    #[must_use]
    pub fn whole(&self) -> NodeSnapshot {
        self.nodes
            .iter()
            .fold(NodeSnapshot::default(), |sum, node| NodeSnapshot {
                id: 0,
                managed: sum.managed + node.managed,
                free: sum.free + node.free,
                watermarks: sum.watermarks + node.watermarks,
                file: sum.file + node.file,
                unclean: sum.unclean + node.unclean,
                anon: sum.anon + node.anon,
            })
    }
}
