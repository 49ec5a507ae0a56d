//! Objects by their number of accesses, and among equals by the time of the last access.
//!
//! Each count has a list, and all large counts share one.
use crate::structures::linked_lists::LinkedLists;

/// Counts from this one on share a list. It is searched when no other list has an object, which is rare.
const MANY: u32 = 4096;

const WORDS: usize = MANY as usize / 64 + 1;

/// Lists of objects by count. Their owner keeps the counts themselves.
pub struct FrequencyLists {
    /// Lists by count, then the owner's own lists.
    lists: LinkedLists,
    /// A bit for each count whose list has objects. The least count is nearly always in the first word.
    /// A summary above would be a branch that a popular object, alone in its list, takes at random.
    some: [u64; WORDS],
}

impl FrequencyLists {
    /// Empty lists for objects below `objects`, with `more` lists for the owner's own use. An object is
    /// on one list at most.
    pub fn new(objects: u32, more: usize) -> FrequencyLists {
        FrequencyLists {
            lists: LinkedLists::new(objects, MANY as usize + 1 + more),
            some: [0; WORDS],
        }
    }

    /// The number, in [`FrequencyLists::lists`], of one of the owner's own lists.
    pub fn own(&self, list: usize) -> usize {
        MANY as usize + 1 + list
    }

    /// All lists. The owner changes only its own.
    pub fn lists(&mut self) -> &mut LinkedLists {
        &mut self.lists
    }

    /// Adds an object that was accessed just now for the `count`th time.
    #[inline(always)]
    pub fn insert(&mut self, id: u32, count: u32) {
        let ring = count.min(MANY) as usize;
        self.lists.add(ring, id);
        self.some[ring / 64] |= 1 << (ring % 64);
    }

    /// Removes an object that was added with `count`.
    #[inline(always)]
    pub fn remove(&mut self, id: u32, count: u32) {
        let ring = count.min(MANY) as usize;
        self.lists.del(id);
        let empty = u64::from(self.lists.is_empty(ring));
        self.some[ring / 64] &= !(empty << (ring % 64));
    }

    /// The list of the least count.
    #[inline]
    fn least_ring(&self) -> Option<usize> {
        let word = self.some.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.some[word].trailing_zeros() as usize)
    }

    /// The object with the least count, and of those the one that was not accessed for longest.
    #[inline]
    pub fn least(&self, count: impl Fn(u32) -> u32) -> Option<u32> {
        let ring = self.least_ring()?;
        let oldest = self.lists.tail(ring)?;
        if ring < MANY as usize {
            return Some(oldest);
        }
        let mut least = oldest;
        let mut here = oldest;
        while here != self.lists.ring(ring) {
            if count(here) < count(least) {
                least = here;
            }
            here = self.lists.younger(here);
        }
        Some(least)
    }

    /// The object with the least count, and of those the one that was accessed last.
    #[inline]
    pub fn least_youngest(&self, count: impl Fn(u32) -> u32) -> Option<u32> {
        let ring = self.least_ring()?;
        let youngest = self.lists.older(self.lists.ring(ring));
        if ring < MANY as usize {
            return Some(youngest);
        }
        let mut least = youngest;
        let mut here = youngest;
        while here != self.lists.ring(ring) {
            if count(here) < count(least) {
                least = here;
            }
            here = self.lists.older(here);
        }
        Some(least)
    }

    /// Prefetches the links of an object.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        self.lists.prefetch(id);
    }

    /// Prefetches the links of an object's neighbours. Its own links should be cached by now.
    #[inline(always)]
    pub fn prefetch_neighbours(&self, id: u32) {
        self.lists.prefetch_neighbours(id);
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.lists.bytes() + WORDS * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts on both sides of the first count that shares a list.
    const COUNTS: [u32; 6] = [3, 2, MANY + 9, MANY + 5, MANY + 5, 2];

    fn takes(order: [u32; 6], least: impl Fn(&FrequencyLists) -> Option<u32>) {
        let mut by_count = FrequencyLists::new(6, 1);
        for (id, &count) in COUNTS.iter().enumerate() {
            by_count.insert(id as u32, count);
        }
        for expected in order {
            let id = least(&by_count).unwrap();
            assert_eq!(id, expected);
            by_count.remove(id, COUNTS[id as usize]);
        }
        assert_eq!(least(&by_count), None);
    }

    #[test]
    fn least_is_the_fewest_accesses_then_the_oldest() {
        let count = |id: u32| COUNTS[id as usize];
        takes([1, 5, 0, 3, 4, 2], |lists| lists.least(count));
    }

    #[test]
    fn least_youngest_is_the_fewest_accesses_then_the_youngest() {
        let count = |id: u32| COUNTS[id as usize];
        takes([5, 1, 0, 4, 3, 2], |lists| lists.least_youngest(count));
    }
}
