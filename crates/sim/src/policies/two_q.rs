//! 2Q, full version: a FIFO of newcomers (A1in), a FIFO of those that left it (A1out, numbers only),
//! and an LRU list (Am) of what came back while in A1out.
use crate::huge::{prefetch, zeroed};
use crate::tail::Tail;
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "2q",
    paper: "T. Johnson, D. Shasha, 2Q: A Low Overhead High Performance Buffer Management Replacement Algorithm, VLDB 1994",
    parameters: &[
        Parameter {
            name: "in",
            default: "0.25",
            help: "share of the size that newcomers hold (Kin), 0 to 1",
        },
        Parameter {
            name: "out",
            default: "0.5",
            help: "objects remembered after they left (Kout), as a share of the size",
        },
        Parameter {
            name: "recall",
            default: "after",
            help: "what comes back leaves A1out after room was made for it (the paper's order), or before (libCacheSim's)",
        },
    ],
    build: |setup| {
        let kin: f64 = setup.value_in("in", 0.0..=1.0)?;
        let kout: f64 = setup.value_in("out", 0.0..=1000.0)?;
        let recall: String = setup.value("recall")?;
        let before = match recall.as_str() {
            "after" => false,
            "before" => true,
            other => return Err(setup.refuse("recall", other, "after or before")),
        };
        Ok(Box::new(TwoQ::new(setup, kin, kout, before)))
    },
};

const ABSENT: u8 = 0;
const IN: u8 = 1;
const MAIN: u8 = 2;
const OUT: u8 = 3;

struct TwoQ<'a> {
    ids: &'a [u32],
    size: u32,
    in_most: u32,
    out_most: u64,
    recall_before: bool,
    state: Vec<u8>,
    /// Position of the access that put the object where it is: all three queues are in that order.
    stamps: Vec<u32>,
    /// By queue: entries, and the old end.
    held: [u32; 4],
    tails: [Tail; 4],
}

impl<'a> TwoQ<'a> {
    fn new(setup: &Setup<'a, '_>, kin: f64, kout: f64, recall_before: bool) -> TwoQ<'a> {
        let objects = setup.input.objects() as usize;
        TwoQ {
            ids: setup.input.ids(),
            size: setup.size,
            in_most: (f64::from(setup.size) * kin) as u32,
            out_most: (f64::from(setup.size) * kout) as u64,
            recall_before,
            state: zeroed(objects),
            stamps: zeroed(objects),
            held: [0; 4],
            tails: [Tail::default(); 4],
        }
    }

    fn pop(&mut self, from: u8, to: u8) {
        let (state, stamps) = (&self.state, &self.stamps);
        let id = self.tails[from as usize].pop(self.ids, stamps, |id, at| {
            state[id as usize] == from && stamps[id as usize] == at
        });
        self.held[from as usize] -= 1;
        self.held[to as usize] += 1;
        self.state[id as usize] = to;
    }

    fn evict(&mut self) {
        if self.held[IN as usize] > self.in_most || self.held[MAIN as usize] == 0 {
            self.pop(IN, OUT);
            if u64::from(self.held[OUT as usize]) > self.out_most {
                self.pop(OUT, ABSENT);
            }
        } else {
            self.pop(MAIN, ABSENT);
        }
    }
}

impl Policy for TwoQ<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let place = id as usize;
        let state = self.state[place];
        if state == MAIN {
            self.stamps[place] = at as u32 + 1;
            return true;
        }
        if state == IN {
            return true;
        }
        let to = if state == OUT { MAIN } else { IN };
        if self.recall_before && state == OUT {
            self.held[OUT as usize] -= 1;
            self.state[place] = ABSENT;
        }
        if self.held[IN as usize] + self.held[MAIN as usize] == self.size {
            self.evict();
        }
        if self.state[place] == OUT {
            self.held[OUT as usize] -= 1;
        }
        self.state[place] = to;
        self.stamps[place] = at as u32 + 1;
        self.held[to as usize] += 1;
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.state, id as usize);
        prefetch(&self.stamps, id as usize);
    }

    fn bytes(&self) -> usize {
        self.state.len() * 5
    }
}
