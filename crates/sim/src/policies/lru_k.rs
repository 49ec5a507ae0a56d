//! LRU-K: the object whose K-th last access is longest ago goes; what has not had K accesses goes
//! before, least recently used first. The history of what was evicted is kept, as the paper does.
//!
//! The K-th last access is a position of the trace, so the order is a set of positions.
use super::lru_k_correlated::Correlated;
use crate::bits::Bits;
use crate::huge::{prefetch, zeroed};
use crate::lane::Lane;
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lru-k",
    paper: "E. J. O'Neil, P. E. O'Neil, G. Weikum, The LRU-K Page Replacement Algorithm For Database Disk Buffering, SIGMOD 1993",
    parameters: &[
        Parameter {
            name: "k",
            default: "2",
            help: "accesses that are looked back, 1 to 16",
        },
        Parameter {
            name: "crp",
            default: "0",
            help: "correlated reference period, in requests: accesses within it count as one, and what was accessed within it is not evicted (slower above 0)",
        },
        Parameter {
            name: "retain",
            default: "true",
            help: "true or false: keep the history of what was evicted",
        },
    ],
    build: |setup| {
        let (k, retain) = (setup.value_in("k", 1..=16)?, setup.value("retain")?);
        Ok(match setup.value("crp")? {
            0 => Box::new(LruK::new(setup, k, retain)),
            crp => Box::new(Correlated::new(setup, k, crp, retain)),
        })
    },
};

struct LruK<'a> {
    ids: &'a [u32],
    k: usize,
    retain: bool,
    free: u32,
    resident: Vec<bool>,
    /// By object, K of them: positions (from 1) of the last accesses, latest first; 0 is none.
    history: Vec<u32>,
    /// Last accesses of what is resident and has not had K: an LRU list.
    few: Lane,
    few_tail: u32,
    few_held: u32,
    /// K-th last accesses of what is resident and has had K.
    full: Bits,
    /// None of them is before this.
    full_from: usize,
}

impl<'a> LruK<'a> {
    fn new(setup: &Setup<'a, '_>, k: usize, retain: bool) -> LruK<'a> {
        let objects = setup.input.objects() as usize;
        let requests = setup.input.ids().len();
        LruK {
            ids: setup.input.ids(),
            k,
            retain,
            free: setup.size,
            resident: zeroed(objects),
            history: zeroed(objects * k),
            few: Lane::new(requests),
            few_tail: 0,
            few_held: 0,
            full: Bits::new(requests + 1),
            full_from: 0,
        }
    }

    fn evict(&mut self) {
        let position = if self.few_held > 0 {
            self.few_held -= 1;
            self.few_tail = self.few.after(self.few_tail);
            self.few_tail as usize
        } else {
            let position = self.full.at_or_after(self.full_from);
            self.full_from = position.expect("a full cache has a victim");
            self.full.remove(self.full_from);
            self.full_from
        };
        let id = self.ids[position - 1] as usize;
        self.resident[id] = false;
        if !self.retain {
            self.history[id * self.k..][..self.k].fill(0);
        }
    }
}

impl Policy for LruK<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let place = id as usize;
        let k = self.k;
        let hit = self.resident[place];
        if !hit {
            if self.free > 0 {
                self.free -= 1;
            } else {
                self.evict();
            }
            self.resident[place] = true;
        }
        let history = &mut self.history[place * k..][..k];
        let (latest, oldest) = (history[0], history[k - 1]);
        history.copy_within(..k - 1, 1);
        history[0] = now;
        let key = history[k - 1] as usize;
        if hit && oldest != 0 {
            self.full.remove(oldest as usize);
        } else if hit {
            self.few.clear(latest);
            self.few_held -= 1;
        }
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
        prefetch(&self.resident, id as usize);
        prefetch(&self.history, id as usize * self.k);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        if self.k > 1 {
            // Where it stands, and where it will stand.
            let history = &self.history[id as usize * self.k..][..self.k];
            self.full.prefetch(history[self.k - 1] as usize);
            self.full.prefetch(history[self.k - 2] as usize);
        }
    }

    fn bytes(&self) -> usize {
        self.resident.len() + self.history.len() * 4 + self.few.bytes() + self.full.bytes()
    }
}
