//! Stack distances (R. Mattson et al., "Evaluation techniques for storage hierarchies", 1970), counted in
//! a tree over a bitmap (B. Bennett and V. Kruskal, "LRU stack processing", 1975).

/// Positions under one leaf of the tree.
const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;

/// Stack distances of a trace. Each object's latest request takes the next position. A distance is the
/// number of taken positions behind the object's own.
#[derive(Clone, Debug)]
pub struct StackDistance {
    /// One above the position of each object; 0 where it has none.
    position: Vec<u32>,
    object_at: Vec<u32>,
    taken: Vec<u64>,
    /// A Fenwick tree over the counts of the blocks. Its first element is unused.
    tree: Vec<u32>,
    next: usize,
    live: u32,
}

impl StackDistance {
    /// For ids below `objects`. Memory: 13 bytes an object.
    pub fn new(objects: u32) -> StackDistance {
        // Twice as many positions as can be taken, so that moving them together costs little on
        // average. Positions must fit 32 bits. With nearly that many objects, moves are frequent.
        let most = u32::MAX as usize / BLOCK * BLOCK;
        let positions = (2 * objects as usize)
            .next_multiple_of(BLOCK)
            .max(BLOCK)
            .min(most);
        StackDistance {
            position: vec![0; objects as usize],
            object_at: vec![0; positions],
            taken: vec![0; positions / 64],
            tree: vec![0; positions / BLOCK + 1],
            next: 0,
            live: 0,
        }
    }

    /// Distinct objects since the last request for `id`, itself included. None the first time.
    pub fn access(&mut self, id: u32) -> Option<u32> {
        if self.next == self.object_at.len() {
            self.move_together();
        }
        let before = self.position[id as usize];
        let distance = (before > 0).then(|| {
            let at = before as usize - 1;
            let distance = self.live - self.taken_up_to(at) + 1;
            self.taken[at / 64] &= !(1 << (at % 64));
            self.change(at / BLOCK, u32::MAX);
            distance
        });
        self.live += u32::from(distance.is_none());
        self.taken[self.next / 64] |= 1 << (self.next % 64);
        self.change(self.next / BLOCK, 1);
        self.object_at[self.next] = id;
        self.next += 1;
        self.position[id as usize] = self.next as u32;
        distance
    }

    /// The number of taken positions from 0 to `at`.
    fn taken_up_to(&self, at: usize) -> u32 {
        let mut sum = 0;
        let mut node = at / BLOCK;
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        let words = &self.taken[at / BLOCK * WORDS..=at / 64];
        let full = words[..words.len() - 1].iter().map(|w| w.count_ones());
        let last = words[words.len() - 1] & (u64::MAX >> (63 - at % 64));
        sum + full.sum::<u32>() + last.count_ones()
    }

    /// Adds to a block's count; `u32::MAX` takes one away.
    fn change(&mut self, block: usize, by: u32) {
        let mut node = block + 1;
        while node < self.tree.len() {
            self.tree[node] = self.tree[node].wrapping_add(by);
            node += node & node.wrapping_neg();
        }
    }

    /// Gives the live objects the first positions, in the same order.
    fn move_together(&mut self) {
        let mut to = 0;
        for at in 0..self.next {
            if self.taken[at / 64] >> (at % 64) & 1 == 1 {
                let id = self.object_at[at];
                self.object_at[to] = id;
                to += 1;
                self.position[id as usize] = to as u32;
            }
        }
        self.taken.fill(0);
        self.tree.fill(0);
        for at in 0..to {
            self.taken[at / 64] |= 1 << (at % 64);
        }
        for block in 0..to.div_ceil(BLOCK) {
            self.change(block, (to - block * BLOCK).min(BLOCK) as u32);
        }
        self.next = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_same_as_a_list_in_order_of_recency(ids in proptest::collection::vec(0u32..90, 0..4000)) {
            let mut stack = StackDistance::new(90);
            let mut recent: Vec<u32> = Vec::new();
            for id in ids {
                let place = recent.iter().position(|&r| r == id);
                prop_assert_eq!(stack.access(id), place.map(|p| p as u32 + 1));
                place.map(|p| recent.remove(p));
                recent.insert(0, id);
            }
        }
    }

    #[test]
    fn the_distance_in_a_loop_is_its_length() {
        let mut stack = StackDistance::new(5000);
        for at in 0..30_000 {
            let distance = stack.access(at % 5000);
            assert_eq!(distance, (at >= 5000).then_some(5000));
        }
    }
}
