//! A set of numbers that finds the nearest member above or below: a bitmap with levels of summaries,
//! 64 bits to one.

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub struct BitSet {
    /// `levels[0]` has a bit for each number. Each next level has a bit for each word of the level below.
    levels: Vec<Vec<u64>>,
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: usize) -> BitSet {
        let mut levels = Vec::new();
        let mut words = bound.div_ceil(64).max(1);
        loop {
            levels.push(crate::structures::huge_pages::zeroed::<u64>(words));
            if words == 1 {
                return BitSet { levels };
            }
            words = words.div_ceil(64);
        }
    }

    /// Is `number` a member?
    #[inline(always)]
    pub fn has(&self, number: usize) -> bool {
        self.levels[0][number / 64] >> (number % 64) & 1 != 0
    }

    /// Prefetches the memory of `number`.
    #[inline(always)]
    pub fn prefetch(&self, number: usize) {
        crate::structures::huge_pages::prefetch(&self.levels[0], number / 64);
    }

    /// Adds `number`.
    #[inline(always)]
    pub fn insert(&mut self, number: usize) {
        let mut index = number;
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            let before = *word;
            *word |= 1 << (index % 64);
            // The levels above already know a word that had members.
            if before != 0 {
                return;
            }
            index /= 64;
        }
    }

    /// Takes `number` out.
    #[inline(always)]
    pub fn remove(&mut self, number: usize) {
        let mut index = number;
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            *word &= !(1 << (index % 64));
            if *word != 0 {
                return;
            }
            index /= 64;
        }
    }

    /// The least member that is at least `from`.
    #[inline]
    pub fn at_or_after(&self, from: usize) -> Option<usize> {
        let mut index = from;
        let mut level = 0;
        // Up until a word has a member at or after, then down along the lowest bits.
        loop {
            let word = *self.levels[level].get(index / 64)?;
            let rest = word & (!0 << (index % 64));
            if rest != 0 {
                index = index / 64 * 64 + rest.trailing_zeros() as usize;
                break;
            }
            index = index / 64 + 1;
            level += 1;
            if level == self.levels.len() {
                return None;
            }
        }
        while level > 0 {
            level -= 1;
            index = index * 64 + self.levels[level][index].trailing_zeros() as usize;
        }
        Some(index)
    }

    /// The greatest member that is at most `from`.
    #[inline]
    pub fn at_or_before(&self, from: usize) -> Option<usize> {
        let mut index = from;
        let mut level = 0;
        loop {
            let word = *self.levels[level].get(index / 64)?;
            let rest = word & (!0 >> (63 - index % 64));
            if rest != 0 {
                index = index / 64 * 64 + 63 - rest.leading_zeros() as usize;
                break;
            }
            index = (index / 64).checked_sub(1)?;
            level += 1;
            if level == self.levels.len() {
                return None;
            }
        }
        while level > 0 {
            level -= 1;
            index = index * 64 + 63 - self.levels[level][index].leading_zeros() as usize;
        }
        Some(index)
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.len() * 8).sum()
    }
}
