//! /proc/vmstat: pages and events of the whole machine (mm/vmstat.c, `vmstat_text`).
use crate::parse::fields::fields;
use crate::ErrorKind;

fields! {
    /// /proc/vmstat. Pages, or events since boot; a method gives `None` where this kernel has no such
    /// field.
    Vmstat {
        nr_free_pages = "nr_free_pages",
        nr_inactive_anon = "nr_inactive_anon",
        nr_active_anon = "nr_active_anon",
        nr_inactive_file = "nr_inactive_file",
        nr_active_file = "nr_active_file",
        nr_unevictable = "nr_unevictable",
        nr_slab_reclaimable = "nr_slab_reclaimable",
        nr_slab_unreclaimable = "nr_slab_unreclaimable",
        nr_dirty = "nr_dirty",
        nr_writeback = "nr_writeback",
        nr_shmem = "nr_shmem",
        pgfault = "pgfault",
        pgmajfault = "pgmajfault",
        pgpgin = "pgpgin",
        pgpgout = "pgpgout",
        pswpin = "pswpin",
        pswpout = "pswpout",
        pgsteal_kswapd = "pgsteal_kswapd",
        pgsteal_direct = "pgsteal_direct",
        pgsteal_khugepaged = "pgsteal_khugepaged",
        /// From 6.6 on: memory.reclaim and a node's reclaim file.
        pgsteal_proactive = "pgsteal_proactive",
        pgsteal_anon = "pgsteal_anon",
        pgsteal_file = "pgsteal_file",
        pgscan_kswapd = "pgscan_kswapd",
        pgscan_direct = "pgscan_direct",
        pgscan_proactive = "pgscan_proactive",
        allocstall_whole = "allocstall",
        allocstall_dma = "allocstall_dma",
        allocstall_dma32 = "allocstall_dma32",
        allocstall_normal = "allocstall_normal",
        allocstall_highmem = "allocstall_high",
        allocstall_movable = "allocstall_movable",
        allocstall_device = "allocstall_device",
        pageoutrun = "pageoutrun",
        kswapd_low_wmark_hit_quickly = "kswapd_low_wmark_hit_quickly",
        kswapd_high_wmark_hit_quickly = "kswapd_high_wmark_hit_quickly",
        compact_stall = "compact_stall",
        compact_fail = "compact_fail",
        compact_success = "compact_success",
        compact_daemon_wake = "compact_daemon_wake",
        compact_migrate_scanned = "compact_migrate_scanned",
        compact_free_scanned = "compact_free_scanned",
        compact_isolated = "compact_isolated",
        thp_fault_alloc = "thp_fault_alloc",
        thp_fault_fallback = "thp_fault_fallback",
        htlb_buddy_alloc_success = "htlb_buddy_alloc_success",
        htlb_buddy_alloc_fail = "htlb_buddy_alloc_fail",
        oom_kill = "oom_kill",
        /// Before 5.9; from then on by type.
        workingset_refault_whole = "workingset_refault",
        workingset_refault_anon = "workingset_refault_anon",
        workingset_refault_file = "workingset_refault_file",
        workingset_activate_file = "workingset_activate_file",
        /// Before 5.9, of files alone.
        workingset_activate_whole = "workingset_activate",
        /// From 4.20 to 5.8, of files alone.
        workingset_restore_whole = "workingset_restore",
        workingset_restore_file = "workingset_restore_file",
    }
}

impl Vmstat {
    /// Reads the text of /proc/vmstat.
    ///
    /// # Errors
    /// Malformed text, or a text that ends before the fields that every kernel has.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        self.fields.parse_lines(text)?;
        let (missing, found) = ("nr_free_pages", self.nr_free_pages());
        found.map(|_| ()).ok_or(ErrorKind::Truncated { missing })
    }

    /// Direct reclaims, in all zones.
    #[must_use]
    pub fn allocstall(&self) -> Option<u64> {
        sum([
            self.allocstall_whole(),
            self.allocstall_dma(),
            self.allocstall_dma32(),
            self.allocstall_normal(),
            self.allocstall_highmem(),
            self.allocstall_movable(),
            self.allocstall_device(),
        ])
    }

    /// Refaulted pages of both types; kernels before 5.9 count files only.
    #[must_use]
    pub fn workingset_refault(&self) -> Option<u64> {
        sum([
            self.workingset_refault_whole(),
            self.workingset_refault_anon(),
            self.workingset_refault_file(),
        ])
    }

    /// Pages reclaimed by anyone.
    #[must_use]
    pub fn pgsteal(&self) -> Option<u64> {
        sum([
            self.pgsteal_kswapd(),
            self.pgsteal_direct(),
            self.pgsteal_khugepaged(),
            self.pgsteal_proactive(),
        ])
    }
}

/// The sum of the parts that are known; `None` where no part is.
fn sum<const N: usize>(parts: [Option<u64>; N]) -> Option<u64> {
    parts
        .into_iter()
        .flatten()
        .reduce(|sum, part| sum.wrapping_add(part))
}
