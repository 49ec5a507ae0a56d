//! LeCaR: each victim is LRU's or LFU's, drawn by weights; a miss on what one of them evicted lately
//! moves weight to the other.
use crate::by_count::ByCount;
use crate::huge::{prefetch, zeroed};
use crate::lane::Lane;
use crate::sample::Pcg64;
use crate::{Description, Parameter, Policy, Setup};

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

/// What an object is: above its accesses in [`Entry::what`].
const KIND: u32 = 3 << 30;
const RESIDENT: u32 = 1 << 30;
/// Evicted as LRU's victim, and as LFU's.
const BY_LRU: u32 = 2 << 30;
const BY_LFU: u32 = 3 << 30;

#[derive(Clone, Copy, Default)]
struct Entry {
    /// Its kind, and its accesses while it is remembered; 0 is neither here nor remembered.
    what: u32,
    /// Position of the last access, or of the eviction.
    last: u32,
}

/// Positions of the trace that LRU's victims are asked for ahead, at least.
const ASKED: u32 = 256;

/// Positions of the trace itself that are asked for ahead of those.
const TRACE_AHEAD: usize = 512;

struct LeCar<'a> {
    ids: &'a [u32],
    size: u32,
    held: u32,
    learning: f64,
    /// Logarithm of what a regret loses with each request: one product and one power in place of many.
    log_discount: f64,
    /// Of LRU; LFU has the rest.
    weight: f64,
    random: Pcg64,
    entries: Vec<Entry>,
    lane: Lane,
    tail: u32,
    /// The mark up to which LRU's victims have been asked for.
    asked: u32,
    /// What is resident by count; what each of the two evicted, the latest first.
    rings: ByCount,
    gone_held: [u32; 2],
}

impl<'a> LeCar<'a> {
    fn new(setup: &Setup<'a, '_>, learning: f64, discount: f64, seed: u32) -> LeCar<'a> {
        LeCar {
            ids: setup.input.ids(),
            size: setup.size,
            held: 0,
            learning,
            log_discount: discount.ln() / f64::from(setup.size),
            weight: 0.5,
            random: Pcg64::new(seed),
            entries: zeroed(setup.input.objects() as usize),
            lane: Lane::new(setup.input.ids().len()),
            tail: 0,
            asked: 0,
            rings: ByCount::new(setup.input.objects(), 2),
            gone_held: [0; 2],
        }
    }

    fn lru_victim(&mut self, now: u32) -> u32 {
        self.tail = self.lane.after(self.tail);
        // Mark by mark: most positions are no mark, and a fixed distance would meet few that are.
        for _ in 0..1 + u32::from(self.asked < self.tail + ASKED) {
            let from = self.asked.max(self.tail);
            // The request before this one has a mark.
            if from + 1 < now {
                self.asked = self.lane.after(from);
                prefetch(self.ids, self.asked as usize + TRACE_AHEAD);
                let later = self.ids[self.asked as usize - 1];
                prefetch(&self.entries, later as usize);
                self.rings.prefetch(later);
            }
        }
        self.ids[self.tail as usize - 1]
    }

    fn evict(&mut self, now: u32) {
        let by_lru = self.random.unit() < self.weight;
        let entries = &self.entries;
        let fewest = |id: u32| entries[id as usize].what & !KIND;
        let id = match by_lru {
            true => self.lru_victim(now),
            // There is one: the cache is full.
            false => self.rings.least(fewest).unwrap_or_default(),
        };
        if !by_lru {
            // Should LFU choose again.
            let next = self.rings.lists().younger(id);
            prefetch(&self.entries, next as usize);
        }
        let entry = &mut self.entries[id as usize];
        let count = entry.what & !KIND;
        self.rings.remove(id, count);
        self.lane.clear(entry.last);
        self.held -= 1;
        let list = usize::from(!by_lru);
        *entry = Entry {
            what: count | if by_lru { BY_LRU } else { BY_LFU },
            last: now,
        };
        let own = self.rings.own(list);
        self.rings.lists().add(own, id);
        self.gone_held[list] += 1;
        if self.gone_held[list] > self.size {
            self.forget(list);
        }
    }

    /// The oldest of those that one of the two evicted.
    fn forget(&mut self, list: usize) {
        let own = self.rings.own(list);
        if let Some(id) = self.rings.lists().tail(own) {
            let next = self.rings.lists().younger(id);
            prefetch(&self.entries, next as usize);
            self.rings.lists().del(id);
            self.entries[id as usize].what = 0;
            self.gone_held[list] -= 1;
        }
    }

    /// A miss on what was evicted lately moves weight away from who did it.
    fn regret(&mut self, id: u32, entry: Entry, now: u32) {
        let list = usize::from(entry.what & KIND == BY_LFU);
        self.rings.lists().del(id);
        self.gone_held[list] -= 1;
        let waited = now - entry.last;
        let reward = (self.log_discount * f64::from(waited)).exp();
        let grown = (self.learning * reward).exp();
        let (mut lru, mut lfu) = (self.weight, 1.0 - self.weight);
        match list {
            0 => lfu *= grown,
            _ => lru *= grown,
        }
        self.weight = (lru / (lru + lfu)).clamp(0.01, 0.99);
    }
}

impl Policy for LeCar<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let entry = self.entries[id as usize];
        let count = entry.what & !KIND;
        let hit = entry.what & KIND == RESIDENT;
        if hit {
            self.rings.remove(id, count);
            self.lane.clear(entry.last);
        } else {
            if entry.what != 0 {
                self.regret(id, entry, now);
            }
            if self.held == self.size {
                self.evict(now);
            }
            self.held += 1;
        }
        // 2^30 accesses are told apart from fewer.
        let count = (count + 1).min(!KIND);
        self.entries[id as usize] = Entry {
            what: RESIDENT | count,
            last: now,
        };
        self.rings.insert(id, count);
        self.lane.mark(now);
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.entries, id as usize);
        self.rings.prefetch(id);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.lane.prefetch(self.entries[id as usize].last);
        self.rings.prefetch_neighbours(id);
    }

    fn bytes(&self) -> usize {
        self.entries.len() * 8 + self.lane.bytes() + self.rings.bytes()
    }
}
