//! SIEVE: a queue that objects enter at the young end, and a hand that moves from old to young. The hand
//! spares visited objects and evicts others, in place.
//!
//! The queue is an array without links: spared objects move down to the other survivors of the round.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "sieve",
    paper: "Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, SIEVE is Simpler than LRU, NSDI 2024",
    parameters: &[],
    build: |setup| Ok(Box::new(Sieve::new(setup))),
};

const ABSENT: u8 = 0;
const RESIDENT: u8 = 1;
const VISITED: u8 = 2;

struct Sieve {
    state: Vec<u8>,
    /// From old to young: `[0, kept)` was spared in this round, and the hand comes to `[hand, end)` later.
    queue: Vec<u32>,
    kept: usize,
    hand: usize,
    end: usize,
    free: u32,
}

impl Sieve {
    fn new(setup: &Setup) -> Sieve {
        Sieve {
            state: zeroed(setup.input.objects() as usize),
            // Twice the size: the cost of moving the rest down is spread over as many misses.
            queue: zeroed(setup.size as usize * 2),
            kept: 0,
            hand: 0,
            end: 0,
            free: setup.size,
        }
    }

    fn evict(&mut self) {
        loop {
            if self.hand == self.end {
                // Past the youngest: the next round begins with the oldest survivor.
                self.end = self.kept;
                self.kept = 0;
                self.hand = 0;
            }
            if let Some(&later) = self.queue.get(self.hand + 16) {
                prefetch(&self.state, later as usize);
            }
            let id = self.queue[self.hand];
            self.hand += 1;
            let state = &mut self.state[id as usize];
            *state -= 1;
            if *state == ABSENT {
                break;
            }
            self.queue[self.kept] = id;
            self.kept += 1;
        }
        // The hand stands between two objects: a new object comes after the wrap.
        if self.hand == self.end {
            self.end = self.kept;
            self.kept = 0;
            self.hand = 0;
        }
    }

    fn push(&mut self, id: u32) {
        if self.end == self.queue.len() {
            self.queue.copy_within(self.hand..self.end, self.kept);
            self.end = self.kept + self.end - self.hand;
            self.hand = self.kept;
        }
        self.queue[self.end] = id;
        self.end += 1;
    }
}

impl Policy for Sieve {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let state = &mut self.state[id as usize];
        if *state != ABSENT {
            *state = VISITED;
            return true;
        }
        *state = RESIDENT;
        if self.free > 0 {
            self.free -= 1;
        } else {
            self.evict();
        }
        self.push(id);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
    }

    fn bytes(&self) -> usize {
        self.state.len() + self.queue.len() * 4
    }
}
