//! W-TinyLFU: a small LRU window before a segmented LRU (probation and protected). An object that leaves
//! the window is admitted if a sketch of access counts has more accesses for it than for the victim of
//! probation.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::linked_lists::LinkedLists;
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "w-tinylfu",
    paper: "G. Einziger, R. Friedman, B. Manes, TinyLFU: A Highly Efficient Cache Admission Policy, ACM Transactions on Storage 13(4), 2017",
    parameters: &[
        Parameter {
            name: "window",
            default: "0.01",
            help: "share of the size that the window holds, 0 to 1; at least one object",
        },
        Parameter {
            name: "protected",
            default: "0.8",
            help: "share of the rest that the protected segment holds, 0 to 1",
        },
        Parameter {
            name: "sample",
            default: "10",
            help: "accesses after which counts are halved, in sizes of the cache",
        },
    ],
    build: |setup| {
        Ok(Box::new(WTinyLfu::new(
            setup,
            setup.value_in("window", 0.0..=1.0)?,
            setup.value_in("protected", 0.0..=1.0)?,
            setup.value_in("sample", 1..=1_000_000)?,
        )))
    },
};

const ABSENT: u8 = 0;
const WINDOW: u8 = 1;
const PROBATION: u8 = 2;
const PROTECTED: u8 = 3;

/// Counts up to 15 in four rows; an object's count is the least of its four.
pub struct Sketch {
    rows: Vec<[u8; 4]>,
    mask: usize,
    added: u64,
    sample: u64,
}

impl Sketch {
    /// For a cache of `size`; counts are halved after `sample` additions.
    pub fn new(size: u32, sample: u64) -> Sketch {
        let width = (size as usize).next_power_of_two().max(64);
        Sketch {
            rows: zeroed(width),
            mask: width - 1,
            added: 0,
            sample,
        }
    }

    #[inline(always)]
    fn places(&self, id: u32) -> [usize; 4] {
        let hash = (u64::from(id) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let (low, high) = (hash as usize, (hash >> 32) as usize | 1);
        // Written out, since closures are not always inlined.
        let second = low.wrapping_add(high);
        let third = second.wrapping_add(high);
        let fourth = third.wrapping_add(high);
        [
            low & self.mask,
            second & self.mask,
            third & self.mask,
            fourth & self.mask,
        ]
    }

    /// Counts an access.
    #[inline(always)]
    pub fn add(&mut self, id: u32) {
        for (row, place) in self.places(id).into_iter().enumerate() {
            let count = &mut self.rows[place][row];
            *count += u8::from(*count < 15);
        }
        self.added += 1;
        if self.added == self.sample {
            self.added /= 2;
            for row in &mut self.rows {
                // All four counters at once: the lowest bit of one must not shift into the next.
                *row = (u32::from_le_bytes(*row) >> 1 & 0x7F7F_7F7F).to_le_bytes();
            }
        }
    }

    /// Prefetches the memory of an object's counts.
    #[inline(always)]
    fn prefetch(&self, id: u32) {
        for place in self.places(id) {
            prefetch(&self.rows, place);
        }
    }

    /// The approximate number of recent accesses.
    #[inline(always)]
    pub fn count(&self, id: u32) -> u8 {
        let [first, second, third, fourth] = self.places(id);
        let (one, two) = (self.rows[first][0], self.rows[second][1]);
        let (three, four) = (self.rows[third][2], self.rows[fourth][3]);
        one.min(two).min(three.min(four))
    }
}

struct WTinyLfu {
    window_most: u32,
    main_most: u32,
    protected_most: u32,
    state: Vec<u8>,
    lists: LinkedLists,
    held: [u32; 4],
    sketch: Sketch,
}

impl WTinyLfu {
    fn new(setup: &Setup, window: f64, protected: f64, sample: u64) -> WTinyLfu {
        let size = f64::from(setup.size);
        let window_most = ((size * window) as u32).max(1);
        let main_most = setup.size - window_most;
        WTinyLfu {
            window_most,
            main_most,
            protected_most: (f64::from(main_most) * protected) as u32,
            state: zeroed(setup.input.objects() as usize),
            lists: LinkedLists::new(setup.input.objects(), 4),
            held: [0; 4],
            sketch: Sketch::new(setup.size, sample * u64::from(setup.size)),
        }
    }

    #[inline(always)]
    fn put(&mut self, id: u32, list: u8) {
        self.state[id as usize] = list;
        self.lists.add(usize::from(list), id);
        self.held[usize::from(list)] += 1;
    }

    #[inline(always)]
    fn take(&mut self, id: u32) {
        let list = std::mem::replace(&mut self.state[id as usize], ABSENT);
        self.lists.del(id);
        self.held[usize::from(list)] -= 1;
    }

    /// The oldest object of a list. Prefetches the memory of the object after it.
    #[inline(always)]
    fn tail(&self, list: u8) -> Option<u32> {
        let oldest = self.lists.tail(usize::from(list))?;
        let next = self.lists.younger(oldest);
        prefetch(&self.state, next as usize);
        self.sketch.prefetch(next);
        Some(oldest)
    }

    #[inline(always)]
    fn hit(&mut self, id: u32, list: u8) {
        if list != PROBATION {
            self.lists.del(id);
            return self.lists.add(usize::from(list), id);
        }
        self.take(id);
        self.put(id, PROTECTED);
        if self.held[usize::from(PROTECTED)] > self.protected_most {
            if let Some(oldest) = self.tail(PROTECTED) {
                self.take(oldest);
                self.put(oldest, PROBATION);
            }
        }
    }

    fn miss(&mut self, id: u32) {
        self.put(id, WINDOW);
        if self.held[usize::from(WINDOW)] <= self.window_most {
            return;
        }
        let Some(candidate) = self.tail(WINDOW) else {
            return;
        };
        self.take(candidate);
        let main = self.held[usize::from(PROBATION)] + self.held[usize::from(PROTECTED)];
        if main < self.main_most {
            return self.put(candidate, PROBATION);
        }
        if let Some(victim) = self.tail(PROBATION).or_else(|| self.tail(PROTECTED)) {
            if self.sketch.count(candidate) > self.sketch.count(victim) {
                self.take(victim);
                self.put(candidate, PROBATION);
            }
        }
    }
}

impl Policy for WTinyLfu {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        self.sketch.add(id);
        let list = self.state[id as usize];
        if list == ABSENT {
            self.miss(id);
            return false;
        }
        self.hit(id, list);
        true
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        self.lists.prefetch(id);
        self.sketch.prefetch(id);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.lists.prefetch_neighbours(id);
    }

    fn bytes(&self) -> usize {
        self.state.len() + self.lists.bytes() + self.sketch.rows.len() * 4
    }
}
