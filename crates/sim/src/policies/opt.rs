//! OPT (MIN): the least possible number of misses, without knowledge of the future.
//!
//! An object that hits was kept from its previous access until now. A hit is therefore an interval, and a
//! cache of n objects has n places that each hold one interval at a time. Which intervals to keep can be
//! decided as they end. An interval takes the place that fell free last before the interval began. Where
//! there is no such place, the request is a miss. That keeps as many intervals as possible (U. Faigle,
//! W. M. Nawijn, Note on scheduling intervals on-line, Discrete Applied Mathematics 58, 1995), as
//! Belady's rule does. Neither the next accesses nor a pass over them is needed. The number of misses is
//! Belady's, and at every point of the trace the least possible up to there. The requests that miss may
//! differ.
use crate::structures::bitset::BitSet;
use crate::structures::huge_pages::{prefetch, zeroed};
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
    /// The ends of the latest intervals of all places that have had one.
    ends: BitSet,
    /// No end is before this position.
    first: u32,
    /// Places that never had an interval.
    unused: u32,
    /// 1 where an accessed object needs a place itself. An interval then lies strictly between two accesses,
    /// and there is one place fewer.
    between: u32,
}

impl Opt {
    fn new(setup: &Setup, bypass: bool) -> Opt {
        Opt {
            last: zeroed(setup.input.objects() as usize),
            ends: BitSet::new(setup.input.ids().len() + 1),
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
        // New ends come only at the young end, so an empty stretch stays empty.
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
