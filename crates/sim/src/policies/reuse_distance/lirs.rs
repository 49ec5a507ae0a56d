//! LIRS: objects accessed twice within a short distance (LIR) hold nearly all of the cache. The others
//! (HIR) pass through a small queue Q. Stack S orders objects by last access, and its depth defines a
//! short distance. S also remembers HIR objects that left the cache.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::lazy_queue::LazyQueue;
use crate::structures::recency_bitmap::RecencyBitmap;
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lirs",
    paper: "S. Jiang, X. Zhang, LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy, SIGMETRICS 2002",
    parameters: &[
        Parameter {
            name: "hir",
            default: "0.01",
            help: "share of the size that HIR objects hold, 0 to 1; at least one object",
        },
        Parameter {
            name: "history",
            default: "2",
            help: "non-resident objects that S may remember, in sizes of the cache; 0: no bound",
        },
    ],
    build: |setup| {
        let hir: f64 = setup.value_in("hir", 0.0..=1.0)?;
        let history: f64 = setup.value_in("history", 0.0..=1e6)?;
        Ok(Box::new(Lirs::new(setup, hir, history)))
    },
};

/// The states of an object.
const KIND: u8 = 3;
const ABSENT: u8 = 0;
const LIR: u8 = 1;
/// HIR and resident: in Q.
const HIR: u8 = 2;
/// HIR and not resident: in S only.
const GONE: u8 = 3;
/// Also in S.
const IN_S: u8 = 4;

/// Positions by which objects, and by which the trace itself, are prefetched ahead.
const AHEAD: usize = 64;
const TRACE_AHEAD: usize = AHEAD + 512;

struct Lirs<'a> {
    ids: &'a [u32],
    lir_most: u32,
    hir_most: u32,
    gone_most: u64,
    lirs: u32,
    gone: u64,
    state: Vec<u8>,
    /// By object: position of the last access, which is the order of S.
    stamps: Vec<u32>,
    s: RecencyBitmap,
    /// The bottom of S is the first mark after this position.
    below: u32,
    /// The position of the LIR object at the bottom when S was last pruned; 0 before the first time.
    bottom: u32,
    /// Objects of S that are not resident come after this position.
    gone_below: u32,
    queued: Vec<u32>,
    q: LazyQueue,
}

impl<'a> Lirs<'a> {
    fn new(setup: &Setup<'a, '_>, hir: f64, history: f64) -> Lirs<'a> {
        let objects = setup.input.objects() as usize;
        let hir_most = ((f64::from(setup.size) * hir) as u32).max(1);
        Lirs {
            ids: setup.input.ids(),
            lir_most: setup.size - hir_most,
            hir_most,
            gone_most: match history {
                0.0 => u64::MAX,
                times => (f64::from(setup.size) * times) as u64,
            },
            lirs: 0,
            gone: 0,
            state: zeroed(objects),
            stamps: zeroed(objects),
            s: RecencyBitmap::new(setup.input.ids().len()),
            below: 0,
            bottom: 0,
            gone_below: 0,
            queued: zeroed(objects),
            q: LazyQueue::default(),
        }
    }

    fn enqueue(&mut self, id: u32) {
        let state = &self.state;
        self.q
            .push(id, &mut self.queued, |id| state[id as usize] & KIND == HIR);
    }

    /// Evicts the front of Q. S keeps the object at its place.
    fn evict(&mut self) {
        let state = &self.state;
        let held = |id: u32| state[id as usize] & KIND == HIR;
        if let Some(id) = self.q.pop(&self.queued, held) {
            let state = &mut self.state[id as usize];
            if *state & IN_S != 0 {
                *state = GONE | IN_S;
                self.gone += 1;
            } else {
                *state = ABSENT;
            }
        }
    }

    /// Puts `id` on top of S.
    #[inline(always)]
    fn stack(&mut self, id: u32, now: u32) {
        let before = std::mem::replace(&mut self.stamps[id as usize], now);
        self.s.clear(before);
        self.s.mark(now);
    }

    /// Prefetches ahead of a search that is at `position` of the trace.
    #[inline(always)]
    fn prefetch_ahead(&self, position: u32) {
        prefetch(self.ids, position as usize + TRACE_AHEAD);
        if let Some(&later) = self.ids.get(position as usize + AHEAD) {
            prefetch(&self.state, later as usize);
        }
    }

    /// Takes objects off the bottom of S up to the first LIR object, which stays. Without LIR objects, S is
    /// unchanged.
    #[inline(always)]
    fn prune(&mut self) {
        while self.lirs > 0 {
            let at = self.s.after(self.below);
            self.prefetch_ahead(at);
            let state = &mut self.state[self.ids[at as usize - 1] as usize];
            match *state & KIND {
                LIR => {
                    self.bottom = at;
                    return;
                }
                GONE => {
                    *state = ABSENT;
                    self.gone -= 1;
                }
                _ => *state = HIR,
            }
            self.below = at;
        }
    }

    /// Makes `id` LIR, at the top of S. If there are too many LIR objects, the bottom one goes to Q.
    fn promote(&mut self, id: u32, now: u32) {
        self.stack(id, now);
        self.state[id as usize] = LIR | IN_S;
        self.lirs += 1;
        if self.lirs > self.lir_most {
            self.prune();
            self.below = self.s.after(self.below);
            let bottom = self.ids[self.below as usize - 1];
            self.state[bottom as usize] = HIR;
            self.lirs -= 1;
            self.enqueue(bottom);
            self.prune();
        }
    }

    fn miss(&mut self, id: u32, now: u32) {
        let known = self.state[id as usize] & KIND == GONE;
        if known {
            self.gone -= 1;
            self.state[id as usize] = ABSENT;
        }
        if self.lirs + self.q.len() == self.lir_most + self.hir_most {
            self.evict();
        }
        if known && self.lir_most > 0 || self.lirs < self.lir_most {
            self.promote(id, now);
        } else {
            self.stack(id, now);
            self.state[id as usize] = HIR | IN_S;
            self.enqueue(id);
        }
        while self.gone > self.gone_most {
            // The search passes over resident objects, which are younger than the next one to leave Q.
            self.gone_below = self.s.after(self.gone_below.max(self.below));
            self.prefetch_ahead(self.gone_below);
            let state = &mut self.state[self.ids[self.gone_below as usize - 1] as usize];
            if *state & KIND == GONE {
                self.s.clear(self.gone_below);
                *state = ABSENT;
                self.gone -= 1;
            }
        }
    }
}

impl Policy for Lirs<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let state = self.state[id as usize];
        match state & KIND {
            LIR => {
                // S needs pruning only when its bottom object goes up.
                let before = self.stamps[id as usize];
                self.stack(id, now);
                if before <= self.bottom || self.bottom == 0 {
                    self.prune();
                }
                true
            }
            HIR => {
                self.q.forget();
                if state & IN_S != 0 {
                    self.promote(id, now);
                } else {
                    self.stack(id, now);
                    self.state[id as usize] = HIR | IN_S;
                    // The new stamp makes the object's old entry in Q a hole.
                    self.enqueue(id);
                }
                true
            }
            _ => {
                self.miss(id, now);
                false
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        prefetch(&self.stamps, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.s.prefetch(self.stamps[id as usize]);
    }

    fn bytes(&self) -> usize {
        self.state.len() * 9 + self.s.bytes() + self.q.bytes()
    }
}
