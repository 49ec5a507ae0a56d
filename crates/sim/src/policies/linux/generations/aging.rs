//! Aging: begins a younger generation, and ends the oldest.
use super::lruvec::{Generations, MIN_GENS};
use crate::policies::linux::page;
use crate::policies::linux::pid::Rules;
use crate::policies::linux::reclaim::{ANON, FILE};

/// The input of 6.12's decision to age early.
pub struct Age {
    pub min_seq: u64,
    pub max_seq: u64,
    /// Pages in the youngest generation, in the third youngest, and in all.
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

impl Generations {
    /// folio_update_gen() for every young page: the page-table walk of aging.
    pub(super) fn walk(&mut self) {
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

    /// try_to_inc_min_seq(): ends empty generations. `first`: [`ANON`], or [`FILE`] when anonymous memory
    /// cannot be reclaimed. Returns true when a generation ended.
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

    /// Bounds the distance between the types: 6.12 keeps anon at or behind file, and 7.x keeps the
    /// distance within the generations that can be evicted.
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

    /// The input of [`should_run_aging`].
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
}
