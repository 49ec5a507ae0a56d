//! The files that each memory node has, opened as nodes appear.
use crate::files::knobs;
use crate::files::vmstat::Vmstat;
use crate::read::held::Shape;
use crate::read::reader::{Reader, Source};
use crate::{Root, Sample, Sources};

/// The pools' files are read again after so many samples.
const HUGE_ROUNDS: u32 = 15;

/// Nodes seen so far, in the order in which they appeared.
#[derive(Debug)]
pub(crate) struct NodeSet {
    root: Root,
    nodes: Vec<NodeSources>,
    /// KiB in all pools when their files were last read.
    total: Option<u64>,
    /// Samples since then.
    rounds: u32,
}

#[derive(Debug)]
struct NodeSources {
    id: u32,
    meminfo: Source,
    vmstat: Source,
    numastat: Source,
    pools: Vec<Pool>,
    /// Pages in the pools when they were last read.
    huge: u64,
    now: Vmstat,
}

/// Huge pages of one size.
#[derive(Debug)]
struct Pool {
    /// Pages of a huge page.
    pages: u64,
    count: Source,
}

impl NodeSet {
    pub(crate) fn new(root: Root) -> Self {
        Self {
            root,
            nodes: Vec::new(),
            total: None,
            rounds: 0,
        }
    }

    fn of(&mut self, id: u32) -> &mut NodeSources {
        let at = self.nodes.iter().position(|node| node.id == id);
        let at = at.unwrap_or_else(|| {
            self.nodes.push(NodeSources::new(&self.root, id));
            self.nodes.len() - 1
        });
        &mut self.nodes[at]
    }

    /// Fills in [`crate::sampling::sample::Node::huge`]. Returns whether every file could be read.
    ///
    /// The pools' files are read only where there are several nodes, and then when meminfo's total
    /// has changed. They are also read every [`HUGE_ROUNDS`]th time, because pages may move between nodes.
    pub(crate) fn huge(&mut self, reader: &mut Reader, sample: &mut Sample) -> bool {
        let total = sample.meminfo.hugetlb();
        if let ([node], Some(kib)) = (&mut sample.nodes[..], total) {
            let pages = kib / (page_size() / 1024).max(1);
            self.of(node.id).huge = pages;
            node.huge = pages;
            return true;
        }
        let known = sample.nodes.iter();
        let known = known.filter(|node| self.nodes.iter().any(|known| known.id == node.id));
        let same = total.is_some() && total == self.total && known.count() == sample.nodes.len();
        if same && self.rounds < HUGE_ROUNDS {
            self.rounds += 1;
            self.keep_huge(sample);
            return true;
        }
        let mut fine = true;
        for node in sample.nodes.iter_mut() {
            let sources = self.of(node.id);
            sources.huge = 0;
            for pool in &mut sources.pools {
                match reader.take(&mut pool.count, knobs::parse) {
                    Some(count) => {
                        let pages = u64::try_from(count).unwrap_or(0);
                        let pages = pages.saturating_mul(pool.pages);
                        sources.huge = sources.huge.saturating_add(pages);
                    }
                    None => fine = false,
                }
            }
            node.huge = sources.huge;
        }
        // A file that could not be read is tried again with the next sample.
        self.total = total.filter(|_| fine);
        self.rounds = 0;
        fine
    }

    /// Fills in the last counts, because nodes are put together anew with every sample.
    pub(crate) fn keep_huge(&mut self, sample: &mut Sample) {
        for node in sample.nodes.iter_mut() {
            let known = self.nodes.iter().find(|known| known.id == node.id);
            node.huge = known.map_or(0, |known| known.huge);
        }
    }

    /// Takes the figures that change all the time from each node's vmstat, or with one node from
    /// /proc/vmstat. The rest of [`Sample::nodes`] stays as zoneinfo had it. `false` where a file or a field
    /// is missing.
    pub(crate) fn refresh(&mut self, reader: &mut Reader, sample: &mut Sample) -> bool {
        if let ([node], true) = (
            &mut sample.nodes[..],
            sample.fresh.contains(Sources::VMSTAT),
        ) {
            return node.refresh(&sample.vmstat);
        }
        sample.nodes.iter_mut().all(|node| {
            let NodeSources { vmstat, now, .. } = self.of(node.id);
            reader.take(vmstat, |text| now.parse(text)).is_some() && node.refresh(now)
        })
    }

    /// Fills [`Sample::node_files`]. Returns whether every file could be read.
    pub(crate) fn files(&mut self, reader: &mut Reader, sample: &mut Sample) -> bool {
        sample.node_files.clear();
        let mut fine = true;
        for node in sample.nodes.iter() {
            let sources = self.of(node.id);
            let into = sample.node_files.grow();
            into.id = node.id;
            let meminfo = &mut into.meminfo;
            let read = reader.take(&mut sources.meminfo, |text| meminfo.parse(node.id, text));
            if read.is_none() {
                meminfo.clear();
                fine = false;
            }
            let vmstat = &mut into.vmstat;
            let read = reader.take(&mut sources.vmstat, |text| vmstat.parse(text));
            if read.is_none() {
                vmstat.clear();
                fine = false;
            }
            let numastat = &mut into.numastat;
            let read = reader.take(&mut sources.numastat, |text| numastat.parse(text));
            if read.is_none() {
                numastat.clear();
                fine = false;
            }
        }
        fine
    }
}

impl NodeSources {
    fn new(root: &Root, id: u32) -> Self {
        let directory = root.path(format!("/sys/devices/system/node/node{id}"));
        let file = |name: &str| Source::new(directory.join(name), Shape::Whole, false);
        let mut pools = Vec::new();
        // The sizes are the processor's: they do not change while the machine runs.
        for entry in std::fs::read_dir(directory.join("hugepages"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let size = name.to_str().and_then(|name| {
                name.strip_prefix("hugepages-")?
                    .strip_suffix("kB")?
                    .parse::<u64>()
                    .ok()
            });
            if let Some(kib) = size {
                pools.push(Pool {
                    pages: kib.saturating_mul(1024) / page_size(),
                    count: Source::new(entry.path().join("nr_hugepages"), Shape::Line, true),
                });
            }
        }
        Self {
            id,
            meminfo: file("meminfo"),
            vmstat: file("vmstat"),
            numastat: file("numastat"),
            pools,
            huge: 0,
            now: Vmstat::default(),
        }
    }
}

fn page_size() -> u64 {
    rustix::param::page_size() as u64
}
