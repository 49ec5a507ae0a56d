//! The trace as a list in order of access: no links are needed, for the trace is that list. A lane
//! marks the positions (from 1) whose access is the one that counts for its object; taking an object
//! out, or to the young end, moves a mark.
use crate::huge::{prefetch, zeroed};

/// Marks on positions of the trace.
#[derive(Clone, Debug)]
pub struct Lane {
    marks: Vec<u64>,
}

impl Lane {
    /// For a trace of so many requests.
    pub fn new(requests: usize) -> Lane {
        // Position 0 is none, and one word more lets a search end.
        Lane {
            marks: zeroed(requests / 64 + 2),
        }
    }

    /// The object accessed at `position` counts from there.
    #[inline(always)]
    pub fn mark(&mut self, position: u32) {
        self.marks[position as usize / 64] |= 1 << (position % 64);
    }

    /// It no longer does.
    #[inline(always)]
    pub fn clear(&mut self, position: u32) {
        self.marks[position as usize / 64] &= !(1 << (position % 64));
    }

    /// [`Lane::mark`], or nothing, without a branch.
    #[inline(always)]
    pub fn mark_if(&mut self, position: u32, really: bool) {
        self.marks[position as usize / 64] |= u64::from(really) << (position % 64);
    }

    /// Does it count?
    #[inline(always)]
    pub fn has(&self, position: u32) -> bool {
        self.marks[position as usize / 64] >> (position % 64) & 1 != 0
    }

    /// Asks for the memory of a position.
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

    /// Positions that it has, position 0 among them.
    pub fn room(&self) -> u32 {
        (self.marks.len() as u32 - 1) * 64
    }

    /// Renumbers the marks after `tail` from 1 on, in `positions` too, where others become 0. Returns
    /// how many they are.
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

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.marks.len() * 8
    }
}
