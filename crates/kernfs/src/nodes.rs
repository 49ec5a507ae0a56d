//! The files that each memory node has, opened as nodes appear.
use crate::held::Shape;
use crate::knobs;
use crate::sampler::{Reader, Source};
use crate::{Root, Sample};

/// Nodes met so far, by the order they were met in.
#[derive(Debug)]
pub(crate) struct NodeSet {
    root: Root,
    nodes: Vec<NodeSources>,
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

    /// Fills in [`crate::sample::Node::huge`]. Whether all that was there could be read.
    pub(crate) fn huge(&mut self, reader: &mut Reader, sample: &mut Sample) -> bool {
        let mut fine = true;
        // Kernels without CONFIG_NUMA have no node directories: what there is, is node 0's.
        let whole = match sample.nodes.len() {
            1 => sample.meminfo.hugetlb(),
            _ => None,
        };
        for node in sample.nodes.iter_mut() {
            let sources = self.of(node.id);
            let mut sum: Option<u64> = None;
            for pool in &mut sources.pools {
                match reader.take(&mut pool.count, knobs::parse) {
                    Some(count) => {
                        let pages = u64::try_from(count).unwrap_or(0).saturating_mul(pool.pages);
                        sum = Some(sum.unwrap_or(0).saturating_add(pages));
                    }
                    None => fine = false,
                }
            }
            let kib = page_size() / 1024;
            let fallback = || Some(whole? / kib.max(1));
            sources.huge = sum.or_else(fallback).unwrap_or(0);
            node.huge = sources.huge;
        }
        fine
    }

    /// Fills in what was last read: nodes are put together anew with every sample.
    pub(crate) fn keep_huge(&mut self, sample: &mut Sample) {
        for node in sample.nodes.iter_mut() {
            let known = self.nodes.iter().find(|known| known.id == node.id);
            node.huge = known.map_or(0, |known| known.huge);
        }
    }

    /// Fills [`Sample::node_files`]. Whether all could be read.
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
        // The sizes are the processor's: they do not change while it runs.
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
                    count: Source::new(entry.path().join("nr_hugepages"), Shape::Whole, true),
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
        }
    }
}

fn page_size() -> u64 {
    rustix::param::page_size() as u64
}
