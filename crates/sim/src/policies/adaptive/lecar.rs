//! LeCaR: each victim is LRU's or LFU's, drawn by weights. A miss on an object that one of them evicted
//! lately moves weight to the other.
use crate::structures::frequency_lists::FrequencyLists;
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::recency_bitmap::RecencyBitmap;
use crate::{Description, Parameter, Policy, Setup};
use random::Pcg64;

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
            help: "share of a regret that is left after as many requests as objects fit",
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

/// The kind of an object, in the bits above its accesses in [`Entry::state`].
const KIND: u32 = 3 << 30;
const RESIDENT: u32 = 1 << 30;
/// Evicted as LRU's victim, and as LFU's.
const BY_LRU: u32 = 2 << 30;
const BY_LFU: u32 = 3 << 30;

#[derive(Clone, Copy, Default)]
struct Entry {
    /// The object's kind, and its accesses while it is remembered; 0: neither resident nor remembered.
    state: u32,
    /// Position of the last access, or of the eviction.
    last: u32,
}

/// The least number of positions by which LRU's victims are prefetched ahead.
const ASKED: u32 = 256;

/// The positions by which the trace itself is prefetched ahead of the victims.
const TRACE_AHEAD: usize = 512;

struct LeCar<'a> {
    ids: &'a [u32],
    size: u32,
    held: u32,
    learning: f64,
    /// Logarithm of the share of a regret that is left after one request: one power replaces many products.
    log_discount: f64,
    /// The weight of LRU; LFU has the rest.
    weight: f64,
    random: Pcg64,
    entries: Vec<Entry>,
    recency: RecencyBitmap,
    tail: u32,
    /// The mark up to which LRU's victims are prefetched.
    asked: u32,
    /// Resident objects by count, and the objects that each of the two evicted, the latest first.
    rings: FrequencyLists,
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
            random: Pcg64::new(u64::from(seed)),
            entries: zeroed(setup.input.objects() as usize),
            recency: RecencyBitmap::new(setup.input.ids().len()),
            tail: 0,
            asked: 0,
            rings: FrequencyLists::new(setup.input.objects(), 2),
            gone_held: [0; 2],
        }
    }

    fn lru_victim(&mut self, now: u32) -> u32 {
        self.tail = self.recency.after(self.tail);
        // From mark to mark: most positions have no mark, so a fixed distance would meet few.
        for _ in 0..1 + u32::from(self.asked < self.tail + ASKED) {
            let from = self.asked.max(self.tail);
            // The request before this one has a mark.
            if from + 1 < now {
                self.asked = self.recency.after(from);
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
        let fewest = |id: u32| entries[id as usize].state & !KIND;
        let id = match by_lru {
            true => self.lru_victim(now),
            // The cache is full, so a least object exists.
            false => self.rings.least(fewest).unwrap_or_default(),
        };
        if !by_lru {
            // The next victim, if LFU chooses again.
            let next = self.rings.lists().younger(id);
            prefetch(&self.entries, next as usize);
        }
        let entry = &mut self.entries[id as usize];
        let count = entry.state & !KIND;
        self.rings.remove(id, count);
        self.recency.clear(entry.last);
        self.held -= 1;
        let list = usize::from(!by_lru);
        *entry = Entry {
            state: count | if by_lru { BY_LRU } else { BY_LFU },
            last: now,
        };
        let own = self.rings.own(list);
        self.rings.lists().add(own, id);
        self.gone_held[list] += 1;
        if self.gone_held[list] > self.size {
            self.forget(list);
        }
    }

    /// Forgets the oldest object that one of the two evicted.
    fn forget(&mut self, list: usize) {
        let own = self.rings.own(list);
        if let Some(id) = self.rings.lists().tail(own) {
            let next = self.rings.lists().younger(id);
            prefetch(&self.entries, next as usize);
            self.rings.lists().del(id);
            self.entries[id as usize].state = 0;
            self.gone_held[list] -= 1;
        }
    }

    /// A miss on an object that was evicted lately moves weight away from the policy that evicted it.
    fn regret(&mut self, id: u32, entry: Entry, now: u32) {
        let list = usize::from(entry.state & KIND == BY_LFU);
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
        let count = entry.state & !KIND;
        let hit = entry.state & KIND == RESIDENT;
        if hit {
            self.rings.remove(id, count);
            self.recency.clear(entry.last);
        } else {
            if entry.state != 0 {
                self.regret(id, entry, now);
            }
            if self.held == self.size {
                self.evict(now);
            }
            self.held += 1;
        }
        // The count stops at 2^30 - 1 accesses.
        let count = (count + 1).min(!KIND);
        self.entries[id as usize] = Entry {
            state: RESIDENT | count,
            last: now,
        };
        self.rings.insert(id, count);
        self.recency.mark(now);
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.entries, id as usize);
        self.rings.prefetch(id);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.recency.prefetch(self.entries[id as usize].last);
        self.rings.prefetch_neighbours(id);
    }

    fn bytes(&self) -> usize {
        self.entries.len() * 8 + self.recency.bytes() + self.rings.bytes()
    }
}
