//! Quick looks: the few files that protection needs, read without allocating.
use kernfs::sampler::Sources;
use kernfs::{Options, Root, Sample, Sampler};
use policy::sight::{NodeSight, Sight};
use std::path::Path;

/// Holds the files of a look open.
pub struct Eyes {
    sampler: Sampler,
    sample: Sample,
    nodes: Vec<NodeSight>,
    page_kib: u64,
    /// Whether every file of the last look could be read.
    pub clear: bool,
}

fn sources() -> Sources {
    Sources::VMSTAT | Sources::ZONEINFO | Sources::MEMINFO | Sources::PSI_MEMORY
}

impl Eyes {
    #[must_use]
    pub fn new(root: &Path) -> Eyes {
        let options = Options {
            sources: sources() | Sources::KNOBS,
            ..Options::default()
        };
        let mut eyes = Eyes {
            sampler: Sampler::new(Root::new(root), options),
            sample: Sample::default(),
            nodes: Vec::with_capacity(16),
            page_kib: 4,
            clear: false,
        };
        eyes.page_kib = (eyes.sampler.machine().page_size / 1024).max(1);
        eyes
    }

    /// Bytes.
    #[must_use]
    pub fn page_size(&self) -> u64 {
        self.page_kib * 1024
    }

    /// Takes a look and lends it to `see`; `None` where a file that it needs gave nothing. `all`:
    /// watermark sysctls too, by which a long zoneinfo is known to have changed.
    pub fn look<T>(&mut self, all: bool, locked: u64, see: impl FnOnce(&Sight) -> T) -> Option<T> {
        match all {
            true => self.sampler.sample(&mut self.sample),
            false => self.sampler.sample_only(sources(), &mut self.sample),
        }
        let sample = &self.sample;
        let needed = Sources::VMSTAT | Sources::ZONEINFO | Sources::MEMINFO;
        self.clear = sample.fresh.contains(needed);
        if !self.clear {
            return None;
        }
        let vmstat = &sample.vmstat;
        let unclean = vmstat.nr_dirty().unwrap_or(0) + vmstat.nr_writeback().unwrap_or(0);
        let file: u64 = sample.nodes.iter().map(kernfs::sample::Node::file).sum();
        self.nodes.clear();
        for node in sample.nodes.iter() {
            // vmstat counts dirty pages of the machine: each node has its share of the file pages.
            let share = unclean as f64 * node.file() as f64 / file.max(1) as f64;
            self.nodes.push(NodeSight {
                id: node.id,
                managed: node.managed,
                free: node.free,
                min: node.min,
                low: node.low,
                high: node.high,
                file: node.file(),
                unclean: (share as u64).min(node.file()),
                anon: node.anon(),
            });
        }
        let pages = |kib: Option<u64>| kib.unwrap_or(0) / self.page_kib;
        Some(see(&Sight {
            now_s: sample.t,
            nodes: &self.nodes,
            swap_total: pages(sample.meminfo.swap_total()),
            swap_free: pages(sample.meminfo.swap_free()),
            swapped_out: vmstat.pswpout().unwrap_or(0),
            stolen: vmstat.pgsteal().unwrap_or(0),
            allocstall: vmstat.allocstall().unwrap_or(0),
            needed_file: vmstat.workingset_activate_file().unwrap_or(0),
            needed_anon: vmstat.workingset_refault_anon().unwrap_or(0),
            stall_us: sample.psi.memory.some.map(|some| some.total_us),
            locked,
        }))
    }
}
