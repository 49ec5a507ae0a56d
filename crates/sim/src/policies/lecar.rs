//! LeCaR: each victim is LRU's or LFU's, drawn by weights; a miss on what one of them evicted lately
//! moves weight to the other.
use crate::huge::{prefetch, zeroed};
use crate::lane::Lane;
use crate::sample::Pcg64;
use crate::{Description, Parameter, Policy, Setup};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::VecDeque;

pub const POLICY: Description = Description {
    name: "lecar",
    paper: "G. Vietri et al., Driving Cache Replacement with ML-based LeCaR, HotStorage 2018",
    parameters: &[
        Parameter {
            name: "learning",
            default: "0.45",
            help: "learning rate",
        },
        Parameter {
            name: "discount",
            default: "0.005",
            help: "what a regret is worth after as many requests as objects fit",
        },
        Parameter {
            name: "seed",
            default: "1",
            help: "seed of the random numbers",
        },
    ],
    build: |setup| {
        Ok(Box::new(LeCar::new(
            setup,
            setup.value_in("learning", 0.0..=10.0)?,
            setup.value_in("discount", 0.0..=1.0)?,
            setup.value("seed")?,
        )))
    },
};

const ABSENT: u8 = 0;
const RESIDENT: u8 = 1;
/// Evicted as LRU's victim, and as LFU's.
const BY_LRU: u8 = 2;
const BY_LFU: u8 = 3;

struct LeCar<'a> {
    ids: &'a [u32],
    size: u32,
    held: u32,
    learning: f64,
    discount: f64,
    /// Of LRU; LFU has the rest.
    weight: f64,
    random: Pcg64,
    state: Vec<u8>,
    /// Accesses, kept while the object is remembered.
    count: Vec<u32>,
    /// Position of the last access, or of the eviction.
    last: Vec<u32>,
    lane: Lane,
    tail: u32,
    /// Count and last access of each resident object as they once were.
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    /// Evicted by each, with the position of the eviction; what came back since is a hole.
    gone: [VecDeque<(u32, u32)>; 2],
    gone_held: [u32; 2],
}

impl<'a> LeCar<'a> {
    fn new(setup: &Setup<'a, '_>, learning: f64, discount: f64, seed: u32) -> LeCar<'a> {
        let objects = setup.input.objects() as usize;
        LeCar {
            ids: setup.input.ids(),
            size: setup.size,
            held: 0,
            learning,
            discount: discount.powf(1.0 / f64::from(setup.size)),
            weight: 0.5,
            random: Pcg64::new(seed),
            state: zeroed(objects),
            count: zeroed(objects),
            last: zeroed(objects),
            lane: Lane::new(setup.input.ids().len()),
            tail: 0,
            heap: BinaryHeap::new(),
            gone: Default::default(),
            gone_held: [0; 2],
        }
    }

    fn lru_victim(&mut self) -> u32 {
        self.tail = self.lane.after(self.tail);
        self.ids[self.tail as usize - 1]
    }

    fn lfu_victim(&mut self) -> u32 {
        loop {
            let Some(mut top) = self.heap.peek_mut() else {
                return self.lru_victim();
            };
            let Reverse((count, last)) = *top;
            let id = self.ids[last as usize - 1];
            let place = id as usize;
            let now = (self.count[place], self.last[place]);
            if self.state[place] != RESIDENT {
                std::collections::binary_heap::PeekMut::pop(top);
            } else if now == (count, last) {
                std::collections::binary_heap::PeekMut::pop(top);
                return id;
            } else {
                *top = Reverse(now);
            }
        }
    }

    fn evict(&mut self, now: u32) {
        let by_lru = self.random.unit() < self.weight;
        let id = if by_lru {
            self.lru_victim()
        } else {
            self.lfu_victim()
        };
        let place = id as usize;
        self.lane.clear(self.last[place]);
        self.held -= 1;
        let list = usize::from(!by_lru);
        self.state[place] = if by_lru { BY_LRU } else { BY_LFU };
        self.last[place] = now;
        self.gone[list].push_back((id, now));
        self.gone_held[list] += 1;
        while self.gone_held[list] > self.size {
            self.forget(list);
        }
        // Holes may not pile up either.
        if self.gone[list].len() > 2 * self.size as usize + 64 {
            let (state, last) = (&self.state, &self.last);
            let by = BY_LRU + list as u8;
            self.gone[list].retain(|&(id, at)| state[id as usize] == by && last[id as usize] == at);
        }
    }

    fn forget(&mut self, list: usize) {
        let Some((id, at)) = self.gone[list].pop_front() else {
            return;
        };
        let place = id as usize;
        if self.state[place] == BY_LRU + list as u8 && self.last[place] == at {
            self.state[place] = ABSENT;
            self.count[place] = 0;
            self.gone_held[list] -= 1;
        }
    }

    /// A miss on what was evicted lately moves weight away from who did it.
    fn regret(&mut self, id: u32, now: u32) {
        let list = usize::from(self.state[id as usize] - BY_LRU);
        self.gone_held[list] -= 1;
        let waited = now - self.last[id as usize];
        let reward = self.discount.powi(waited.min(i32::MAX as u32) as i32);
        let grown = (self.learning * reward).exp();
        let (mut lru, mut lfu) = (self.weight, 1.0 - self.weight);
        match list {
            0 => lfu *= grown,
            _ => lru *= grown,
        }
        self.weight = (lru / (lru + lfu)).clamp(0.01, 0.99);
    }

    fn miss(&mut self, id: u32, now: u32) {
        let place = id as usize;
        match self.state[place] {
            ABSENT => self.count[place] = 0,
            _ => self.regret(id, now),
        }
        self.state[place] = ABSENT;
        if self.held == self.size {
            self.evict(now);
        }
        self.state[place] = RESIDENT;
        self.held += 1;
        self.count[place] += 1;
        self.heap.push(Reverse((self.count[place], now)));
        if self.heap.len() > 4 * self.size as usize + 64 {
            self.tidy(id, now);
        }
    }

    /// One entry for each resident object, as it is now. `id` is about to have `now` as its last.
    fn tidy(&mut self, id: u32, now: u32) {
        self.last[id as usize] = now;
        let mut all: Vec<_> = std::mem::take(&mut self.heap)
            .into_iter()
            .map(|Reverse((_, last))| self.ids[last as usize - 1] as usize)
            .filter(|&place| self.state[place] == RESIDENT)
            .map(|place| Reverse((self.count[place], self.last[place])))
            .collect();
        all.sort_unstable();
        all.dedup();
        self.heap = all.into();
    }
}

impl Policy for LeCar<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let place = id as usize;
        let hit = self.state[place] == RESIDENT;
        if hit {
            self.count[place] += 1;
            self.lane.clear(self.last[place]);
        } else {
            self.miss(id, now);
        }
        self.last[place] = now;
        self.lane.mark(now);
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        prefetch(&self.count, id as usize);
        prefetch(&self.last, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.lane.prefetch(self.last[id as usize]);
    }

    fn bytes(&self) -> usize {
        let gone: usize = self.gone.iter().map(VecDeque::capacity).sum();
        self.state.len() * 9 + self.lane.bytes() + self.heap.capacity() * 8 + gone * 8
    }
}
