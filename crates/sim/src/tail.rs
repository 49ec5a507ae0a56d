//! The trace as a queue. A list in order of access needs no links: the trace is that list, once
//! entries that were accessed again later are passed over. `stamp[id]` is the position (from 1) of
//! the access that counts; 0 is none.
use crate::huge::prefetch;

/// The old end of such a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tail {
    /// Positions up to this one are no longer in the queue.
    at: u32,
}

impl Tail {
    /// Positions up to this one have left the queue.
    #[inline(always)]
    pub fn position(self) -> u32 {
        self.at
    }

    /// Passes over one entry, and asks for the memory of a later one.
    #[inline(always)]
    pub fn step(&mut self, ids: &[u32], stamps: &[u32]) {
        self.at += 1;
        if let Some(&later) = ids.get(self.at as usize + crate::engine::AHEAD) {
            prefetch(stamps, later as usize);
        }
    }

    /// Takes the oldest entry that `live` says is one: `live(id, position)`. There must be one.
    #[inline(always)]
    pub fn pop(&mut self, ids: &[u32], stamps: &[u32], live: impl Fn(u32, u32) -> bool) -> u32 {
        loop {
            let id = ids[self.at as usize];
            self.step(ids, stamps);
            if live(id, self.at) {
                return id;
            }
        }
    }
}
