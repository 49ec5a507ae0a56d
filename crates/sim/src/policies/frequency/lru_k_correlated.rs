//! LRU-K with a correlated reference period, as in the paper's figure 2.1. Time within a burst of
//! correlated accesses does not count, so the compared times are no positions of the trace.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Policy, Setup};
use std::collections::BTreeSet;

pub(super) struct Correlated {
    k: usize,
    crp: u32,
    retain: bool,
    size: usize,
    /// HIST(p, 1) to HIST(p, K), in requests from 1; 0 is none.
    history: Vec<u32>,
    last: Vec<u32>,
    /// HIST(p, K), then LAST(p): of equals the least recently used goes.
    resident: BTreeSet<(u32, u32, u32)>,
}

impl Correlated {
    pub(super) fn new(setup: &Setup, k: usize, crp: u32, retain: bool) -> Correlated {
        let objects = setup.input.objects() as usize;
        Correlated {
            k,
            crp,
            retain,
            size: setup.size as usize,
            history: zeroed(objects * k),
            last: zeroed(objects),
            resident: BTreeSet::new(),
        }
    }

    fn key(&self, id: u32) -> (u32, u32, u32) {
        let oldest = self.history[(id as usize + 1) * self.k - 1];
        (oldest, self.last[id as usize], id)
    }

    fn evict(&mut self, now: u32) {
        let eligible = |key: &&(u32, u32, u32)| now - key.1 > self.crp;
        // Where all objects are within a burst, one of them must go nevertheless.
        let victim = *self
            .resident
            .iter()
            .find(eligible)
            .or(self.resident.first())
            .expect("a full cache has a victim");
        self.resident.remove(&victim);
        if !self.retain {
            let id = victim.2 as usize;
            self.history[id * self.k..][..self.k].fill(0);
            self.last[id] = 0;
        }
    }
}

impl Policy for Correlated {
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let hit = self.resident.remove(&self.key(id));
        if !hit && self.resident.len() == self.size {
            self.evict(now);
        }
        let place = id as usize;
        let last = self.last[place];
        let history = &mut self.history[place * self.k..][..self.k];
        if !hit {
            history.copy_within(..self.k - 1, 1);
            history[0] = now;
        } else if now - last > self.crp {
            let burst = last - history[0];
            for i in (1..self.k).rev() {
                // A time of 0 stands for no access, and does not move.
                history[i] = match history[i - 1] {
                    0 => 0,
                    before => before + burst,
                };
            }
            history[0] = now;
        }
        self.last[place] = now;
        self.resident.insert(self.key(id));
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.last, id as usize);
        prefetch(&self.history, id as usize * self.k);
    }

    fn bytes(&self) -> usize {
        // A B-tree's node holds 6 to 11 entries of 12 bytes.
        (self.history.len() + self.last.len()) * 4 + self.resident.len() * 20
    }
}
