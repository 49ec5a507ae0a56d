//! A first-in-first-out queue from which any entry can be taken.
//!
//! A taken entry stays as a hole until it comes to the front, or until holes are half of the queue.
//! `stamps[id]` is the number of the entry that counts for object `id`.
use std::collections::VecDeque;

/// A queue with holes. Its owner knows the objects in it, and passes that knowledge as `held`.
#[derive(Clone, Debug, Default)]
pub struct LazyQueue {
    entries: VecDeque<u32>,
    /// Number of the first entry.
    first: u32,
    live: u32,
}

impl LazyQueue {
    /// The number of entries that are no holes.
    pub fn len(&self) -> u32 {
        self.live
    }

    /// Is there no entry but holes?
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Adds `id` at the end. `held` returns whether an object is in the queue.
    #[inline]
    pub fn push(&mut self, id: u32, stamps: &mut [u32], held: impl Fn(u32) -> bool) {
        if self.entries.len() >= 2 * self.live as usize + 64 {
            self.close_holes(stamps, held);
        }
        stamps[id as usize] = self.first.wrapping_add(self.entries.len() as u32);
        self.entries.push_back(id);
        self.live += 1;
    }

    /// Takes the oldest entry out and returns it.
    #[inline]
    pub fn pop(&mut self, stamps: &[u32], held: impl Fn(u32) -> bool) -> Option<u32> {
        loop {
            let id = self.entries.pop_front()?;
            let number = self.first;
            self.first = self.first.wrapping_add(1);
            if let Some(&later) = self.entries.get(16) {
                trace::prefetch(stamps, later as usize);
            }
            if held(id) && stamps[id as usize] == number {
                self.live -= 1;
                return Some(id);
            }
        }
    }

    /// Counts one entry less: the owner took an object out.
    #[inline]
    pub fn forget(&mut self) {
        self.live -= 1;
    }

    fn close_holes(&mut self, stamps: &mut [u32], held: impl Fn(u32) -> bool) {
        let first = self.first;
        let (mut number, mut kept) = (first, first);
        self.entries.retain(|&id| {
            let live = held(id) && stamps[id as usize] == number;
            number = number.wrapping_add(1);
            if live {
                stamps[id as usize] = kept;
                kept = kept.wrapping_add(1);
            }
            live
        });
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * 4
    }
}
