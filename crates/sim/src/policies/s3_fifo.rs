//! S3-FIFO: a small FIFO for newcomers, a main FIFO with reinsertion, and the numbers of what left
//! the small one without having been used.
use crate::huge::{prefetch, zeroed};
use crate::queue::Queue;
use crate::{Description, Parameter, Policy, Setup};
use std::collections::VecDeque;

pub const POLICY: Description = Description {
    name: "s3-fifo",
    paper: "J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, FIFO Queues are All You Need for Cache Eviction, SOSP 2023",
    parameters: &[
        Parameter {
            name: "small",
            default: "0.1",
            help: "share of the size that the small queue holds, 0 to 1",
        },
        Parameter {
            name: "ghost",
            default: "0.9",
            help: "objects remembered after they left, as a share of the size",
        },
        Parameter {
            name: "threshold",
            default: "2",
            help: "hits in the small queue that take an object to the main one, 1 to 3 (the paper's text has 2)",
        },
        Parameter {
            name: "form",
            default: "figure",
            help: "figure: the paper's algorithm 1 (an object that enters a full main queue evicts from it at once); v0: as libCacheSim's s3fifov0 (it may grow over its share); s3fifo: as libCacheSim's s3fifo (v0, and while the cache fills the main queue takes what the small one has no room for)",
        },
    ],
    build: |setup| {
        let form: String = setup.value("form")?;
        let form = match form.as_str() {
            "figure" => Form::Figure,
            "v0" => Form::V0,
            "s3fifo" => Form::S3Fifo,
            other => return Err(setup.refuse("form", other, "figure, v0 or s3fifo")),
        };
        Ok(Box::new(S3Fifo::new(
            setup,
            form,
            setup.value_in("small", 0.0..=1.0)?,
            setup.value_in("ghost", 0.0..=1000.0)?,
            setup.value_in("threshold", 1..=3)?,
        )))
    },
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Figure,
    V0,
    S3Fifo,
}

/// The state of an object: where it is, and hits since it came there, up to 3, above.
const WHERE: u8 = 3;
const ABSENT: u8 = 0;
const SMALL: u8 = 1;
const MAIN: u8 = 2;
const GHOST: u8 = 3;
const HIT: u8 = 4;

struct S3Fifo {
    form: Form,
    size: usize,
    small_most: usize,
    ghost_most: u64,
    threshold: u8,
    evicted: bool,
    state: Vec<u8>,
    small: VecDeque<u32>,
    main: VecDeque<u32>,
    stamps: Vec<u32>,
    ghosts: Queue,
}

impl S3Fifo {
    fn new(setup: &Setup, form: Form, small: f64, ghost: f64, threshold: u8) -> S3Fifo {
        let objects = setup.input.objects() as usize;
        let size = f64::from(setup.size);
        S3Fifo {
            form,
            size: setup.size as usize,
            small_most: (size * small) as usize,
            ghost_most: (size * ghost) as u64,
            threshold,
            evicted: false,
            state: zeroed(objects),
            small: VecDeque::new(),
            main: VecDeque::new(),
            stamps: zeroed(objects),
            ghosts: Queue::default(),
        }
    }

    fn evict(&mut self) {
        self.evicted = true;
        let full = self.small.len() + self.main.len();
        let above = usize::from(self.form == Form::Figure);
        while self.small.len() + self.main.len() == full {
            let small = self.small.len() >= self.small_most + above && !self.small.is_empty();
            if small || self.main.is_empty() {
                self.evict_small();
            } else {
                self.evict_main();
            }
        }
    }

    /// Until one is gone or the small queue is empty.
    fn evict_small(&mut self) {
        while let Some(id) = self.small.pop_front() {
            if let Some(&later) = self.small.get(16) {
                prefetch(&self.state, later as usize);
                prefetch(&self.stamps, later as usize);
            }
            let state = &mut self.state[id as usize];
            if *state / HIT >= self.threshold {
                *state = MAIN;
                self.main.push_back(id);
                let full = self.main.len() > self.size - self.small_most;
                if full && self.form == Form::Figure {
                    return self.evict_main();
                }
                continue;
            }
            *state = GHOST;
            let state = &self.state;
            let held = |id: u32| state[id as usize] == GHOST;
            self.ghosts.push(id, &mut self.stamps, held);
            if u64::from(self.ghosts.len()) > self.ghost_most {
                if let Some(id) = self.ghosts.pop(&self.stamps, held) {
                    self.state[id as usize] = ABSENT;
                }
            }
            return;
        }
    }

    fn evict_main(&mut self) {
        while let Some(id) = self.main.pop_front() {
            if let Some(&later) = self.main.get(16) {
                prefetch(&self.state, later as usize);
            }
            let state = &mut self.state[id as usize];
            if *state == MAIN {
                *state = ABSENT;
                return;
            }
            *state -= HIT;
            self.main.push_back(id);
        }
    }

    fn miss(&mut self, id: u32) {
        let known = self.state[id as usize] == GHOST;
        if known {
            self.ghosts.forget();
            self.state[id as usize] = ABSENT;
        }
        if self.small.len() + self.main.len() == self.size {
            self.evict();
        }
        let filling =
            self.form == Form::S3Fifo && !self.evicted && self.small.len() >= self.small_most;
        if known || filling {
            self.state[id as usize] = MAIN;
            self.main.push_back(id);
        } else {
            self.state[id as usize] = SMALL;
            self.small.push_back(id);
        }
    }
}

impl Policy for S3Fifo {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let state = &mut self.state[id as usize];
        let place = *state & WHERE;
        if place == SMALL || place == MAIN {
            // Up to 3 hits are told apart.
            *state += HIT * u8::from(*state < 3 * HIT);
            return true;
        }
        self.miss(id);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
    }

    fn bytes(&self) -> usize {
        self.state.len() * 5
            + (self.small.capacity() + self.main.capacity()) * 4
            + self.ghosts.bytes()
    }
}
