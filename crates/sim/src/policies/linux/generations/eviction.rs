//! Eviction: takes pages out of the oldest generation.
use super::lruvec::Generations;
use super::page_state::MOST_REFS;
use crate::policies::linux::page;
use crate::policies::linux::pid::{Rules, MIN_LRU_BATCH};

/// Pages by which eviction prefetches ahead.
const PREFETCHED: usize = 24;

impl Generations {
    /// scan_folios(), sort_folio(), isolate_folio() and lru_gen_del_folio(), of the oldest generation of
    /// a type: until `most` pages are scanned, or `isolated` has as many as eviction takes at once.
    /// Returns how many pages were scanned, and how many of them are not to be evicted.
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
        let (mut scanned, before) = (0, isolated.len());
        while scanned < most && (isolated.len() as u64) < MIN_LRU_BATCH {
            let Some(id) = self.lists.from_old(list, 0) else {
                break;
            };
            if let Some(later) = self.lists.from_old(list, PREFETCHED) {
                self.prefetch(later);
            }
            scanned += 1;
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
        (scanned, scanned - gone)
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

    /// Puts back a page that was isolated and could not be evicted: evict_folios() makes it active.
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

    /// lru_gen_set_refs() of 7.x, on a page that eviction found young. Returns true when the page becomes active.
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
}
