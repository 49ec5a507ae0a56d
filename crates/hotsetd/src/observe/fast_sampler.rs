//! Quick samples for protection: the few kernel files that it needs, read without allocating.
use crate::os::clock::Clock;
use kernfs::sampler::Sources;
use kernfs::{Options, Root, Sample, Sampler};
use policy::snapshot::{NodeSnapshot, Snapshot};
use std::path::Path;

/// Holds the files of a quick sample open.
pub struct FastSampler {
    clock: Clock,
    sampler: Sampler,
    sample: Sample,
    nodes: Vec<NodeSnapshot>,
    page_kib: u64,
}

/// The pressure of io is for the flight recorder: who reads again what was evicted waits for memory.
fn sources() -> Sources {
    Sources::VMSTAT | Sources::ZONEINFO | Sources::MEMINFO | Sources::PSI_MEMORY | Sources::PSI_IO
}

impl FastSampler {
    /// Opens the files below `root`.
    #[must_use]
    pub fn new(root: &Path, clock: Clock) -> FastSampler {
        let options = Options {
            sources: sources() | Sources::KNOBS | Sources::HUGE,
            ..Options::default()
        };
        let mut fast = FastSampler {
            clock,
            sampler: Sampler::new(Root::new(root), options),
            sample: Sample::default(),
            nodes: Vec::with_capacity(16),
            page_kib: 4,
        };
        fast.page_kib = (fast.sampler.machine().page_size / 1024).max(1);
        fast
    }

    /// The last sample.
    #[must_use]
    pub fn last(&self) -> &Sample {
        &self.sample
    }

    /// Bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u64 {
        self.page_kib * 1024
    }

    /// Takes a sample and lends it to `decide`; `None` where a file that protection needs could not be read.
    ///
    /// `all`: the watermark sysctls are read as well, which show when a long zoneinfo has changed.
    /// `locked`: pages that the daemon itself has locked.
    pub fn sample<T>(
        &mut self,
        all: bool,
        locked: u64,
        decide: impl FnOnce(&Snapshot) -> T,
    ) -> Option<T> {
        match all {
            true => self.sampler.sample(&mut self.sample),
            false => self.sampler.sample_only(sources(), &mut self.sample),
        }
        let sample = &self.sample;
        let needed = Sources::VMSTAT | Sources::ZONEINFO | Sources::MEMINFO;
        if !sample.fresh.contains(needed) {
            return None;
        }
        let vmstat = &sample.vmstat;
        let unclean = vmstat.nr_dirty().unwrap_or(0) + vmstat.nr_writeback().unwrap_or(0);
        let file: u64 = sample.nodes.iter().map(kernfs::sample::Node::file).sum();
        self.nodes.clear();
        for node in sample.nodes.iter() {
            // vmstat counts the dirty pages of the whole machine. A node gets its file pages' share.
            let share = unclean as f64 * node.file() as f64 / file.max(1) as f64;
            self.nodes.push(NodeSnapshot {
                id: node.id,
                // Huge page pools can neither be reclaimed nor be had by anybody else.
                managed: node.managed.saturating_sub(node.huge),
                // Free pages that lower zones keep are out of reach for programs, whatever the watermarks are.
                free: node.free.saturating_sub(node.reserved),
                watermarks: node.watermarks,
                file: node.file(),
                unclean: (share as u64).min(node.file()),
                anon: node.anon(),
            });
        }
        let pages = |kib: Option<u64>| kib.unwrap_or(0) / self.page_kib;
        Some(decide(&Snapshot {
            now_s: self.clock.sample_s(sample.t),
            nodes: &self.nodes,
            swap_total: pages(sample.meminfo.swap_total()),
            swap_free: pages(sample.meminfo.swap_free()),
            swapped_out: vmstat.pswpout().unwrap_or(0),
            stolen: vmstat.pgsteal().unwrap_or(0),
            allocstall: vmstat.allocstall().unwrap_or(0),
            oom_kills: vmstat.oom_kill().unwrap_or(0),
            file_refaults: vmstat
                .workingset_refault_file()
                .or(vmstat.workingset_refault_whole())
                .unwrap_or(0),
            file_restores: vmstat
                .workingset_restore_file()
                .or(vmstat.workingset_restore_whole())
                .or(vmstat.workingset_activate_whole())
                .unwrap_or(0),
            anon_refaults: vmstat.workingset_refault_anon().unwrap_or(0),
            some_us: sample.psi.memory.some.map(|some| some.total_us),
            full_us: sample.psi.memory.full.map(|full| full.total_us),
            locked,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_4_20_pages_that_come_back_soon_stand_for_those_of_the_working_set() {
        for (kernel, restores) in [("4.18", 740), ("5.15-sparse-nodes", 5_820)] {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs");
            let mut fast = FastSampler::new(&root.join(kernel), Clock::System);
            let found = fast.sample(true, 0, |seen| seen.file_restores);
            assert_eq!(found, Some(restores), "{kernel}");
        }
    }

    /// A machine of 24 GB. When its programs can have no page, 97 MB are still free: more than high.
    #[test]
    fn pages_that_lower_zones_keep_are_not_free() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs/6.18");
        let mut fast = FastSampler::new(Path::new(root), Clock::System);
        let free = fast.sample(true, 0, |seen| seen.nodes[0].free);
        assert_eq!(free, Some(3_840 + 770_584 + 1_620_567 - 3_840 - 21_071));
    }
}
