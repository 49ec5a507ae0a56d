//! Dense ids for objects of any number, in order of first appearance.
use crate::{advise_huge, prefetch};
use std::hash::{BuildHasher, Hasher};

/// Keys are prefetched a block ahead of their use: enough to hide an access to memory, and few enough
/// to stay in the first-level cache.
const BLOCK: usize = 32;

/// Slots of the smallest table.
const SMALLEST: usize = 1 << 10;

/// A slot of the open-addressing table; `id` is one above the dense id, 0 an empty slot.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    id: u32,
}

/// Gives each key the number of distinct keys before it.
///
/// Keys below a limit index an array; the others go to a table with linear probing at a load of at
/// most three quarters. Both are prefetched ahead of their use.
pub struct Renumber {
    /// One above the dense id of each small key, 0 where none.
    direct: Vec<u32>,
    /// Keys below this are small; `direct` grows up to it.
    limit: u64,
    table: Vec<Slot>,
    /// Slots in use.
    used: usize,
    shift: u32,
    /// A secret key of the hash, so that no file can be made whose keys collide.
    secret: u64,
    next: u32,
}

/// Whether there is memory for so many ids.
fn has_room(ids: u64) -> bool {
    let mut room = Vec::<u32>::new();
    let reserved = room.try_reserve_exact(ids as usize);
    // A compiler may leave out an allocation that nobody looks at, and take it for done.
    std::hint::black_box(&mut room);
    reserved.is_ok()
}

impl Renumber {
    /// `requests` is the number of keys to come, exact or guessed. Keys below it get an array of 4 bytes each,
    /// as far as there is memory.
    pub fn new(requests: u64) -> Renumber {
        let mut limit = requests.clamp(1 << 12, 1 << 30);
        // An array without the memory would be an abort, and the table takes the keys as well.
        while limit > 1 << 12 && !has_room(limit) {
            limit /= 2;
        }
        // The kernel zeroes pages when they are touched, so large keys alone cost no memory here.
        let mut direct = vec![0; limit as usize];
        advise_huge(&mut direct);
        Renumber {
            direct,
            limit,
            table: vec![Slot::default(); SMALLEST],
            used: 0,
            shift: 64 - SMALLEST.trailing_zeros(),
            secret: std::hash::RandomState::new().build_hasher().finish() | 1,
            next: 0,
        }
    }

    /// The number of distinct keys so far.
    pub fn objects(&self) -> u32 {
        self.next
    }

    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        // The folded product carries every bit of the key into the upper ones.
        let wide = u128::from(key ^ self.secret) * 0x9e37_79b9_7f4a_7c15;
        ((wide >> 64) as u64 ^ wide as u64).wrapping_mul(self.secret)
    }

    /// Appends the dense id of each key to `to`.
    ///
    /// # Errors
    /// There are more than `u32::MAX - 1` distinct keys. The error is the number of `keys` that were taken.
    pub fn extend(&mut self, keys: &[u64], to: &mut Vec<u32>) -> Result<(), usize> {
        to.reserve(keys.len());
        let mut hashes = [[0u64; BLOCK]; 2];
        let mut blocks = keys.chunks(BLOCK).enumerate().peekable();
        if let Some((_, first)) = blocks.peek() {
            self.prefetch_block(first, &mut hashes[0]);
        }
        while let Some((at, block)) = blocks.next() {
            if let Some((next, ahead)) = blocks.peek() {
                self.prefetch_block(ahead, &mut hashes[next % 2]);
            }
            let hashes = &hashes[at % 2];
            let mut ids = [0u32; BLOCK];
            for ((&key, &hash), id) in block.iter().zip(hashes).zip(&mut ids) {
                *id = match key < self.limit {
                    true => self.small(key),
                    false => self.large(key, hash),
                };
            }
            to.extend_from_slice(&ids[..block.len()]);
            // Ids are given out one by one, so the last one is reached within a block.
            if self.next == u32::MAX {
                return Err(at * BLOCK);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn prefetch_block(&self, keys: &[u64], hashes: &mut [u64; BLOCK]) {
        for (&key, hash) in keys.iter().zip(hashes) {
            match key < self.limit {
                true => prefetch(&self.direct, key as usize),
                false => {
                    *hash = self.hash(key);
                    prefetch(&self.table, (*hash >> self.shift) as usize);
                }
            }
        }
    }

    #[inline(always)]
    fn small(&mut self, key: u64) -> u32 {
        let slot = &mut self.direct[key as usize];
        if *slot == 0 {
            self.next = self.next.saturating_add(1);
            *slot = self.next;
        }
        *slot - 1
    }

    #[inline(always)]
    fn large(&mut self, key: u64, hash: u64) -> u32 {
        let mask = self.table.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &mut self.table[at & mask];
            if slot.key == key && slot.id != 0 {
                return slot.id - 1;
            }
            if slot.id == 0 {
                self.next = self.next.saturating_add(1);
                *slot = Slot { key, id: self.next };
                self.used += 1;
                if self.used > self.table.len() / 4 * 3 {
                    self.grow();
                }
                return self.next - 1;
            }
            at += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![Slot::default(); size];
        advise_huge(&mut table);
        self.shift -= 1;
        for slot in self.table.iter().filter(|slot| slot.id != 0) {
            let mut at = (self.hash(slot.key) >> self.shift) as usize;
            while table[at & (size - 1)].id != 0 {
                at += 1;
            }
            table[at & (size - 1)] = *slot;
        }
        self.table = table;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn obvious(keys: &[u64]) -> Vec<u32> {
        let mut seen = HashMap::new();
        let number = |key| {
            let next = seen.len() as u32;
            *seen.entry(key).or_insert(next)
        };
        keys.iter().map(number).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn ids_are_in_order_of_first_appearance(
            keys in proptest::collection::vec(
                prop_oneof![0u64..50, 4000..4200u64, any::<u64>(), Just(u64::MAX), Just(0)], 0..3000),
            requests in 0u64..10_000,
            split in 0usize..3000,
        ) {
            let mut renumber = Renumber::new(requests);
            let mut ids = Vec::new();
            let (a, b) = keys.split_at(split.min(keys.len()));
            renumber.extend(a, &mut ids).unwrap();
            renumber.extend(b, &mut ids).unwrap();
            let expected = obvious(&keys);
            prop_assert_eq!(&ids, &expected);
            prop_assert_eq!(renumber.objects(), expected.iter().max().map_or(0, |m| m + 1));
        }
    }

    #[test]
    fn a_table_that_grows_forgets_nothing() {
        let keys: Vec<u64> = (0..20_000u64)
            .map(|n| (n % 9_000) << 40 | 1 << 33)
            .collect();
        let (mut renumber, mut ids) = (Renumber::new(0), Vec::new());
        renumber.extend(&keys, &mut ids).unwrap();
        assert_eq!(ids, obvious(&keys));
        assert!(renumber.table.len() >= 9_000 * 4 / 3);
    }

    #[test]
    fn running_out_of_ids_is_an_error() {
        let (mut renumber, mut ids) = (Renumber::new(0), Vec::new());
        renumber.next = u32::MAX - 2;
        assert_eq!(renumber.extend(&[1], &mut ids), Ok(()));
        assert_eq!(renumber.extend(&[1, 2], &mut ids), Err(0));
    }
}
