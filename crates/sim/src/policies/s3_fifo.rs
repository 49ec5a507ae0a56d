//! S3-FIFO: a small FIFO for newcomers, a main FIFO with reinsertion, and the numbers of what left
//! the small one without having been used.
use crate::huge::{prefetch, zeroed};
use crate::lane::Lane;
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
const HIT: u8 = 4;

struct S3Fifo<'a> {
    ids: &'a [u32],
    form: Form,
    size: usize,
    small_most: usize,
    ghost_most: usize,
    threshold: u8,
    evicted: bool,
    state: Vec<u8>,
    main: VecDeque<u32>,
    /// Position (from 1) of the access that brought an object into the small queue.
    stamps: Vec<u32>,
    /// Marks after `small_tail` are the small queue, those up to there and after `ghost_tail` the
    /// ghosts: what leaves the small queue is older than what is in it.
    lane: Lane,
    small_tail: u32,
    ghost_tail: u32,
    smalls: usize,
    ghosts: usize,
}

impl<'a> S3Fifo<'a> {
    fn new(setup: &Setup<'a, '_>, form: Form, small: f64, ghost: f64, threshold: u8) -> S3Fifo<'a> {
        let objects = setup.input.objects() as usize;
        let size = f64::from(setup.size);
        S3Fifo {
            ids: setup.input.ids(),
            form,
            size: setup.size as usize,
            small_most: (size * small) as usize,
            ghost_most: (size * ghost) as usize,
            threshold,
            evicted: false,
            state: zeroed(objects),
            main: VecDeque::with_capacity(setup.size as usize + 1),
            stamps: zeroed(objects),
            lane: Lane::new(setup.input.ids().len()),
            small_tail: 0,
            ghost_tail: 0,
            smalls: 0,
            ghosts: 0,
        }
    }

    fn evict(&mut self) {
        self.evicted = true;
        let full = self.smalls + self.main.len();
        let above = usize::from(self.form == Form::Figure);
        while self.smalls + self.main.len() == full {
            let small = self.smalls >= self.small_most + above && self.smalls > 0;
            if small || self.main.is_empty() {
                self.evict_small();
            } else {
                self.evict_main();
            }
        }
    }

    /// Until one is gone or the small queue is empty.
    fn evict_small(&mut self) {
        while self.smalls > 0 {
            self.small_tail = self.lane.after(self.small_tail);
            self.smalls -= 1;
            let id = self.ids[self.small_tail as usize - 1];
            if let Some(&later) = self.ids.get(self.small_tail as usize + 64) {
                prefetch(&self.state, later as usize);
            }
            let state = &mut self.state[id as usize];
            if *state / HIT < self.threshold {
                *state = ABSENT;
                self.ghosts += 1;
                if self.ghosts > self.ghost_most {
                    self.ghost_tail = self.lane.after(self.ghost_tail);
                    self.ghosts -= 1;
                }
                return;
            }
            *state = MAIN;
            self.stamps[id as usize] = 0;
            self.lane.clear(self.small_tail);
            self.main.push_back(id);
            let full = self.main.len() > self.size - self.small_most;
            if full && self.form == Form::Figure {
                return self.evict_main();
            }
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

    fn miss(&mut self, id: u32, now: u32) {
        let stamp = self.stamps[id as usize];
        let known = stamp > self.ghost_tail;
        if known {
            self.lane.clear(stamp);
            self.ghosts -= 1;
        }
        if self.smalls + self.main.len() == self.size {
            self.evict();
        }
        let filling = self.form == Form::S3Fifo && !self.evicted && self.smalls >= self.small_most;
        if known || filling {
            self.state[id as usize] = MAIN;
            // It must not be taken for a ghost when it leaves the main queue.
            self.stamps[id as usize] = 0;
            self.main.push_back(id);
        } else {
            self.state[id as usize] = SMALL;
            self.stamps[id as usize] = now;
            self.lane.mark(now);
            self.smalls += 1;
        }
    }
}

impl Policy for S3Fifo<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let state = &mut self.state[id as usize];
        if *state & WHERE != ABSENT {
            // Up to 3 hits are told apart.
            *state += HIT * u8::from(*state < 3 * HIT);
            return true;
        }
        self.miss(id, at as u32 + 1);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        prefetch(&self.stamps, id as usize);
    }

    fn bytes(&self) -> usize {
        self.state.len() * 5 + self.main.capacity() * 4 + self.lane.bytes()
    }
}
