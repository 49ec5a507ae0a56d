//! LFU: the object with the fewest accesses since it came in goes; of equals the one whose last access
//! is longest ago.
//!
//! Objects of few accesses stand in a queue per count. Those of many stand in a heap by what their
//! count once was: it is looked up again when they come to its top, so that hits cost nothing there.
use crate::huge::{prefetch, zeroed};
use crate::{Description, Policy, Setup};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub const POLICY: Description = Description {
    name: "lfu",
    paper: "Least frequently used, in cache: the object with the fewest accesses since it was brought in goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Lfu::new(setup))),
};

/// Counts below this have a queue.
const MANY: usize = 16;

#[derive(Clone, Copy, Default)]
struct Entry {
    /// Accesses since it came in; 0 is absent.
    count: u32,
    /// Position of the last one, from 1.
    last: u32,
}

struct Lfu<'a> {
    ids: &'a [u32],
    free: u32,
    entries: Vec<Entry>,
    /// By count: positions of accesses that raised an object to it. Old ones are passed over.
    few: [VecDeque<u32>; MANY],
    /// By count: how many of them are no holes.
    held: [u32; MANY],
    /// Count and last access as they once were.
    many: BinaryHeap<Reverse<(u32, u32)>>,
}

impl<'a> Lfu<'a> {
    fn new(setup: &Setup<'a, '_>) -> Lfu<'a> {
        Lfu {
            ids: setup.input.ids(),
            free: setup.size,
            entries: zeroed(setup.input.objects() as usize),
            few: Default::default(),
            held: [0; MANY],
            many: BinaryHeap::new(),
        }
    }

    /// Queues an object that has just been raised to `count`.
    #[inline(always)]
    fn queue(&mut self, count: u32, position: u32) {
        let level = count as usize;
        self.held[level] += 1;
        if self.few[level].len() >= 2 * self.held[level] as usize + 64 {
            let (ids, entries) = (self.ids, &self.entries);
            self.few[level].retain(|&at| live(ids, entries, count, at));
        }
        self.few[level].push_back(position);
    }

    fn evict(&mut self) {
        for level in 1..MANY {
            if self.held[level] == 0 {
                self.few[level].clear();
                continue;
            }
            while let Some(position) = self.few[level].pop_front() {
                if live(self.ids, &self.entries, level as u32, position) {
                    self.held[level] -= 1;
                    self.entries[self.ids[position as usize - 1] as usize].count = 0;
                    return;
                }
            }
        }
        while let Some(mut top) = self.many.peek_mut() {
            let Reverse((count, last)) = *top;
            let entry = &mut self.entries[self.ids[last as usize - 1] as usize];
            if (entry.count, entry.last) == (count, last) {
                entry.count = 0;
                std::collections::binary_heap::PeekMut::pop(top);
                return;
            }
            *top = Reverse((entry.count, entry.last));
        }
    }
}

#[inline(always)]
fn live(ids: &[u32], entries: &[Entry], count: u32, position: u32) -> bool {
    let entry = entries[ids[position as usize - 1] as usize];
    entry.count == count && entry.last == position
}

impl Policy for Lfu<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let position = at as u32 + 1;
        let count = self.entries[id as usize].count;
        if count == 0 {
            if self.free > 0 {
                self.free -= 1;
            } else {
                self.evict();
            }
        }
        self.entries[id as usize] = Entry {
            count: count + 1,
            last: position,
        };
        if (count as usize) < MANY {
            if count > 0 {
                self.held[count as usize] -= 1;
            }
            if count as usize + 1 < MANY {
                self.queue(count + 1, position);
            } else {
                self.many.push(Reverse((count + 1, position)));
            }
        }
        count > 0
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.entries, id as usize);
    }

    fn bytes(&self) -> usize {
        let few: usize = self.few.iter().map(VecDeque::capacity).sum();
        self.entries.len() * 8 + few * 4 + self.many.capacity() * 8
    }
}
