//! CLOCK: a ring with a hand. The hand spares objects that were referenced since it last passed.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "clock",
    paper:
        "F. J. Corbató, A Paging Experiment with the Multics System, MIT Project MAC report, 1968",
    parameters: &[],
    build: |setup| Ok(Box::new(Clock::new(setup))),
};

const ABSENT: u8 = 0;
const RESIDENT: u8 = 1;
const REFERENCED: u8 = 2;

struct Clock {
    /// By object. A state is a byte, so a million of them fit a second-level cache.
    state: Vec<u8>,
    ring: Vec<u32>,
    used: usize,
    hand: usize,
}

impl Clock {
    fn new(setup: &Setup) -> Clock {
        Clock {
            state: zeroed(setup.input.objects() as usize),
            ring: zeroed(setup.size as usize),
            used: 0,
            hand: 0,
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        self.hand += 1;
        if self.hand == self.ring.len() {
            self.hand = 0;
        }
    }

    fn evict(&mut self) {
        loop {
            if let Some(&later) = self.ring.get(self.hand + 16) {
                prefetch(&self.state, later as usize);
            }
            let state = &mut self.state[self.ring[self.hand] as usize];
            *state -= 1;
            if *state == ABSENT {
                return;
            }
            self.step();
        }
    }
}

impl Policy for Clock {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let state = &mut self.state[id as usize];
        if *state != ABSENT {
            *state = REFERENCED;
            return true;
        }
        *state = RESIDENT;
        if self.used < self.ring.len() {
            self.ring[self.used] = id;
            self.used += 1;
        } else {
            self.evict();
            self.ring[self.hand] = id;
            self.step();
        }
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
    }

    fn bytes(&self) -> usize {
        self.state.len() + self.ring.len() * 4
    }
}
