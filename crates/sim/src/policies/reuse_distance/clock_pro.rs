//! CLOCK-Pro: LIRS's idea with reference bits. Hot and cold pages stand in one ring with three hands. A
//! cold page is on test for a while, in memory or out of it. An access during the test makes the page hot.
//! The results of the tests set the number of cold pages.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::linked_lists::LinkedLists;
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "clock-pro",
    paper: "S. Jiang, F. Chen, X. Zhang, CLOCK-Pro: An Effective Improvement of the CLOCK Replacement, USENIX ATC 2005",
    parameters: &[],
    build: |setup| Ok(Box::new(ClockPro::new(setup))),
};

const RESIDENT: u8 = 1;
const HOT: u8 = 2;
const TEST: u8 = 4;
const REFERENCED: u8 = 8;

struct ClockPro {
    size: u32,
    /// The target number of cold pages: mc.
    cold_target: u32,
    hot: u32,
    cold: u32,
    /// Pages that are out of memory and on test.
    gone: u32,
    state: Vec<u8>,
    ring: LinkedLists,
    hand_hot: u32,
    hand_cold: u32,
    hand_test: u32,
}

impl ClockPro {
    fn new(setup: &Setup) -> ClockPro {
        let objects = setup.input.objects();
        let ring = LinkedLists::new(objects, 1);
        let start = ring.ring(0);
        ClockPro {
            size: setup.size,
            cold_target: setup.size,
            hot: 0,
            cold: 0,
            gone: 0,
            state: zeroed(objects as usize),
            ring,
            hand_hot: start,
            hand_cold: start,
            hand_test: start,
        }
    }

    /// Returns the page under a hand, and moves the hand on.
    fn advance(ring: &LinkedLists, hand: &mut u32) -> u32 {
        Self::settle(ring, hand);
        let page = *hand;
        *hand = ring.younger(page);
        Self::settle(ring, hand);
        page
    }

    /// Moves a hand off the ring's own place, so that it stands on a page.
    fn settle(ring: &LinkedLists, hand: &mut u32) {
        if *hand == ring.ring(0) {
            *hand = ring.younger(*hand);
        }
    }

    fn take_out(&mut self, id: u32) {
        let next = self.ring.younger(id);
        for hand in [&mut self.hand_hot, &mut self.hand_cold, &mut self.hand_test] {
            if *hand == id {
                *hand = next;
            }
        }
        self.ring.del(id);
    }

    /// Puts a page at the list's head, where the hot hand comes last.
    fn put_in(&mut self, id: u32) {
        for hand in [&mut self.hand_hot, &mut self.hand_cold, &mut self.hand_test] {
            Self::settle(&self.ring, hand);
        }
        self.ring.insert_older(self.hand_hot, id);
    }

    fn grow_cold(&mut self) {
        self.cold_target = (self.cold_target + 1).min(self.size);
    }

    /// Ends a test without an access.
    fn end_test(&mut self, id: u32) {
        self.cold_target = (self.cold_target - 1).max(1);
        if self.state[id as usize] & RESIDENT != 0 {
            self.state[id as usize] &= !TEST;
        } else {
            self.state[id as usize] = 0;
            self.gone -= 1;
            self.take_out(id);
        }
    }

    /// Makes a hot page cold, and ends the tests of the pages that the hand passes.
    fn run_hot(&mut self) {
        while self.hot > 0 {
            let id = Self::advance(&self.ring, &mut self.hand_hot);
            let state = self.state[id as usize];
            if state & HOT != 0 {
                if state & REFERENCED == 0 {
                    self.state[id as usize] = RESIDENT;
                    self.hot -= 1;
                    self.cold += 1;
                    return;
                }
                self.state[id as usize] = state & !REFERENCED;
            } else if state & TEST != 0 {
                self.end_test_unless_referenced(id, state);
            }
        }
    }

    /// A page that was accessed on test passes it when the cold hand comes.
    fn end_test_unless_referenced(&mut self, id: u32, state: u8) {
        if state & REFERENCED == 0 {
            self.end_test(id);
        }
    }

    /// Ends one test of a page that is out of memory.
    fn run_test(&mut self) {
        let before = self.gone;
        while self.gone == before {
            let id = Self::advance(&self.ring, &mut self.hand_test);
            let state = self.state[id as usize];
            if state & TEST != 0 {
                self.end_test_unless_referenced(id, state);
            }
        }
    }

    /// Frees one page.
    fn run_cold(&mut self) {
        loop {
            // All resident pages may be hot.
            while self.cold == 0 {
                self.run_hot();
            }
            let id = Self::advance(&self.ring, &mut self.hand_cold);
            let state = self.state[id as usize];
            if state & RESIDENT == 0 || state & HOT != 0 {
                continue;
            }
            if state & REFERENCED == 0 {
                self.cold -= 1;
                if state & TEST != 0 {
                    self.state[id as usize] = TEST;
                    self.gone += 1;
                    if self.gone > self.size {
                        self.run_test();
                    }
                } else {
                    self.state[id as usize] = 0;
                    self.take_out(id);
                }
                return;
            }
            self.take_out(id);
            self.put_in(id);
            if state & TEST != 0 {
                self.grow_cold();
                self.state[id as usize] = RESIDENT | HOT;
                self.cold -= 1;
                self.hot += 1;
                self.limit_hot();
            } else {
                self.state[id as usize] = RESIDENT | TEST;
            }
        }
    }

    fn limit_hot(&mut self) {
        while self.hot > self.size - self.cold_target {
            self.run_hot();
        }
    }

    fn miss(&mut self, id: u32) {
        if self.hot + self.cold == self.size {
            self.run_cold();
        }
        // Read after making room, which may have ended the page's test.
        if self.state[id as usize] & TEST != 0 {
            self.grow_cold();
            self.take_out(id);
            self.gone -= 1;
            self.state[id as usize] = RESIDENT | HOT;
            self.hot += 1;
            self.put_in(id);
            self.limit_hot();
        } else {
            self.state[id as usize] = RESIDENT | TEST;
            self.cold += 1;
            self.put_in(id);
        }
    }
}

impl Policy for ClockPro {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let state = &mut self.state[id as usize];
        if *state & RESIDENT != 0 {
            *state |= REFERENCED;
            return true;
        }
        self.miss(id);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        self.ring.prefetch(id);
    }

    fn bytes(&self) -> usize {
        self.state.len() + self.ring.bytes()
    }
}
