//! The files of one moment.
use crate::files::buddyinfo::Buddyinfo;
use crate::files::cgroup::CgroupMemory;
use crate::files::dentry::{DentryState, InodeNr};
use crate::files::knobs::Knobs;
use crate::files::lru_gen::{Generations, LruGen};
use crate::files::meminfo::Meminfo;
use crate::files::node::NodeFiles;
use crate::files::psi::Pressure;
use crate::files::vmstat::Vmstat;
use crate::files::zoneinfo::Zoneinfo;
use crate::parse::reused::Reused;
use crate::sampling::sources::Sources;
use crate::Error;
use watermarks::Watermarks;

/// One sample; made once and filled again and again by [`crate::Sampler::sample`].
///
/// A file that could not be read leaves its fields empty, never old. A file that was not asked for this
/// time leaves them as they are. [`Sample::fresh`] shows which is which.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Seconds of CLOCK_MONOTONIC, when reading began.
    pub t: f64,
    /// The files that were read this time and were well formed.
    pub fresh: Sources,
    pub vmstat: Vmstat,
    /// Up to 10 s old on machines with many CPUs ([`crate::Sampler`]); [`Sample::nodes`] is not.
    pub zoneinfo: Zoneinfo,
    pub buddyinfo: Buddyinfo,
    pub meminfo: Meminfo,
    pub psi: Psi,
    pub dentry: Option<DentryState>,
    pub inode: Option<InodeNr>,
    pub knobs: Knobs,
    /// Nodes with memory, by ascending id: zoneinfo, buddyinfo and huge page pools by node.
    pub nodes: Reused<Node>,
    /// Files of each node, with [`Sources::NODE_FILES`].
    pub node_files: Reused<NodeFiles>,
    /// In the order of [`crate::Options::cgroups`].
    pub cgroups: Vec<CgroupMemory>,
    pub lru_gen: LruGen,
    /// With [`Sources::GENERATIONS`].
    pub generations: Generations,
    /// Files that could not be read this time, without those that this kernel never had.
    pub errors: Vec<Error>,
}

/// /proc/pressure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Psi {
    pub memory: Pressure,
    pub cpu: Pressure,
    pub io: Pressure,
}

/// One memory node; pages, summed over its populated zones.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub id: u32,
    /// Zones that have pages.
    pub zones: u32,
    pub present: u64,
    /// Pages that the buddy allocator manages.
    pub managed: u64,
    pub free: u64,
    pub watermarks: Watermarks,
    pub boost: u64,
    /// Free pages of lower zones that are kept from allocations that could come from a higher one
    /// (vm.lowmem_reserve_ratio).
    pub reserved: u64,
    pub active_anon: u64,
    pub inactive_anon: u64,
    pub active_file: u64,
    pub inactive_file: u64,
    /// Pages of the huge page pools (hugetlb) of all sizes.
    pub huge: u64,
    /// Pages reclaimed since boot by anyone, where the kernel counts them by node (7.3).
    pub stolen: Option<u64>,
    /// Free blocks by order, 0 first; empty when buddyinfo could not be read.
    pub blocks: Vec<u64>,
}

impl Node {
    /// Pages on the file lists.
    #[must_use]
    pub fn file(&self) -> u64 {
        self.active_file.saturating_add(self.inactive_file)
    }

    /// Takes the figures of a node's vmstat. Returns `false`, and changes nothing, where a field is missing.
    pub(crate) fn refresh(&mut self, now: &Vmstat) -> bool {
        let (Some(free), Some(active_anon), Some(inactive_anon)) = (
            now.nr_free_pages(),
            now.nr_active_anon(),
            now.nr_inactive_anon(),
        ) else {
            return false;
        };
        let (Some(active_file), Some(inactive_file)) =
            (now.nr_active_file(), now.nr_inactive_file())
        else {
            return false;
        };
        (self.free, self.active_anon, self.inactive_anon) = (free, active_anon, inactive_anon);
        (self.active_file, self.inactive_file) = (active_file, inactive_file);
        if self.stolen.is_some() {
            self.stolen = now.pgsteal();
        }
        true
    }

    /// Pages on the anonymous lists.
    #[must_use]
    pub fn anon(&self) -> u64 {
        self.active_anon.saturating_add(self.inactive_anon)
    }
}

impl Sample {
    /// Node by id.
    #[must_use]
    pub fn node(&self, id: u32) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Puts together [`Sample::nodes`] from zoneinfo and buddyinfo.
    pub(crate) fn join_nodes(&mut self) {
        self.nodes.clear();
        for zone in self
            .zoneinfo
            .zones
            .iter()
            .filter(|zone| zone.is_populated())
        {
            let node = node_of(&mut self.nodes, zone.node);
            node.zones += 1;
            node.watermarks += zone.watermarks;
            let kept = zone.protection().last().copied().unwrap_or(0);
            for (sum, pages) in [
                (&mut node.present, zone.present),
                (&mut node.managed, zone.managed),
                (&mut node.free, zone.free),
                (&mut node.boost, zone.boost),
                (&mut node.reserved, zone.free.min(kept)),
            ] {
                *sum = sum.saturating_add(pages);
            }
        }
        for block in &self.zoneinfo.nodes {
            let Some(node) = self.nodes.iter_mut().find(|node| node.id == block.id) else {
                continue;
            };
            let stats = &block.stats;
            node.active_anon = stats.nr_active_anon().unwrap_or(0);
            node.inactive_anon = stats.nr_inactive_anon().unwrap_or(0);
            node.active_file = stats.nr_active_file().unwrap_or(0);
            node.inactive_file = stats.nr_inactive_file().unwrap_or(0);
            node.stolen = stats.pgsteal_kswapd().map(|kswapd| {
                let others = [
                    stats.pgsteal_direct(),
                    stats.pgsteal_khugepaged(),
                    stats.pgsteal_proactive(),
                ];
                let others = others.into_iter().flatten();
                others.fold(kswapd, u64::saturating_add)
            });
        }
        for zone in &self.buddyinfo.zones {
            let Some(node) = self.nodes.iter_mut().find(|node| node.id == zone.node) else {
                continue;
            };
            if node.blocks.len() < zone.blocks.len() {
                node.blocks.resize(zone.blocks.len(), 0);
            }
            for (sum, blocks) in node.blocks.iter_mut().zip(&zone.blocks) {
                *sum = sum.saturating_add(*blocks);
            }
        }
        // The kernel lists nodes by ascending id; nothing relies on that.
        self.nodes.sort_unstable_by_key(|node| node.id);
    }
}

/// The node of this id, a new empty one where there is none yet.
fn node_of(nodes: &mut Reused<Node>, id: u32) -> &mut Node {
    let at = match nodes.iter().position(|node| node.id == id) {
        Some(at) => at,
        None => {
            let node = nodes.grow();
            let mut blocks = std::mem::take(&mut node.blocks);
            blocks.clear();
            *node = Node {
                id,
                blocks,
                ..Node::default()
            };
            nodes.len() - 1
        }
    };
    &mut nodes[at]
}
