//! Generations and their pages: a generation is a vector, the oldest page first.
use crate::slow::linux::{Counted, World};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct Page {
    pub(super) file: bool,
    pub(super) exec: bool,
    pub(super) active: bool,
    pub(super) referenced: bool,
    pub(super) workingset: bool,
    pub(super) young: bool,
    /// LRU_REFS
    pub(super) refs: u64,
    /// The generation in the page's flags. The page's list may be an older one.
    pub(super) seq: u64,
}

pub(super) struct Shadow {
    pub(super) seq: u64,
    pub(super) refs: u64,
    pub(super) workingset: bool,
}

/// Refaulted and total pages of one tier or of several, and the gain.
pub(super) type Rate = (u64, u64, u64);

#[derive(Clone, Copy, Default)]
pub(super) struct Tier {
    pub(super) refaulted: u64,
    /// Evicted or protected.
    pub(super) total: u64,
    pub(super) old_refaulted: u64,
    pub(super) old_total: u64,
}

#[derive(Default)]
pub(super) struct Lruvec {
    pub(super) world: World,
    pub(super) max_seq: u64,
    pub(super) min_seq: [u64; 2],
    /// By type and sequence number.
    pub(super) lists: BTreeMap<(usize, u64), Vec<u32>>,
    pub(super) pages: BTreeMap<u32, Page>,
    pub(super) shadows: BTreeMap<u32, Shadow>,
    pub(super) tiers: [[Tier; 4]; 2],
    pub(super) counted: Counted,
}

pub(super) const ANON: usize = 0;
pub(super) const FILE: usize = 1;

/// The least power of two that is not below `n`, as an exponent.
pub(super) fn order_base_2(n: u64) -> usize {
    (0..).find(|&order| 1 << order >= n).unwrap_or(0)
}

impl Lruvec {
    pub(super) fn new(world: &World) -> Lruvec {
        Lruvec {
            world: world.clone(),
            max_seq: world.generations.min(4) - 1,
            ..Lruvec::default()
        }
    }

    pub(super) fn list(&mut self, kind: usize, seq: u64) -> &mut Vec<u32> {
        self.lists.entry((kind, seq)).or_default()
    }

    pub(super) fn page(&mut self, id: u32) -> &mut Page {
        self.pages.get_mut(&id).expect("it is resident")
    }

    /// The types that may be evicted.
    pub(super) fn kinds(&self) -> std::ops::RangeInclusive<usize> {
        let only_files = !self.world.swap || self.world.swappiness == 0;
        usize::from(only_files)..=FILE
    }

    pub(super) fn swappiness(&self) -> u64 {
        self.world.swappiness * u64::from(self.world.swap)
    }

    /// Pages of a type whose flags name a generation.
    pub(super) fn in_generation(&self, kind: usize, seq: u64) -> u64 {
        let of = |page: &&Page| usize::from(page.file) == kind && page.seq == seq;
        self.pages.values().filter(of).count() as u64
    }

    pub(super) fn evictable(&self) -> u64 {
        let kinds = self.kinds();
        let of = |page: &&Page| kinds.contains(&usize::from(page.file));
        self.pages.values().filter(of).count() as u64
    }

    pub(super) fn generations(&self, kind: usize) -> u64 {
        self.max_seq - self.min_seq[kind] + 1
    }

    pub(super) fn rate(&self, kind: usize, tiers: std::ops::Range<usize>, gain: u64) -> Rate {
        let tiers = &self.tiers[kind][tiers];
        (
            tiers.iter().map(|t| t.refaulted + t.old_refaulted).sum(),
            tiers.iter().map(|t| t.total + t.old_total).sum(),
            gain,
        )
    }

    /// Ends a generation of the type.
    pub(super) fn next_min_seq(&mut self, kind: usize, seq: u64) {
        for tier in &mut self.tiers[kind] {
            *tier = Tier {
                old_refaulted: (tier.refaulted + tier.old_refaulted) / 2,
                old_total: (tier.total + tier.old_total) / 2,
                ..Tier::default()
            };
        }
        self.min_seq[kind] = seq;
    }

    /// Accesses through descriptors, and the tier.
    pub(super) fn refs_and_tier(&self, page: &Page) -> (u64, usize) {
        if self.world.new {
            let refs = if page.referenced { page.refs + 1 } else { 0 };
            let tier = if page.workingset {
                3
            } else {
                order_base_2(refs)
            };
            (refs, tier)
        } else {
            let refs = page.refs + u64::from(page.workingset);
            (refs, order_base_2(refs + 1))
        }
    }

    pub(super) fn seq_for(&self, page: &Page) -> u64 {
        let (kind, oldest) = (usize::from(page.file), self.min_seq[usize::from(page.file)]);
        if self.world.new {
            let back = match (page.active, kind) {
                (true, _) if page.workingset => 1,
                (true, _) | (false, ANON) => 2,
                _ if page.workingset || page.referenced => self.world.generations - 1,
                _ => self.world.generations,
            };
            return oldest.max((self.max_seq + 1).saturating_sub(back));
        }
        match (page.active, kind) {
            (true, _) => self.max_seq,
            (false, ANON) => self.max_seq - 1,
            _ if self.max_seq - oldest <= 2 => oldest,
            _ => oldest + 1,
        }
    }

    /// Adds a page to the lists, at the young end.
    pub(super) fn add(&mut self, id: u32, mut page: Page) {
        page.seq = self.seq_for(&page);
        if page.active && !self.world.new {
            page.referenced = false;
            page.refs = 0;
        }
        page.active = false;
        self.list(usize::from(page.file), page.seq).push(id);
        self.pages.insert(id, page);
    }
}
