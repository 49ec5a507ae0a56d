//! 2Q, full version. A1in is a FIFO of newcomers. A1out is a FIFO of objects that left A1in, numbers only.
//! Am is an LRU list of objects that were accessed while in A1out.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::recency_bitmap::RecencyBitmap;
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
            help: "an object that comes back leaves A1out after room is made for it (the paper's order), or before (libCacheSim's)",
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

/// In [`TwoQ::stamps`]: the position is one of Am.
const MAIN: u32 = 1 << 31;

struct TwoQ {
    size: u32,
    in_most: u32,
    out_most: u64,
    recall_before: bool,
    /// By object: position (from 1) of the access that put the object into its queue, and [`MAIN`] in Am.
    stamps: Vec<u32>,
    /// A1in has the marks after `in_tail`. A1out has those after `out_tail` and up to `in_tail`.
    newcomers: RecencyBitmap,
    in_tail: u32,
    out_tail: u32,
    ins: u32,
    outs: u32,
    /// Am has the marks after `main_tail`.
    main: RecencyBitmap,
    main_tail: u32,
    mains: u32,
}

impl TwoQ {
    fn new(setup: &Setup, kin: f64, kout: f64, recall_before: bool) -> TwoQ {
        let requests = setup.input.ids().len();
        TwoQ {
            size: setup.size,
            in_most: (f64::from(setup.size) * kin) as u32,
            out_most: (f64::from(setup.size) * kout) as u64,
            recall_before,
            stamps: zeroed(setup.input.objects() as usize),
            newcomers: RecencyBitmap::new(requests),
            in_tail: 0,
            out_tail: 0,
            ins: 0,
            outs: 0,
            main: RecencyBitmap::new(requests),
            main_tail: 0,
            mains: 0,
        }
    }

    fn evict(&mut self) {
        if self.ins > self.in_most || self.mains == 0 {
            self.in_tail = self.newcomers.after(self.in_tail);
            self.ins -= 1;
            self.outs += 1;
            if u64::from(self.outs) > self.out_most {
                self.out_tail = self.newcomers.after(self.out_tail);
                self.outs -= 1;
            }
        } else {
            self.main_tail = self.main.after(self.main_tail);
            self.mains -= 1;
        }
    }

    /// Removes an object that comes back from A1out, unless the object has just fallen off its end.
    fn recall(&mut self, stamp: u32) {
        if stamp > self.out_tail {
            self.newcomers.clear(stamp);
            self.outs -= 1;
        }
    }

    fn miss(&mut self, id: u32, stamp: u32, now: u32) {
        let back = stamp < MAIN && stamp > self.out_tail;
        if back && self.recall_before {
            self.recall(stamp);
        }
        if self.ins + self.mains == self.size {
            self.evict();
        }
        if back {
            if !self.recall_before {
                self.recall(stamp);
            }
            self.main.mark(now);
            self.mains += 1;
            self.stamps[id as usize] = now | MAIN;
        } else {
            self.newcomers.mark(now);
            self.ins += 1;
            self.stamps[id as usize] = now;
        }
    }
}

impl Policy for TwoQ {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let stamp = self.stamps[id as usize];
        if stamp >= MAIN {
            let position = stamp - MAIN;
            if position > self.main_tail {
                self.main.clear(position);
                self.main.mark(now);
                self.stamps[id as usize] = now | MAIN;
                return true;
            }
        } else if stamp > self.in_tail {
            return true;
        }
        self.miss(id, stamp, now);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.stamps, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        let stamp = self.stamps[id as usize];
        if stamp >= MAIN {
            self.main.prefetch(stamp - MAIN);
        }
    }

    fn bytes(&self) -> usize {
        self.stamps.len() * 4 + self.newcomers.bytes() + self.main.bytes()
    }
}
