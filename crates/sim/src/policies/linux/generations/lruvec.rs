//! struct lru_gen_folio, and the functions that add pages to it.
use super::page_state::Page;
use crate::policies::linux::page;
use crate::policies::linux::pid::{Rules, Tiers};
use crate::policies::linux::reclaim::ANON;
use crate::structures::chunked_deques::ChunkedDeques;
use crate::structures::huge_pages::{prefetch, zeroed};

/// MIN_NR_GENS
pub const MIN_GENS: u64 = 2;

/// The generations.
pub struct Generations {
    pub rules: Rules,
    /// MAX_NR_GENS
    pub(super) gens: u64,
    /// Mask of generation slots. Their number is a power of two: a division for each page would cost most.
    pub(super) mask: u64,
    pub max_seq: u64,
    pub min_seq: [u64; 2],
    /// By generation and type. Pages leave at the old end alone: promotion only changes their flags.
    pub(super) lists: ChunkedDeques,
    /// Pages by the generation in their flags. A page may still be on an older list.
    pub(super) pages_in: Vec<[u64; 2]>,
    pub tiers: [Tiers; 2],
    pub pages: Vec<Page>,
    /// Pages that became young since the last walk.
    pub(super) young: Vec<u32>,
}

impl Generations {
    /// Generations for `pages` pages. `gens` is MAX_NR_GENS.
    pub fn new(pages: u32, gens: u64, rules: Rules) -> Generations {
        let places = gens.next_power_of_two();
        Generations {
            rules,
            gens,
            mask: places - 1,
            // lru_gen_init_lruvec(); with three generations there is no room for a fourth.
            max_seq: (MIN_GENS + 1).min(gens - 1),
            min_seq: [0; 2],
            lists: ChunkedDeques::new(places as usize * 2),
            pages_in: vec![[0; 2]; places as usize],
            tiers: Default::default(),
            pages: zeroed(pages as usize),
            young: Vec::new(),
        }
    }

    /// The place of a generation, where the kernel has lru_gen_from_seq().
    #[inline(always)]
    pub(super) fn index(&self, seq: u64) -> u8 {
        (seq & self.mask) as u8
    }

    #[inline(always)]
    pub(super) fn list(gen: u8, kind: usize) -> usize {
        usize::from(gen) * 2 + kind
    }

    #[inline(always)]
    pub(super) fn kind(&self, id: u32) -> usize {
        self.pages[id as usize].kind()
    }

    /// get_nr_gens()
    pub fn count(&self, kind: usize) -> u64 {
        self.max_seq - self.min_seq[kind] + 1
    }

    /// Pages of the types that may be evicted.
    pub fn total(&self, first: usize) -> u64 {
        let all = self.pages_in.iter();
        all.map(|by_type| by_type[first..].iter().sum::<u64>())
            .sum()
    }

    /// [`Page::inc_refs`] of a resident page.
    #[inline(always)]
    pub fn inc_refs(&mut self, id: u32) {
        self.pages[id as usize].inc_refs(self.rules);
    }

    /// An access through a page table.
    #[inline(always)]
    pub fn set_young(&mut self, id: u32) {
        let bits = &mut self.pages[id as usize].bits;
        if *bits & page::YOUNG == 0 {
            *bits |= page::YOUNG;
            self.young.push(id);
        }
    }

    /// The sequence number of the generation that lru_gen_add_folio() puts a page in.
    #[inline(always)]
    pub(super) fn seq_for(&self, page: Page, rules: Rules) -> u64 {
        let bits = page.bits;
        let kind = page.kind();
        let min_seq = self.min_seq[kind];
        if rules == Rules::V7 {
            // lru_gen_folio_seq()
            let workingset = bits & page::WORKINGSET != 0;
            let from_top = if bits & page::ACTIVE != 0 {
                MIN_GENS - u64::from(workingset)
            } else if kind == ANON {
                MIN_GENS
            } else {
                self.gens - u64::from(workingset || bits & page::REFERENCED != 0)
            };
            return (self.max_seq + 1).saturating_sub(from_top).max(min_seq);
        }
        if bits & page::ACTIVE != 0 {
            self.max_seq
        } else if kind == ANON {
            self.max_seq - 1
        } else if min_seq + MIN_GENS >= self.max_seq {
            min_seq
        } else {
            min_seq + 1
        }
    }

    /// lru_gen_add_folio() of `id` in the state `page`. Returns the new state without storing it, since the
    /// caller has more to change. `rules` equals `self.rules`; the caller knows it at compile time.
    #[inline(always)]
    pub fn enter(&mut self, id: u32, mut page: Page, rules: Rules) -> Page {
        let kind = page.kind();
        let gen = self.index(self.seq_for(page, rules));
        if rules == Rules::V6_12 && page.bits & page::ACTIVE != 0 {
            page.bits &= !page::REFERENCED;
            page.refs = 0;
        }
        page.bits &= !page::ACTIVE;
        page.gen = gen;
        self.pages_in[usize::from(gen)][kind] += 1;
        self.lists.push_young(Self::list(gen, kind), id);
        page
    }

    /// lru_gen_add_folio()
    pub(super) fn add(&mut self, id: u32) {
        self.pages[id as usize] = self.enter(id, self.pages[id as usize], self.rules);
    }

    /// The oldest page of the oldest generation. The page stays there.
    #[inline]
    pub fn oldest(&self, kind: usize) -> Option<u32> {
        self.tail_of(self.min_seq[kind], kind)
    }

    /// The oldest page of a generation.
    #[inline]
    pub fn tail_of(&self, seq: u64, kind: usize) -> Option<u32> {
        self.lists.from_old(Self::list(self.index(seq), kind), 0)
    }

    /// folio_inc_gen() of a page that is still in the oldest generation.
    pub(super) fn inc_gen(&mut self, id: u32) {
        let kind = self.kind(id);
        let old = self.index(self.min_seq[kind]);
        let new = self.index(self.min_seq[kind] + 1);
        self.pages[id as usize].bits &= !(page::REFERENCED | page::WORKINGSET);
        self.pages[id as usize].refs = 0;
        self.pages[id as usize].gen = new;
        self.pages_in[usize::from(old)][kind] -= 1;
        self.pages_in[usize::from(new)][kind] += 1;
    }

    /// Prefetches the memory of a page.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        prefetch(&self.pages, id as usize);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.pages.len() * size_of::<Page>() + self.lists.bytes() + self.young.capacity() * 4
    }
}
