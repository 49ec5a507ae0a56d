//! LFU: evicts the object with the fewest accesses since it came in. Of equals, it evicts the object
//! whose last access is longest ago.
use crate::structures::frequency_lists::FrequencyLists;
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lfu",
    paper: "Least frequently used, in cache: the object with the fewest accesses since it was brought in goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Lfu::new(setup))),
};

struct Lfu {
    free: u32,
    /// By object: accesses since the object came in; 0: not resident.
    counts: Vec<u32>,
    by_count: FrequencyLists,
}

impl Lfu {
    fn new(setup: &Setup) -> Lfu {
        Lfu {
            free: setup.size,
            counts: zeroed(setup.input.objects() as usize),
            by_count: FrequencyLists::new(setup.input.objects(), 0),
        }
    }

    fn evict(&mut self) {
        let counts = &mut self.counts;
        if let Some(id) = self.by_count.least(|id| counts[id as usize]) {
            let count = std::mem::take(&mut counts[id as usize]);
            self.by_count.remove(id, count);
        }
    }
}

impl Policy for Lfu {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let count = self.counts[id as usize];
        if count > 0 {
            self.by_count.remove(id, count);
        } else if self.free > 0 {
            self.free -= 1;
        } else {
            self.evict();
        }
        self.counts[id as usize] = count + 1;
        self.by_count.insert(id, count + 1);
        count > 0
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.counts, id as usize);
        self.by_count.prefetch(id);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.by_count.prefetch_neighbours(id);
    }

    fn bytes(&self) -> usize {
        self.counts.len() * 4 + self.by_count.bytes()
    }
}
