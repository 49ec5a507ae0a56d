//! OPT (MIN): as few misses as there can be, without looking ahead.
//!
//! An object that hits was kept from its access before until now: a hit is an interval, and a cache
//! of so many objects is so many places that each hold one interval at a time. Which intervals to
//! keep can be decided as they end: one takes the place that fell free last before it began, and is
//! a miss where there is none. That keeps as many as can be kept (U. Faigle, W. M. Nawijn, Note on
//! scheduling intervals on-line, Discrete Applied Mathematics 58, 1995), which is what Belady's rule
//! does; neither the next accesses nor a pass for them is needed. Misses are as many, and at every
//! point of the trace as few as can be up to there, but need not be the same requests.
use crate::bits::Bits;
use crate::huge::{prefetch, zeroed};
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "opt",
    paper: "L. A. Belady, A Study of Replacement Algorithms for a Virtual-Storage Computer, IBM Systems Journal 5(2), 1966",
    parameters: &[Parameter {
        name: "bypass",
        default: "false",
        help: "true or false: an object that would be the next victim is not admitted",
    }],
    build: |setup| Ok(Box::new(Opt::new(setup, setup.value("bypass")?))),
};

struct Opt {
    /// By object: position of its last access, from 1.
    last: Vec<u32>,
    /// Where the intervals of all places ended, but of those that never had one.
    ends: Bits,
    /// No end comes before this.
    first: u32,
    /// Places that never had an interval.
    unused: u32,
    /// 1 where what is accessed takes a place itself meanwhile: then intervals are what lies strictly
    /// between two accesses, on one place fewer.
    between: u32,
}

impl Opt {
    fn new(setup: &Setup, bypass: bool) -> Opt {
        Opt {
            last: zeroed(setup.input.objects() as usize),
            ends: Bits::new(setup.input.ids().len() + 1),
            first: 0,
            unused: setup.size - u32::from(!bypass),
            between: u32::from(!bypass),
        }
    }
}

impl Policy for Opt {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let before = std::mem::replace(&mut self.last[id as usize], now);
        if before == 0 {
            return false;
        }
        let latest = before + self.between;
        if latest == now && self.between == 1 {
            return true;
        }
        // Ends only come in at the young end: where none was, none will be.
        if latest >= self.first {
            if let Some(end) = self.ends.at_or_before(latest as usize) {
                self.ends.remove(end);
                self.ends.insert(now as usize);
                return true;
            }
            self.first = latest + 1;
        }
        if self.unused == 0 {
            return false;
        }
        self.unused -= 1;
        self.ends.insert(now as usize);
        true
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.last, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.ends.prefetch(self.last[id as usize] as usize);
    }

    fn bytes(&self) -> usize {
        self.last.len() * 4 + self.ends.bytes()
    }
}
