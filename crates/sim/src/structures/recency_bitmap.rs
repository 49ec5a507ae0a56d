//! Lists in order of access without links, because the trace itself is such a list.
//!
//! A bitmap marks the positions of the trace, from 1, at which an object of the list was last accessed.
//! Taking an object out of the list clears a mark; moving it to the young end moves a mark.
use crate::structures::huge_pages::{prefetch, zeroed};

/// A list of objects as marks on positions of the trace.
#[derive(Clone, Debug)]
pub struct RecencyBitmap {
    marks: Vec<u64>,
}

impl RecencyBitmap {
    /// The empty list, for a trace of `requests` requests.
    pub fn new(requests: usize) -> RecencyBitmap {
        // Position 0 is never used, and one word more lets a search end.
        RecencyBitmap {
            marks: zeroed(requests / 64 + 2),
        }
    }

    /// Puts the object accessed at `position` in the list, at that position.
    #[inline(always)]
    pub fn mark(&mut self, position: u32) {
        self.marks[position as usize / 64] |= 1 << (position % 64);
    }

    /// Takes the object at `position` out of the list.
    #[inline(always)]
    pub fn clear(&mut self, position: u32) {
        self.marks[position as usize / 64] &= !(1 << (position % 64));
    }

    /// [`RecencyBitmap::mark`] if `really`, else nothing, without a branch.
    #[inline(always)]
    pub fn mark_if(&mut self, position: u32, really: bool) {
        self.marks[position as usize / 64] |= u64::from(really) << (position % 64);
    }

    /// Is the object accessed at `position` in the list, at that position?
    #[inline(always)]
    pub fn has(&self, position: u32) -> bool {
        self.marks[position as usize / 64] >> (position % 64) & 1 != 0
    }

    /// Prefetches the memory of a position.
    #[inline(always)]
    pub fn prefetch(&self, position: u32) {
        prefetch(&self.marks, position as usize / 64);
    }

    /// The first mark after `position`. There must be one.
    #[inline(always)]
    pub fn after(&self, position: u32) -> u32 {
        let from = position as usize + 1;
        let mut index = from / 64;
        let mut word = self.marks[index] & (!0 << (from % 64));
        while word == 0 {
            index += 1;
            word = self.marks[index];
        }
        index as u32 * 64 + word.trailing_zeros()
    }

    /// The number of positions, position 0 included.
    pub fn room(&self) -> u32 {
        (self.marks.len() as u32 - 1) * 64
    }

    /// Renumbers the marks after `tail` from 1 on and drops the others. `positions` is renumbered
    /// alike: positions without a mark become 0. Returns the number of marks.
    #[cold]
    pub fn close_up(&mut self, tail: u32, positions: &mut [u32]) -> u32 {
        let (first, below) = (tail as usize / 64, tail % 64);
        self.marks[..first].fill(0);
        self.marks[first] &= !1 << below;
        let mut live = 0;
        let before: Vec<u32> = self
            .marks
            .iter()
            .map(|word| {
                live += word.count_ones();
                live - word.count_ones()
            })
            .collect();
        for position in positions {
            let (word, bit) = (*position as usize / 64, *position % 64);
            *position = match *position > tail {
                true => before[word] + (self.marks[word] & (!0 >> (63 - bit))).count_ones(),
                false => 0,
            };
        }
        self.marks.fill(0);
        for position in 1..=live {
            self.mark(position);
        }
        live
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.marks.len() * 8
    }
}
