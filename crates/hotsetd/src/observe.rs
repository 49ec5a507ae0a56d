//! From what the kernel's files say ([`kernfs::Sample`]) to what the policy looks at.
use kernfs::{knobs::Knob, sampler::Sources, Sample};
use policy::{Dentries, Inodes, Knobs, Meminfo, NodeObservation, Observation, Pressure, Vmstat};

/// A node's figures, owned.
#[derive(Clone, Debug, Default)]
struct Row {
    figures: NodeObservation<'static>,
    blocks: Vec<u64>,
}

/// Keeps the last good figures of each file.
///
/// A file that could not be read must not look like counters that fell to zero and then jump back:
/// that would be the largest burst ever. While one is missing, what hangs on it stands still.
#[derive(Debug, Default)]
pub struct Observer {
    rows: Vec<Row>,
    live: usize,
    /// Room for what is lent to the policy; empty in between.
    lent: Vec<NodeObservation<'static>>,
    vmstat: Vmstat,
    psi_memory: Option<Pressure>,
    meminfo: Meminfo,
    dentries: Option<Dentries>,
    inodes: Option<Inodes>,
    knobs: Knobs,
    now_s: f64,
    protected: f64,
}

impl Observer {
    /// Takes a sample in.
    pub fn take(&mut self, sample: &Sample) {
        self.now_s = sample.t;
        // Free pages and what was stolen are looked at together; half of them would tell a lie.
        let tables = Sources::VMSTAT | Sources::ZONEINFO;
        if sample.fresh.contains(tables) {
            self.vmstat = vmstat(sample);
            self.take_nodes(sample);
            if sample.fresh.contains(Sources::PSI_MEMORY) {
                self.psi_memory = pressure(sample);
            }
        }
        if sample.fresh.contains(Sources::MEMINFO) {
            self.meminfo = meminfo(sample);
        }
        self.dentries = sample.dentry.map(|found| Dentries {
            count: found.nr_dentry,
            unused: found.nr_unused,
            negative: found.nr_negative,
        });
        self.inodes = sample.inode.map(|found| Inodes {
            count: found.nr_inodes,
            free: found.nr_free,
        });
        let knob = |knob| {
            sample
                .knobs
                .get(knob)
                .and_then(|value| value.try_into().ok())
        };
        self.knobs = Knobs {
            watermark_scale_factor: knob(Knob::WatermarkScaleFactor),
            compaction_proactiveness: knob(Knob::CompactionProactiveness),
            vfs_cache_pressure: knob(Knob::VfsCachePressure),
            negative_dentry_limit: knob(Knob::NegativeDentryLimit),
        };
    }

    fn take_nodes(&mut self, sample: &Sample) {
        self.live = sample.nodes.len();
        if self.rows.len() < self.live {
            self.rows.resize_with(self.live, Row::default);
        }
        let blocks_known = sample.fresh.contains(Sources::BUDDYINFO);
        for (row, node) in self.rows.iter_mut().zip(&sample.nodes) {
            // Blocks of another node are not the last known of this one.
            if blocks_known || row.figures.id != node.id {
                row.blocks.clone_from(&node.blocks);
            }
            row.figures = NodeObservation {
                id: node.id,
                managed: node.managed,
                free: node.free,
                min: node.min,
                low: node.low,
                high: node.high,
                file: node.file(),
                anon: node.anon(),
                huge: node.huge,
                stolen: node.stolen,
                free_blocks: &[],
            };
        }
    }

    /// This share of each node is file pages that a floor keeps: no reclaim makes free pages of them.
    pub fn protect(&mut self, share: f64) {
        self.protected = share;
    }

    pub fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    pub fn knobs_mut(&mut self) -> &mut Knobs {
        &mut self.knobs
    }

    /// Lends the observation to `look`.
    pub fn show<T>(&mut self, look: impl FnOnce(&Observation) -> T) -> T {
        // The room goes in and out empty, so that it can be of another lifetime in between: the
        // collection of an empty vector's own iterator keeps its allocation.
        let mut nodes: Vec<NodeObservation> = std::mem::take(&mut self.lent);
        for row in &self.rows[..self.live] {
            let figures = row.figures;
            let kept = (figures.managed as f64 * self.protected) as u64;
            nodes.push(NodeObservation {
                free_blocks: &row.blocks,
                file: figures.file.saturating_sub(kept),
                ..figures
            });
        }
        let result = look(&Observation {
            now_s: self.now_s,
            nodes: &nodes,
            vmstat: self.vmstat,
            psi_memory: self.psi_memory,
            meminfo: self.meminfo,
            dentries: self.dentries,
            inodes: self.inodes,
            knobs: self.knobs,
        });
        nodes.clear();
        self.lent = nodes
            .into_iter()
            .map(|_| NodeObservation::default())
            .collect();
        result
    }
}

fn vmstat(sample: &Sample) -> Vmstat {
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

fn pressure(sample: &Sample) -> Option<Pressure> {
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

fn meminfo(sample: &Sample) -> Meminfo {
    let from = &sample.meminfo;
    let sum = |parts: &[Option<u64>]| {
        parts
            .iter()
            .flatten()
            .fold(0u64, |sum, part| sum.saturating_add(*part))
    };
    let reclaimable = from.s_reclaimable().unwrap_or(0);
    let slab = from
        .s_reclaimable()
        .zip(from.s_unreclaim())
        .map(|(a, b)| a.saturating_add(b));
    // What a shrinker can free besides slab: a GPU's or an Android heap's pages.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_floor_keeps_is_not_shown_as_reclaimable() {
        let mut observer = Observer::default();
        let figures = NodeObservation {
            managed: 1000,
            file: 300,
            ..NodeObservation::default()
        };
        observer.rows.push(Row {
            figures,
            ..Row::default()
        });
        observer.live = 1;
        let file = |observer: &mut Observer| observer.show(|seen| seen.nodes[0].file);
        assert_eq!(file(&mut observer), 300);
        observer.protect(0.2);
        assert_eq!(file(&mut observer), 100);
        observer.protect(0.4);
        assert_eq!(file(&mut observer), 0);
    }
}
