//! MGLRU's generations of one lruvec: struct lru_gen_folio and what moves pages in it.
use super::pid::{tier_of, Rules, Tiers, MIN_LRU_BATCH};
use super::{page, ANON, FILE};
use crate::deques::Deques;
use crate::huge::{prefetch, zeroed};

/// MIN_NR_GENS
pub const MIN_GENS: u64 = 2;

/// LRU_REFS_MASK: accesses through descriptors beyond the first ones.
const MOST_REFS: u8 = 3;

/// Pages that eviction asks for before it comes to them.
const LOOK_AHEAD: usize = 24;

/// When 6.12 ages early, and 7.x does.
pub struct Age {
    pub min_seq: u64,
    pub max_seq: u64,
    /// Pages in the youngest generation, in the one that eviction is at when there are three, in all.
    pub young: u64,
    pub old: u64,
    pub total: u64,
}

/// should_run_aging() of 6.12.
pub fn should_run_aging(age: &Age) -> bool {
    if age.min_seq + MIN_GENS > age.max_seq {
        return true;
    }
    if age.min_seq + MIN_GENS < age.max_seq {
        return false;
    }
    age.young * MIN_GENS > age.total || age.old * (MIN_GENS + 2) < age.total
}

/// folio->flags of a page that is resident, the shadow of one that is not: the four bytes are either,
/// so that a fault and an eviction touch one cache line each.
#[derive(Clone, Copy, Default)]
pub struct Page {
    /// [`page`] bits; without [`page::PRESENT`] this and the rest are a shadow.
    pub bits: u8,
    /// Generation.
    gen: u8,
    /// LRU_REFS
    refs: u8,
    rest: u8,
}

/// What is kept of a page that was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// min_seq at the eviction, of which [`Shadow::SEQ`] is kept.
    pub seq: u64,
    /// LRU_REFS, 0 to 3
    pub refs: u8,
    /// PG_workingset
    pub workingset: bool,
}

impl Shadow {
    /// Bits of a sequence number that fit.
    pub const SEQ: u64 = (1 << 27) - 1;
}

impl Page {
    /// Is it resident?
    #[inline(always)]
    pub fn is_present(&self) -> bool {
        self.bits & page::PRESENT != 0
    }

    /// A resident page without history.
    #[inline(always)]
    pub fn new(bits: u8) -> Page {
        Page {
            bits,
            ..Page::default()
        }
    }

    /// The place of a page that is gone. The lowest bit is [`page::PRESENT`]'s, the next says that there
    /// is a shadow.
    #[inline(always)]
    pub fn gone(shadow: Shadow) -> Page {
        let word = ((shadow.seq & Shadow::SEQ) as u32) << 5
            | u32::from(shadow.refs) << 3
            | u32::from(shadow.workingset) << 2
            | 2;
        let [bits, gen, refs, rest] = word.to_le_bytes();
        Page {
            bits,
            gen,
            refs,
            rest,
        }
    }

    /// folio_is_file_lru()
    #[inline(always)]
    pub fn kind(&self) -> usize {
        usize::from(self.bits & page::FILE != 0)
    }

    /// folio_lru_refs() and lru_tier_from_refs()
    #[inline(always)]
    pub fn refs_and_tier(&self, rules: Rules) -> (u8, usize) {
        let workingset = self.bits & page::WORKINGSET != 0;
        let refs = match rules {
            Rules::V6_12 => self.refs + u8::from(workingset),
            Rules::V7 if self.bits & page::REFERENCED == 0 => 0,
            Rules::V7 => self.refs + 1,
        };
        (refs, tier_of(refs, workingset, rules))
    }

    /// folio_inc_refs() of 6.12, lru_gen_inc_refs() of 7.x: an access through a descriptor.
    #[inline(always)]
    pub fn inc_refs(&mut self, rules: Rules) {
        if self.bits & page::REFERENCED == 0 {
            self.bits |= page::REFERENCED;
            if rules == Rules::V7 {
                self.refs = 0;
            }
            return;
        }
        match rules {
            Rules::V6_12 if self.bits & page::WORKINGSET == 0 => self.bits |= page::WORKINGSET,
            Rules::V7 if self.refs == MOST_REFS => self.bits |= page::WORKINGSET,
            _ => self.refs = (self.refs + 1).min(MOST_REFS),
        }
    }

    /// Sets LRU_REFS of a page that refaulted.
    #[inline(always)]
    pub fn restore_refs(&mut self, refs: u8) {
        self.refs = refs.min(MOST_REFS);
    }

    /// Of a page that is not resident: what is kept of it, if it ever was.
    #[inline(always)]
    pub fn shadow(&self) -> Option<Shadow> {
        let word = u32::from_le_bytes([self.bits, self.gen, self.refs, self.rest]);
        (word != 0).then_some(Shadow {
            seq: u64::from(word >> 5),
            refs: (word >> 3 & 3) as u8,
            workingset: word & 4 != 0,
        })
    }
}

/// The generations.
pub struct Generations {
    pub rules: Rules,
    /// MAX_NR_GENS
    gens: u64,
    /// Places of generations less one: a power of two, for a division a page is what costs most.
    mask: u64,
    pub max_seq: u64,
    pub min_seq: [u64; 2],
    /// By generation and type. Pages leave at the old end alone: promotion only changes their flags.
    lists: Deques,
    /// Pages whose flags say so; they may still be on an older list.
    pages_in: Vec<[u64; 2]>,
    pub tiers: [Tiers; 2],
    pub pages: Vec<Page>,
    /// What became young since the last walk.
    young: Vec<u32>,
}

impl Generations {
    /// For so many pages, with MAX_NR_GENS generations.
    pub fn new(pages: u32, gens: u64, rules: Rules) -> Generations {
        let places = gens.next_power_of_two();
        Generations {
            rules,
            gens,
            mask: places - 1,
            // lru_gen_init_lruvec(); with three generations there is no room for a fourth.
            max_seq: (MIN_GENS + 1).min(gens - 1),
            min_seq: [0; 2],
            lists: Deques::new(places as usize * 2),
            pages_in: vec![[0; 2]; places as usize],
            tiers: Default::default(),
            pages: zeroed(pages as usize),
            young: Vec::new(),
        }
    }

    /// The place of a generation, where the kernel has lru_gen_from_seq().
    #[inline(always)]
    fn index(&self, seq: u64) -> u8 {
        (seq & self.mask) as u8
    }

    #[inline(always)]
    fn list(gen: u8, kind: usize) -> usize {
        usize::from(gen) * 2 + kind
    }

    #[inline(always)]
    fn kind(&self, id: u32) -> usize {
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
    fn seq_for(&self, page: Page, rules: Rules) -> u64 {
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

    /// lru_gen_add_folio() of `id`, which is as `page` says. What it is then is returned, and not yet
    /// written: its owner has more to change. `rules` are this one's own, which its owner knows at
    /// compile time.
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
    fn add(&mut self, id: u32) {
        self.pages[id as usize] = self.enter(id, self.pages[id as usize], self.rules);
    }

    /// The oldest page of the oldest generation, which stays there.
    #[inline]
    pub fn oldest(&self, kind: usize) -> Option<u32> {
        self.tail_of(self.min_seq[kind], kind)
    }

    /// The oldest page of a generation.
    #[inline]
    pub fn tail_of(&self, seq: u64, kind: usize) -> Option<u32> {
        self.lists.from_old(Self::list(self.index(seq), kind), 0)
    }

    /// scan_folios(), sort_folio(), isolate_folio() and lru_gen_del_folio(): of the oldest generation of
    /// a type, until `most` pages were looked at or `isolated` has so many as eviction takes at once.
    /// Returns how many pages were looked at, and how many of them are not to be evicted.
    #[inline(always)]
    pub fn scan(
        &mut self,
        kind: usize,
        highest_evicted: usize,
        most: u64,
        isolated: &mut Vec<u32>,
        rules: Rules,
    ) -> (u64, u64) {
        let oldest = self.index(self.min_seq[kind]);
        let list = Self::list(oldest, kind);
        let (mut looked, before) = (0, isolated.len());
        while looked < most && (isolated.len() as u64) < MIN_LRU_BATCH {
            let Some(id) = self.lists.from_old(list, 0) else {
                break;
            };
            if let Some(later) = self.lists.from_old(list, LOOK_AHEAD) {
                self.prefetch(later);
            }
            looked += 1;
            let page = &mut self.pages[id as usize];
            let (refs, tier) = page.refs_and_tier(rules);
            let workingset = page.bits & page::WORKINGSET != 0;
            let (most, counted) = match rules {
                Rules::V6_12 => (refs == MOST_REFS + 1, true),
                Rules::V7 => {
                    let lazily = refs + u8::from(workingset) == MOST_REFS + 2;
                    (lazily, !lazily)
                }
            };
            self.lists.drop_old(list);
            if page.gen != oldest {
                let list = Self::list(page.gen, kind);
                self.lists.push_young(list, id);
            } else if tier <= highest_evicted && !most {
                if page.bits & page::REFERENCED == 0 {
                    page.refs = 0;
                }
                if rules == Rules::V6_12 {
                    page.bits &= !page::REFERENCED;
                }
                isolated.push(id);
            } else {
                self.inc_gen(id);
                let list = Self::list(self.pages[id as usize].gen, kind);
                match rules {
                    Rules::V6_12 => self.lists.push_old(list, id),
                    Rules::V7 => self.lists.push_young(list, id),
                }
                if counted {
                    self.tiers[kind].protected[tier] += 1;
                }
            }
        }
        let gone = (isolated.len() - before) as u64;
        self.pages_in[usize::from(oldest)][kind] -= gone;
        (looked, looked - gone)
    }

    /// folio_inc_gen() of a page that is still in the oldest generation.
    fn inc_gen(&mut self, id: u32) {
        let kind = self.kind(id);
        let old = self.index(self.min_seq[kind]);
        let new = self.index(self.min_seq[kind] + 1);
        self.pages[id as usize].bits &= !(page::REFERENCED | page::WORKINGSET);
        self.pages[id as usize].refs = 0;
        self.pages[id as usize].gen = new;
        self.pages_in[usize::from(old)][kind] -= 1;
        self.pages_in[usize::from(new)][kind] += 1;
    }

    /// isolate_folio() and lru_gen_del_folio() of the oldest page of a generation's list.
    pub fn isolate(&mut self, id: u32, seq: u64) {
        let mut page = self.pages[id as usize];
        if page.bits & page::REFERENCED == 0 {
            page.refs = 0;
        }
        if self.rules == Rules::V6_12 {
            page.bits &= !page::REFERENCED;
        }
        self.pages[id as usize] = page;
        let kind = page.kind();
        self.lists.drop_old(Self::list(self.index(seq), kind));
        self.pages_in[usize::from(page.gen)][kind] -= 1;
    }

    /// A page that was isolated and could not be evicted: evict_folios() makes it active.
    pub fn reject(&mut self, id: u32) {
        let oldest = self.min_seq[self.kind(id)];
        if self.rules == Rules::V6_12 || self.seq_for(self.pages[id as usize], self.rules) == oldest
        {
            self.pages[id as usize].bits &= !(page::REFERENCED | page::WORKINGSET);
            self.pages[id as usize].refs = 0;
            self.pages[id as usize].bits |= page::ACTIVE;
        }
        self.add(id);
    }

    /// lru_gen_set_refs() of 7.x, on a page that eviction found young: true when it is activated.
    pub fn set_refs(&mut self, id: u32) -> bool {
        let bits = self.pages[id as usize].bits;
        if bits & (page::REFERENCED | page::WORKINGSET) == 0 {
            let exec = page::EXEC | page::FILE;
            if bits & exec == exec {
                self.pages[id as usize].bits |= page::WORKINGSET;
                return true;
            }
            self.pages[id as usize].refs = 0;
            self.pages[id as usize].bits |= page::REFERENCED;
            return false;
        }
        if self.pages[id as usize].refs_and_tier(self.rules).0 > 1 {
            self.pages[id as usize].bits = bits & !page::REFERENCED | page::WORKINGSET;
            self.pages[id as usize].refs = 0;
        } else {
            self.inc_refs(id);
        }
        true
    }

    /// folio_update_gen() for every page that is young: what the page-table walk of aging does.
    fn walk(&mut self) {
        let newest = self.index(self.max_seq);
        for id in std::mem::take(&mut self.young) {
            let bits = self.pages[id as usize].bits;
            if !self.pages[id as usize].is_present() || bits & page::YOUNG == 0 {
                continue;
            }
            let mut bits = bits & !page::YOUNG;
            let exec = page::EXEC | page::FILE;
            if self.rules == Rules::V7
                && bits & (page::REFERENCED | page::WORKINGSET) == 0
                && bits & exec != exec
            {
                self.pages[id as usize].refs = 0;
                self.pages[id as usize].bits = bits | page::REFERENCED;
                continue;
            }
            bits &= !(page::REFERENCED | page::WORKINGSET);
            if self.rules == Rules::V7 {
                bits |= page::WORKINGSET;
            }
            self.pages[id as usize].bits = bits;
            self.pages[id as usize].refs = 0;
            let kind = self.kind(id);
            let before = std::mem::replace(&mut self.pages[id as usize].gen, newest);
            self.pages_in[usize::from(before)][kind] -= 1;
            self.pages_in[usize::from(newest)][kind] += 1;
        }
    }

    /// try_to_inc_max_seq(): young pages go to the youngest generation, then a younger one begins.
    pub fn inc_max_seq(&mut self) {
        self.walk();
        for kind in [FILE, ANON] {
            if self.count(kind) == self.gens {
                self.inc_min_seq(kind);
            }
        }
        self.max_seq += 1;
    }

    /// inc_min_seq(): the oldest generation is merged into the next.
    fn inc_min_seq(&mut self, kind: usize) {
        while let Some(id) = self.oldest(kind) {
            if self.pages[id as usize].gen == self.index(self.min_seq[kind]) {
                self.inc_gen(id);
            }
            self.lists
                .pop_old(Self::list(self.index(self.min_seq[kind]), kind));
            let list = Self::list(self.pages[id as usize].gen, kind);
            self.lists.push_old(list, id);
        }
        self.tiers[kind].carry_over();
        self.min_seq[kind] += 1;
    }

    /// try_to_inc_min_seq(): generations that are empty are done with. `first`: [`ANON`], or [`FILE`]
    /// when anonymous memory cannot be reclaimed. True when anything moved.
    pub fn try_to_inc_min_seq(&mut self, first: usize) -> bool {
        let mut min_seq = self.min_seq;
        for (kind, seq) in min_seq.iter_mut().enumerate().skip(first) {
            while *seq + MIN_GENS <= self.max_seq {
                let list = Self::list(self.index(*seq), kind);
                if !self.lists.is_empty(list) {
                    break;
                }
                *seq += 1;
            }
        }
        if first == ANON {
            self.bind(&mut min_seq);
        }
        let mut moved = false;
        for (kind, &seq) in min_seq.iter().enumerate().skip(first) {
            if seq > self.min_seq[kind] {
                self.tiers[kind].carry_over();
                self.min_seq[kind] = seq;
                moved = true;
            }
        }
        moved
    }

    /// Neither type may run away from the other: 6.12 keeps anon at or behind file, 7.x keeps the
    /// distance within what can be evicted.
    fn bind(&self, min_seq: &mut [u64; 2]) {
        match self.rules {
            Rules::V6_12 => {
                min_seq[ANON] = min_seq[ANON].min(min_seq[FILE]);
                min_seq[FILE] = min_seq[ANON].max(self.min_seq[FILE]);
            }
            Rules::V7 => {
                let seq = self.max_seq - MIN_GENS;
                for (one, other) in [(ANON, FILE), (FILE, ANON)] {
                    if min_seq[one] > seq && min_seq[other] < seq {
                        min_seq[one] = seq;
                        return;
                    }
                }
            }
        }
    }

    /// What [`should_run_aging`] looks at.
    pub fn age(&self, first: usize) -> Age {
        let mut age = Age {
            min_seq: self.min_seq[first],
            max_seq: self.max_seq,
            young: 0,
            old: 0,
            total: 0,
        };
        for kind in first..=FILE {
            for seq in self.min_seq[kind]..=self.max_seq {
                let pages = self.pages_in[usize::from(self.index(seq))][kind];
                age.total += pages;
                if seq == self.max_seq {
                    age.young += pages;
                } else if seq + MIN_GENS == self.max_seq {
                    age.old += pages;
                }
            }
        }
        age
    }

    /// Asks for the memory of a page.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        prefetch(&self.pages, id as usize);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.pages.len() * size_of::<Page>() + self.lists.bytes() + self.young.capacity() * 4
    }
}

#[cfg(test)]
#[path = "generations_tests.rs"]
mod tests;
