//! Objects by how often they were accessed, and of equals by how long ago: a ring for each count, and
//! one for all that have been accessed very often.
use crate::lists::Lists;

/// Counts from here on share a ring, which is searched in the rare case that nothing else is left.
const MANY: u32 = 4096;

const WORDS: usize = MANY as usize / 64 + 1;

/// Rings of objects by count. Their owner keeps the counts themselves.
pub struct ByCount {
    /// Rings by count, then the owner's own.
    lists: Lists,
    /// A bit for each count whose ring has objects. The least is nearly always in the first word, and
    /// a summary above would be a branch that a popular object, alone in its ring, takes at random.
    some: [u64; WORDS],
}

impl ByCount {
    /// For objects below `objects`, with so many more lists that the owner may use as it likes: an
    /// object is on one list or in one ring at most.
    pub fn new(objects: u32, more: usize) -> ByCount {
        ByCount {
            lists: Lists::new(objects, MANY as usize + 1 + more),
            some: [0; WORDS],
        }
    }

    /// One of the owner's own lists.
    pub fn own(&self, list: usize) -> usize {
        MANY as usize + 1 + list
    }

    /// All lists, for the owner's own.
    pub fn lists(&mut self) -> &mut Lists {
        &mut self.lists
    }

    /// Puts in what was accessed just now for the `count`th time.
    #[inline(always)]
    pub fn insert(&mut self, id: u32, count: u32) {
        let ring = count.min(MANY) as usize;
        self.lists.add(ring, id);
        self.some[ring / 64] |= 1 << (ring % 64);
    }

    /// Takes out what was put in with that count.
    #[inline(always)]
    pub fn remove(&mut self, id: u32, count: u32) {
        let ring = count.min(MANY) as usize;
        self.lists.del(id);
        let empty = u64::from(self.lists.is_empty(ring));
        self.some[ring / 64] &= !(empty << (ring % 64));
    }

    /// What has the least count, and of those was not accessed for longest.
    #[inline]
    pub fn least(&self, count: impl Fn(u32) -> u32) -> Option<u32> {
        let word = self.some.iter().position(|&word| word != 0)?;
        let ring = word * 64 + self.some[word].trailing_zeros() as usize;
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

    /// Asks for the memory of an object's links.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        self.lists.prefetch(id);
    }

    /// Asks for its neighbours', once its own are there.
    #[inline(always)]
    pub fn prefetch_neighbours(&self, id: u32) {
        self.lists.prefetch_neighbours(id);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.lists.bytes() + WORDS * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_is_the_fewest_accesses_then_the_oldest() {
        // Counts on both sides of the ring that is shared.
        let mut counts = [3, 2, MANY + 9, MANY + 5, MANY + 5, 2];
        let mut by_count = ByCount::new(6, 1);
        for (id, &count) in counts.iter().enumerate() {
            by_count.insert(id as u32, count);
        }
        for expected in [1, 5, 0, 3, 4, 2] {
            let id = by_count.least(|id| counts[id as usize]).unwrap();
            assert_eq!(id, expected);
            by_count.remove(id, counts[id as usize]);
            counts[id as usize] = 0;
        }
        assert_eq!(by_count.least(|_| 0), None);
    }
}
