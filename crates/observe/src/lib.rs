//! Converts a sample of the kernel's files ([`kernfs::Sample`]) to the policy's input
//! ([`policy::Observation`]).
//!
//! The daemon and `hotset replay` use the same functions, so that a recorded sample gives the
//! observation that the daemon had. Nothing here allocates. A field that the kernel lacks is 0 or
//! `None`, as [`policy::Observation`] documents.
use kernfs::knobs::Knob;
use kernfs::{sample, Sample};
use policy::{Dentries, Inodes, Knobs, Meminfo, NodeObservation, Observation, Pressure, Vmstat};

/// The observation of one sample, with `nodes` made by [`node`].
#[must_use]
pub fn observation<'a>(sample: &Sample, nodes: &'a [NodeObservation<'a>]) -> Observation<'a> {
    Observation {
        now_s: sample.t,
        nodes,
        vmstat: vmstat(sample),
        psi_memory: pressure(sample),
        meminfo: meminfo(sample),
        dentries: dentries(sample),
        inodes: inodes(sample),
        knobs: knobs(sample),
    }
}

/// One memory node.
#[must_use]
pub fn node(node: &sample::Node) -> NodeObservation<'_> {
    NodeObservation {
        free_blocks: &node.blocks,
        ..node_without_blocks(node)
    }
}

/// One memory node without its free blocks, which borrow from the sample.
#[must_use]
pub fn node_without_blocks(node: &sample::Node) -> NodeObservation<'static> {
    NodeObservation {
        id: node.id,
        managed: node.managed,
        // Free pages of a lower zone below its `protection` are not for most allocations: on a machine of
        // 24 GB they are 97 MB, four of the kernel's own gaps.
        free: node.free.saturating_sub(node.reserved),
        // A boost (`boost_watermark` in mm/page_alloc.c) is work for kswapd after a fallback of the buddy
        // allocator, up to one and a half times high. It is no demand for pages.
        watermarks: node.watermarks.less(node.boost),
        file: node.file(),
        anon: node.anon(),
        huge: node.huge,
        stolen: node.stolen,
        free_blocks: &[],
    }
}

/// The counters of /proc/vmstat.
#[must_use]
pub fn vmstat(sample: &Sample) -> Vmstat {
    let from = &sample.vmstat;
    Vmstat {
        pgsteal_kswapd: from.pgsteal_kswapd().unwrap_or(0),
        pgsteal_direct: from.pgsteal_direct().unwrap_or(0),
        pgsteal_proactive: from.pgsteal_proactive().unwrap_or(0),
        allocstall: from.allocstall().unwrap_or(0),
        compact_stall: from.compact_stall().unwrap_or(0),
        compact_fail: from.compact_fail().unwrap_or(0),
        compact_success: from.compact_success().unwrap_or(0),
        workingset_refault: from.workingset_refault().unwrap_or(0),
        oom_kill: from.oom_kill().unwrap_or(0),
    }
}

/// /proc/pressure/memory; `None` where PSI is off.
#[must_use]
pub fn pressure(sample: &Sample) -> Option<Pressure> {
    let memory = &sample.psi.memory;
    let some = memory.some?;
    let full = memory.full.unwrap_or_default();
    Some(Pressure {
        some_total_us: some.total_us,
        full_total_us: full.total_us,
        some_avg10: some.avg10,
        full_avg10: full.avg10,
    })
}

/// The fields of /proc/meminfo that the leak check and the bounds need. KiB.
#[must_use]
pub fn meminfo(sample: &Sample) -> Meminfo {
    let from = &sample.meminfo;
    let reclaimable = from.s_reclaimable().unwrap_or(0);
    let slab = from
        .s_reclaimable()
        .zip(from.s_unreclaim())
        .map(|(reclaimable, unreclaimable)| reclaimable.saturating_add(unreclaimable));
    // Pages besides slab that a shrinker can free: a GPU's or an Android heap's.
    let beside_slab = from
        .k_reclaimable()
        .map(|all| all.saturating_sub(reclaimable));
    Meminfo {
        total: from.mem_total().unwrap_or(0),
        free: from.mem_free().unwrap_or(0),
        lru: sum(&[from.active(), from.inactive(), from.unevictable()]),
        slab: slab.or(from.slab()).unwrap_or(0),
        kernel_stack: from.kernel_stack().unwrap_or(0),
        page_tables: from.page_tables().unwrap_or(0),
        sec_page_tables: from.sec_page_tables().unwrap_or(0),
        percpu: from.percpu().unwrap_or(0),
        vmalloc_used: from.vmalloc_used().unwrap_or(0),
        hugetlb: from.hugetlb().unwrap_or(0),
        zswap: from.zswap().unwrap_or(0),
        other: sum(&[
            from.bounce(),
            from.writeback_tmp(),
            from.hardware_corrupted(),
            from.gpu_active(),
            from.gpu_reclaim(),
            beside_slab,
        ]),
        swap_total: from.swap_total().unwrap_or(0),
        swap_free: from.swap_free().unwrap_or(0),
    }
}

/// /proc/sys/fs/dentry-state.
#[must_use]
pub fn dentries(sample: &Sample) -> Option<Dentries> {
    sample.dentry.map(|found| Dentries {
        count: found.nr_dentry,
        unused: found.nr_unused,
        negative: found.nr_negative,
    })
}

/// /proc/sys/fs/inode-nr.
#[must_use]
pub fn inodes(sample: &Sample) -> Option<Inodes> {
    sample.inode.map(|found| Inodes {
        count: found.nr_inodes,
        free: found.nr_free,
    })
}

/// The knobs that the policy may set.
#[must_use]
pub fn knobs(sample: &Sample) -> Knobs {
    let value = |knob| {
        let value = sample.knobs.get(knob)?;
        value.try_into().ok()
    };
    Knobs {
        watermark_scale_factor: value(Knob::WatermarkScaleFactor),
        compaction_proactiveness: value(Knob::CompactionProactiveness),
        vfs_cache_pressure: value(Knob::VfsCachePressure),
        negative_dentry_limit: value(Knob::NegativeDentryLimit),
    }
}

/// The sum of those that the kernel has.
fn sum(parts: &[Option<u64>]) -> u64 {
    let known = parts.iter().flatten();
    known.fold(0, |sum: u64, part| sum.saturating_add(*part))
}
