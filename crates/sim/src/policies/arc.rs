//! ARC: two LRU lists, of what was seen once lately (T1) and more often (T2), with the numbers of what
//! left each (B1, B2); a hit in B1 or B2 moves the target size of T1 up or down.
use crate::huge::{prefetch, zeroed};
use crate::tail::Tail;
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "arc",
    paper: "N. Megiddo, D. S. Modha, ARC: A Self-Tuning, Low Overhead Replacement Cache, FAST 2003",
    parameters: &[],
    build: |setup| Ok(Box::new(Arc::new(setup))),
};

const ABSENT: u8 = 0;
const T1: u8 = 1;
const T2: u8 = 2;
const B1: u8 = 3;
const B2: u8 = 4;

struct Arc<'a> {
    ids: &'a [u32],
    size: u32,
    /// Target size of T1.
    p: f64,
    state: Vec<u8>,
    /// Position of the last access: all four lists are in that order.
    stamps: Vec<u32>,
    held: [u32; 5],
    tails: [Tail; 5],
}

impl<'a> Arc<'a> {
    fn new(setup: &Setup<'a, '_>) -> Arc<'a> {
        let objects = setup.input.objects() as usize;
        Arc {
            ids: setup.input.ids(),
            size: setup.size,
            p: 0.0,
            state: zeroed(objects),
            stamps: zeroed(objects),
            held: [0; 5],
            tails: [Tail::default(); 5],
        }
    }

    #[inline(always)]
    fn held(&self, list: u8) -> u32 {
        self.held[list as usize]
    }

    /// Moves the oldest of a list to another.
    fn shift(&mut self, from: u8, to: u8) {
        let (state, stamps) = (&self.state, &self.stamps);
        let id = self.tails[from as usize].pop(self.ids, stamps, |id, at| {
            state[id as usize] == from && stamps[id as usize] == at
        });
        self.held[from as usize] -= 1;
        self.held[to as usize] += 1;
        self.state[id as usize] = to;
    }

    /// The paper's REPLACE.
    fn replace(&mut self, asked: u8) {
        let t1 = f64::from(self.held(T1));
        if self.held(T1) > 0 && (t1 > self.p || (asked == B2 && t1 == self.p)) || self.held(T2) == 0
        {
            self.shift(T1, B1);
        } else {
            self.shift(T2, B2);
        }
    }

    fn miss(&mut self, id: u32, at: usize, asked: u8) {
        let place = id as usize;
        let (b1, b2) = (f64::from(self.held(B1)), f64::from(self.held(B2)));
        match asked {
            B1 => self.p = (self.p + (b2 / b1).max(1.0)).min(f64::from(self.size)),
            B2 => self.p = (self.p - (b1 / b2).max(1.0)).max(0.0),
            _ => {}
        }
        if asked != ABSENT {
            self.held[asked as usize] -= 1;
            self.state[place] = ABSENT;
            self.replace(asked);
        } else if self.held(T1) + self.held(B1) == self.size {
            if self.held(B1) > 0 {
                self.shift(B1, ABSENT);
                self.replace(asked);
            } else {
                self.shift(T1, ABSENT);
            }
        } else if self.held(T1) + self.held(T2) == self.size {
            let all = u64::from(self.held(T1) + self.held(T2))
                + u64::from(self.held(B1))
                + u64::from(self.held(B2));
            if all == 2 * u64::from(self.size) {
                self.shift(B2, ABSENT);
            }
            self.replace(asked);
        }
        let to = if asked == ABSENT { T1 } else { T2 };
        self.state[place] = to;
        self.stamps[place] = at as u32 + 1;
        self.held[to as usize] += 1;
    }
}

impl Policy for Arc<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let place = id as usize;
        let state = self.state[place];
        if state == T1 || state == T2 {
            let once = u32::from(state == T1);
            self.held[T1 as usize] -= once;
            self.held[T2 as usize] += once;
            self.state[place] = T2;
            self.stamps[place] = at as u32 + 1;
            return true;
        }
        self.miss(id, at, state);
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
