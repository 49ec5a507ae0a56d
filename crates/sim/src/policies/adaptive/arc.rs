//! ARC: two LRU lists, of objects accessed once lately (T1) and more often (T2). B1 and B2 have the
//! numbers of the objects that left each. A hit in B1 or B2 moves the target size of T1 up or down.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::recency_bitmap::RecencyBitmap;
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "arc",
    paper: "N. Megiddo, D. S. Modha, ARC: A Self-Tuning, Low Overhead Replacement Cache, FAST 2003",
    parameters: &[],
    build: |setup| Ok(Box::new(Arc::new(setup))),
};

/// In [`Arc::stamps`]: the position is one of T2 or B2, not of T1 or B1.
const TWICE: u32 = 1 << 31;

/// T1 and B1, or T2 and B2. Objects that left T are older than those in T, so one bitmap holds both.
struct Pair {
    recency: RecencyBitmap,
    /// T has the marks after this position.
    resident_after: u32,
    /// B has the marks after this position, up to the beginning of T.
    known_after: u32,
    /// Objects in T and in B.
    t: u32,
    b: u32,
}

impl Pair {
    fn new(requests: usize) -> Pair {
        Pair {
            recency: RecencyBitmap::new(requests),
            resident_after: 0,
            known_after: 0,
            t: 0,
            b: 0,
        }
    }

    /// Moves the oldest object of T to B.
    fn evict(&mut self) {
        self.resident_after = self.recency.after(self.resident_after);
        self.t -= 1;
        self.b += 1;
    }

    /// Forgets the oldest object of B.
    fn forget(&mut self) {
        self.known_after = self.recency.after(self.known_after);
        self.b -= 1;
    }

    #[inline(always)]
    fn add(&mut self, now: u32) {
        self.recency.mark(now);
        self.t += 1;
    }
}

struct Arc {
    size: u32,
    /// Target size of T1.
    p: f64,
    /// By object: position of its last access, from 1, and [`TWICE`].
    stamps: Vec<u32>,
    once: Pair,
    twice: Pair,
}

impl Arc {
    fn new(setup: &Setup) -> Arc {
        let requests = setup.input.ids().len();
        Arc {
            size: setup.size,
            p: 0.0,
            stamps: zeroed(setup.input.objects() as usize),
            once: Pair::new(requests),
            twice: Pair::new(requests),
        }
    }

    /// The paper's REPLACE.
    fn replace(&mut self, asked_b2: bool) {
        let t1 = f64::from(self.once.t);
        let first = self.once.t > 0 && (t1 > self.p || (asked_b2 && t1 == self.p));
        if first || self.twice.t == 0 {
            self.once.evict();
        } else {
            self.twice.evict();
        }
    }

    fn miss(&mut self, id: u32, stamp: u32, now: u32) {
        let (b1, b2) = (f64::from(self.once.b), f64::from(self.twice.b));
        if stamp >= TWICE && stamp - TWICE > self.twice.known_after {
            self.p = (self.p - (b1 / b2).max(1.0)).max(0.0);
            self.twice.recency.clear(stamp - TWICE);
            self.twice.b -= 1;
            self.replace(true);
        } else if stamp < TWICE && stamp > self.once.known_after {
            self.p = (self.p + (b2 / b1).max(1.0)).min(f64::from(self.size));
            self.once.recency.clear(stamp);
            self.once.b -= 1;
            self.replace(false);
        } else {
            self.make_room();
            self.once.add(now);
            self.stamps[id as usize] = now;
            return;
        }
        self.twice.add(now);
        self.stamps[id as usize] = now | TWICE;
    }

    /// The paper's case IV: an object that none of the four lists has.
    fn make_room(&mut self) {
        if self.once.t + self.once.b == self.size {
            if self.once.b > 0 {
                self.once.forget();
                self.replace(false);
            } else {
                self.once.evict();
                self.once.forget();
            }
        } else if self.once.t + self.twice.t == self.size {
            let ghosts = u64::from(self.once.b) + u64::from(self.twice.b);
            if ghosts == u64::from(self.size) {
                self.twice.forget();
            }
            self.replace(false);
        }
    }
}

impl Policy for Arc {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let stamp = self.stamps[id as usize];
        if stamp >= TWICE {
            let position = stamp - TWICE;
            if position > self.twice.resident_after {
                self.twice.recency.clear(position);
                self.twice.recency.mark(now);
                self.stamps[id as usize] = now | TWICE;
                return true;
            }
        } else if stamp > self.once.resident_after {
            self.once.recency.clear(stamp);
            self.once.t -= 1;
            self.twice.add(now);
            self.stamps[id as usize] = now | TWICE;
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
        if stamp >= TWICE {
            self.twice.recency.prefetch(stamp - TWICE);
        } else {
            self.once.recency.prefetch(stamp);
        }
    }

    fn bytes(&self) -> usize {
        self.stamps.len() * 4 + self.once.recency.bytes() + self.twice.recency.bytes()
    }
}
