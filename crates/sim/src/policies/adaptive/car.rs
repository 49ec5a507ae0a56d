//! CAR: ARC with clocks. T1 and T2 are rings with reference bits, so that a hit moves nothing.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::lazy_queue::LazyQueue;
use crate::{Description, Policy, Setup};
use std::collections::VecDeque;

pub const POLICY: Description = Description {
    name: "car",
    paper: "S. Bansal, D. S. Modha, CAR: Clock with Adaptive Replacement, FAST 2004",
    parameters: &[],
    build: |setup| Ok(Box::new(Car::new(setup))),
};

const ABSENT: u8 = 0;
const B1: u8 = 1;
const B2: u8 = 2;
/// The object is in T1 or T2. The bit below is its reference bit.
const RESIDENT: u8 = 4;
const REFERENCED: u8 = 8;

struct Car {
    size: usize,
    /// Target size of T1.
    p: f64,
    state: Vec<u8>,
    t1: VecDeque<u32>,
    t2: VecDeque<u32>,
    /// Entries of B1 and B2.
    stamps: Vec<u32>,
    b1: LazyQueue,
    b2: LazyQueue,
}

impl Car {
    fn new(setup: &Setup) -> Car {
        let objects = setup.input.objects() as usize;
        Car {
            size: setup.size as usize,
            p: 0.0,
            state: zeroed(objects),
            t1: VecDeque::new(),
            t2: VecDeque::new(),
            stamps: zeroed(objects),
            b1: LazyQueue::default(),
            b2: LazyQueue::default(),
        }
    }

    fn replace(&mut self) {
        loop {
            let first = self.t1.len() as f64 >= self.p.max(1.0);
            let clock = if first { &mut self.t1 } else { &mut self.t2 };
            let id = clock.pop_front().expect("a full cache has a page to give");
            if let Some(&later) = clock.get(16) {
                prefetch(&self.state, later as usize);
            }
            let state = &mut self.state[id as usize];
            if *state & REFERENCED != 0 {
                *state = RESIDENT;
                self.t2.push_back(id);
                continue;
            }
            let (list, ghosts) = if first {
                (B1, &mut self.b1)
            } else {
                (B2, &mut self.b2)
            };
            *state = list;
            let state = &self.state;
            ghosts.push(id, &mut self.stamps, |id| state[id as usize] == list);
            return;
        }
    }

    fn discard(&mut self, list: u8) {
        let state = &self.state;
        let ghosts = if list == B1 {
            &mut self.b1
        } else {
            &mut self.b2
        };
        if let Some(id) = ghosts.pop(&self.stamps, |id| state[id as usize] == list) {
            self.state[id as usize] = ABSENT;
        }
    }

    fn miss(&mut self, id: u32) {
        let asked = self.state[id as usize];
        if self.t1.len() + self.t2.len() == self.size {
            self.replace();
            if asked == ABSENT {
                let (b1, b2) = (self.b1.len() as usize, self.b2.len() as usize);
                if self.t1.len() + b1 == self.size {
                    self.discard(B1);
                } else if self.t1.len() + self.t2.len() + b1 + b2 == 2 * self.size {
                    self.discard(B2);
                }
            }
        }
        let (b1, b2) = (f64::from(self.b1.len()), f64::from(self.b2.len()));
        match asked {
            B1 => {
                self.p = (self.p + (b2 / b1).max(1.0)).min(self.size as f64);
                self.b1.forget();
            }
            B2 => {
                self.p = (self.p - (b1 / b2).max(1.0)).max(0.0);
                self.b2.forget();
            }
            _ => {}
        }
        let clock = if asked == ABSENT {
            &mut self.t1
        } else {
            &mut self.t2
        };
        clock.push_back(id);
        self.state[id as usize] = RESIDENT;
    }
}

impl Policy for Car {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let state = &mut self.state[id as usize];
        if *state >= RESIDENT {
            *state = RESIDENT | REFERENCED;
            return true;
        }
        self.miss(id);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        prefetch(&self.stamps, id as usize);
    }

    fn bytes(&self) -> usize {
        self.state.len() * 5
            + (self.t1.capacity() + self.t2.capacity()) * 4
            + self.b1.bytes()
            + self.b2.bytes()
    }
}
