//! LRU-K: the object whose K-th last access is longest ago goes; what has not had K accesses goes
//! before, least recently used first. The history of what was evicted is kept, as the paper does.
//!
//! The K-th last access is a position of the trace, so the order is a set of positions.
use super::lru_k_correlated::Correlated;
use crate::bits::Bits;
use crate::huge::{prefetch, zeroed};
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
    /// Last accesses of what is resident and has not had K.
    few: Bits,
    /// K-th last accesses of what is resident and has had K.
    full: Bits,
}

impl<'a> LruK<'a> {
    fn new(setup: &Setup<'a, '_>, k: usize, retain: bool) -> LruK<'a> {
        let objects = setup.input.objects() as usize;
        let bound = setup.input.ids().len() + 1;
        LruK {
            ids: setup.input.ids(),
            k,
            retain,
            free: setup.size,
            resident: zeroed(objects),
            history: zeroed(objects * k),
            few: Bits::new(bound),
            full: Bits::new(bound),
        }
    }

    /// The set and the position that stand for an object.
    #[inline(always)]
    fn key(&self, id: u32) -> (bool, usize) {
        let history = &self.history[id as usize * self.k..][..self.k];
        match history[self.k - 1] {
            0 => (false, history[0] as usize),
            oldest => (true, oldest as usize),
        }
    }

    fn set(&mut self, full: bool) -> &mut Bits {
        if full {
            &mut self.full
        } else {
            &mut self.few
        }
    }

    fn evict(&mut self) {
        let (full, position) = match self.few.at_or_after(0) {
            Some(position) => (false, position),
            None => (
                true,
                self.full.at_or_after(0).expect("a full cache has a victim"),
            ),
        };
        self.set(full).remove(position);
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
        let hit = self.resident[id as usize];
        if hit {
            let (full, position) = self.key(id);
            self.set(full).remove(position);
        } else {
            if self.free > 0 {
                self.free -= 1;
            } else {
                self.evict();
            }
            self.resident[id as usize] = true;
        }
        let history = &mut self.history[id as usize * self.k..][..self.k];
        history.copy_within(..self.k - 1, 1);
        history[0] = at as u32 + 1;
        let (full, position) = self.key(id);
        self.set(full).insert(position);
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.resident, id as usize);
        prefetch(&self.history, id as usize * self.k);
    }

    fn bytes(&self) -> usize {
        self.resident.len() + self.history.len() * 4 + self.few.bytes() + self.full.bytes()
    }
}
