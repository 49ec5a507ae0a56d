//! What protection looks at: few figures, taken so often that a fast allocation is met in time.

/// One quick look. Pages of the machine's page size; counters are the kernel's running totals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sight<'a> {
    /// Seconds of a monotonic clock.
    pub now_s: f64,
    pub nodes: &'a [NodeSight],
    pub swap_total: u64,
    pub swap_free: u64,
    /// `pswpout`: pages written to swap.
    pub swapped_out: u64,
    /// Pages reclaimed by anyone.
    pub stolen: u64,
    /// Allocations that had to reclaim.
    pub allocstall: u64,
    /// `workingset_activate_file`: file pages read again so soon that they belong to the working set
    /// (their refault distance fits into memory); a stream's do not.
    pub needed_file: u64,
    /// `workingset_refault_anon`: pages read back from swap.
    pub needed_anon: u64,
    /// PSI `some` of memory, microseconds. The kernel brings it up to date every 2 s only
    /// (`PSI_FREQ`), and it is `None` where PSI is off.
    pub stall_us: Option<u64>,
    /// File pages that the daemon holds locked: they are on no list that reclaim looks at.
    pub locked: u64,
}

/// One node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeSight {
    pub id: u32,
    pub managed: u64,
    pub free: u64,
    pub min: u64,
    pub low: u64,
    pub high: u64,
    /// Pages on the file lists, clean or not.
    pub file: u64,
    /// Dirty and under writeback: reclaim cannot take them at once.
    pub unclean: u64,
    /// Pages on the anonymous lists.
    pub anon: u64,
}

impl NodeSight {
    /// Clean file pages as the floors count them: file lists minus dirty minus writeback.
    #[must_use]
    pub fn clean(&self) -> u64 {
        self.file.saturating_sub(self.unclean)
    }
}

impl Sight<'_> {
    /// All nodes as one, under the id of the first.
    #[must_use]
    pub fn whole(&self) -> NodeSight {
        self.nodes
            .iter()
            .fold(NodeSight::default(), |sum, node| NodeSight {
                id: 0,
                managed: sum.managed + node.managed,
                free: sum.free + node.free,
                min: sum.min + node.min,
                low: sum.low + node.low,
                high: sum.high + node.high,
                file: sum.file + node.file,
                unclean: sum.unclean + node.unclean,
                anon: sum.anon + node.anon,
            })
    }
}
