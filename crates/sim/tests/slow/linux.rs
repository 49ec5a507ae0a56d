//! Shared by the slow twins of Linux's models: the cgroup that they reclaim, and counts by name.
use std::collections::BTreeMap;
use trace::Flags;

/// A memory cgroup at its limit.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Pages that fit.
    pub size: usize,
    /// Anonymous memory can be reclaimed.
    pub swap: bool,
    /// vm.swappiness
    pub swappiness: u64,
    /// Pages that a fault without room reclaims at least.
    pub batch: u64,
    /// MGLRU: 7.3's rules, and MAX_NR_GENS.
    pub new: bool,
    pub generations: u64,
}

impl World {
    /// The batch, at most a quarter of the pages that fit.
    pub fn batch(&self) -> u64 {
        self.batch.min((self.size as u64 / 4).max(1))
    }

    /// Whether an access goes through a page table. Accesses of anonymous memory always do.
    pub fn is_mapped(flags: Flags) -> bool {
        flags.has(Flags::MAPPED) || flags.has(Flags::ANON)
    }
}

/// Counts by the names that the models give them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted(BTreeMap<String, u64>);

impl Counted {
    pub fn add(&mut self, name: &str, more: u64) {
        *self.0.entry(name.to_string()).or_default() += more;
    }

    /// Adds to the count of anonymous memory or of files.
    pub fn of(&mut self, name: &str, file: bool, more: u64) {
        self.add(
            &format!("{name}_{}", ["anon", "file"][usize::from(file)]),
            more,
        );
    }

    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// The counts of anonymous memory and of files.
    pub fn both(&self, name: &str) -> [u64; 2] {
        ["anon", "file"].map(|kind| self.get(&format!("{name}_{kind}")))
    }
}
