//! LRU-K: evicts the object whose K-th last access is longest ago. Objects with fewer than K accesses go
//! before, least recently used first. The history of evicted objects is kept, as in the paper.
//!
//! The K-th last access is a position of the trace, so the order is a set of positions.
use super::lru_k_correlated::Correlated;
use crate::structures::bitset::BitSet;
use crate::structures::huge_pages::{filled, prefetch};
use crate::structures::recency_bitmap::RecencyBitmap;
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lru-k",
    paper: "E. J. O'Neil, P. E. O'Neil, G. Weikum, The LRU-K Page Replacement Algorithm For Database Disk Buffering, SIGMOD 1993",
    parameters: &[
        Parameter {
            name: "k",
            default: "2",
            help: "which last access counts: the K-th, 1 to 8",
        },
        Parameter {
            name: "crp",
            default: "0",
            help: "correlated reference period, in requests: accesses within the period count as one, and protect the object from eviction (slower above 0)",
        },
        Parameter {
            name: "retain",
            default: "true",
            help: "true or false: keep the history of evicted objects",
        },
    ],
    build: |setup| {
        let (k, retain) = (setup.value_in("k", 1..=8)?, setup.value("retain")?);
        let crp = setup.value("crp")?;
        Ok(match (crp, k) {
            (0, 1) => Box::new(LruK::<1>::new(setup, retain)),
            (0, 2) => Box::new(LruK::<2>::new(setup, retain)),
            (0, 3) => Box::new(LruK::<3>::new(setup, retain)),
            (0, 4) => Box::new(LruK::<4>::new(setup, retain)),
            (0, 5) => Box::new(LruK::<5>::new(setup, retain)),
            (0, 6) => Box::new(LruK::<6>::new(setup, retain)),
            (0, 7) => Box::new(LruK::<7>::new(setup, retain)),
            (0, 8) => Box::new(LruK::<8>::new(setup, retain)),
            _ => Box::new(Correlated::new(setup, k, crp, retain)),
        })
    },
};

struct LruK<const K: usize> {
    retain: bool,
    free: u32,
    /// By object: positions (from 1) of the last accesses, latest first; 0: none. A mark at the object's
    /// place in the order makes it resident. Eviction clears the mark and need not find the object.
    history: Vec<[u32; K]>,
    /// Last accesses of resident objects with fewer than K accesses: an LRU list.
    few: RecencyBitmap,
    few_tail: u32,
    few_held: u32,
    /// K-th last accesses of resident objects with K accesses.
    full: BitSet,
    /// No member of `full` is below this position.
    full_from: usize,
}

impl<const K: usize> LruK<K> {
    fn new(setup: &Setup, retain: bool) -> LruK<K> {
        let objects = setup.input.objects() as usize;
        let requests = setup.input.ids().len();
        LruK {
            retain,
            free: setup.size,
            history: filled(objects, [0; K]),
            few: RecencyBitmap::new(requests),
            few_tail: 0,
            few_held: 0,
            full: BitSet::new(requests + 1),
            full_from: 0,
        }
    }

    fn evict(&mut self) {
        if self.few_held > 0 {
            self.few_held -= 1;
            self.few_tail = self.few.after(self.few_tail);
            self.few.clear(self.few_tail);
        } else {
            let position = self.full.at_or_after(self.full_from);
            self.full_from = position.expect("a full cache has a victim");
            self.full.remove(self.full_from);
        }
    }
}

impl<const K: usize> Policy for LruK<K> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let place = id as usize;
        let [latest, oldest] = [0, K - 1].map(|back| self.history[place][back]);
        // Position 0 is never marked.
        let hit = if oldest != 0 {
            let hit = self.full.has(oldest as usize);
            if hit {
                self.full.remove(oldest as usize);
            }
            hit
        } else {
            let hit = self.few.has(latest);
            if hit {
                self.few.clear(latest);
                self.few_held -= 1;
            }
            hit
        };
        if !hit {
            if self.free > 0 {
                self.free -= 1;
            } else {
                self.evict();
            }
            if !self.retain {
                self.history[place] = [0; K];
            }
        }
        let history = &mut self.history[place];
        history.copy_within(..K - 1, 1);
        history[0] = now;
        let key = history[K - 1] as usize;
        if key != 0 {
            self.full.insert(key);
            self.full_from = self.full_from.min(key);
        } else {
            self.few.mark(now);
            self.few_held += 1;
        }
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.history, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        // The mark's place now, and its next place.
        let history = &self.history[id as usize];
        self.full.prefetch(history[K - 1] as usize);
        self.full.prefetch(history[K.saturating_sub(2)] as usize);
    }

    fn bytes(&self) -> usize {
        self.history.len() * 4 * K + self.few.bytes() + self.full.bytes()
    }
}
