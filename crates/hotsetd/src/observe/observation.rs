//! Converts samples of the kernel's files ([`kernfs::Sample`]) to the policy's observations.
use kernfs::{sampler::Sources, Sample};
use policy::{Dentries, Inodes, Knobs, Meminfo, NodeObservation, Observation, Pressure, Vmstat};

/// A node's figures, owned.
#[derive(Clone, Debug, Default)]
struct Row {
    figures: NodeObservation<'static>,
    blocks: Vec<u64>,
}

/// Keeps the last good figures of each file.
///
/// A file that cannot be read must not count as counters that fall to zero and jump back: the
/// jump would be a huge burst. While a file is missing, its figures stand still.
#[derive(Debug, Default)]
pub struct Observer {
    rows: Vec<Row>,
    live: usize,
    /// Room for the nodes that are lent to the policy; empty in between.
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
        // Free pages and stolen pages are compared: both must be of one sample.
        let tables = Sources::VMSTAT | Sources::ZONEINFO;
        if sample.fresh.contains(tables) {
            self.vmstat = ::observe::vmstat(sample);
            self.take_nodes(sample);
            if sample.fresh.contains(Sources::PSI_MEMORY) {
                self.psi_memory = ::observe::pressure(sample);
            }
        }
        if sample.fresh.contains(Sources::MEMINFO) {
            self.meminfo = ::observe::meminfo(sample);
        }
        self.dentries = ::observe::dentries(sample);
        self.inodes = ::observe::inodes(sample);
        self.knobs = ::observe::knobs(sample);
    }

    fn take_nodes(&mut self, sample: &Sample) {
        self.live = sample.nodes.len();
        if self.rows.len() < self.live {
            self.rows.resize_with(self.live, Row::default);
        }
        let blocks_known = sample.fresh.contains(Sources::BUDDYINFO);
        for (row, node) in self.rows.iter_mut().zip(&sample.nodes) {
            // The last known blocks must be of the same node.
            if blocks_known || row.figures.id != node.id {
                row.blocks.clone_from(&node.blocks);
            }
            row.figures = ::observe::node_without_blocks(node);
        }
    }

    /// Sets the share of each node, 0 to 1, that is file pages under a floor: reclaim
    /// cannot free them.
    pub fn protect(&mut self, share: f64) {
        self.protected = share;
    }

    pub fn knobs(&self) -> &Knobs {
        &self.knobs
    }

    pub fn knobs_mut(&mut self) -> &mut Knobs {
        &mut self.knobs
    }

    /// Lends the observation to `decide`.
    pub fn show<T>(&mut self, decide: impl FnOnce(&Observation) -> T) -> T {
        // The vector is empty before and after, so that its lifetime may differ in
        // between. Collecting an empty vector's own iterator keeps the allocation.
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
        let result = decide(&Observation {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_under_a_floor_are_not_shown_as_reclaimable() {
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
