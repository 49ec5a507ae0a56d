//! OPT (MIN): the object whose next access is farthest ahead goes.
//!
//! Each resident object is the position of its next access in a set of positions, so that the victim
//! is the set's greatest member and no object needs an entry of its own.
use crate::bits::Bits;
use crate::huge::{filled, prefetch, zeroed};
use crate::{Description, Input, Parameter, Policy, Setup};
use std::sync::{Arc, OnceLock};

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

/// No further access.
pub const NEVER: u32 = u32::MAX;

/// The position of each request's next access to the same object, or [`NEVER`].
pub fn next_access(input: &Input) -> Vec<u32> {
    let ids = input.ids();
    let mut next = zeroed::<u32>(ids.len());
    let mut seen = filled(input.objects() as usize, NEVER);
    for at in (0..ids.len()).rev() {
        if at >= crate::engine::AHEAD {
            prefetch(&seen, ids[at - crate::engine::AHEAD] as usize);
        }
        next[at] = std::mem::replace(&mut seen[ids[at] as usize], at as u32);
    }
    next
}

struct Opt {
    next: Arc<OnceLock<Vec<u32>>>,
    /// Positions of the next accesses of what is resident.
    ahead: Bits,
    /// The greatest of them, where there is one.
    farthest: usize,
    /// Resident objects that are never accessed again.
    dead: u32,
    free: u32,
    bypass: bool,
}

impl Opt {
    fn new(setup: &Setup, bypass: bool) -> Opt {
        Opt {
            next: setup.input.next_access(),
            ahead: Bits::new(setup.input.ids().len()),
            farthest: 0,
            dead: 0,
            free: setup.size,
            bypass,
        }
    }

    /// Makes room for an object with that next access. False: it is the farthest itself.
    fn evict(&mut self, next: u32) -> bool {
        if self.dead > 0 {
            self.dead -= 1;
            return true;
        }
        if self.bypass && (next as usize) > self.farthest {
            return false;
        }
        self.ahead.remove(self.farthest);
        self.farthest = self.ahead.at_or_before(self.farthest).unwrap_or(0);
        true
    }
}

impl Policy for Opt {
    #[inline(always)]
    fn request(&mut self, _id: u32, at: usize) -> bool {
        // Set when this was made.
        let all = self.next.get().map_or(&[][..], Vec::as_slice);
        let next = all[at];
        if let Some(&later) = all.get(at + 16) {
            self.ahead.prefetch(later as usize);
        }
        let hit = self.ahead.has(at);
        if hit {
            self.ahead.remove(at);
            if self.farthest == at {
                self.farthest = 0;
            }
        } else if self.free > 0 {
            self.free -= 1;
        } else if !self.evict(next) {
            return false;
        }
        if next == NEVER {
            self.dead += 1;
        } else {
            self.ahead.insert(next as usize);
            self.farthest = self.farthest.max(next as usize);
        }
        hit
    }

    fn bytes(&self) -> usize {
        // Without the next accesses: 4 bytes a request that all sizes share.
        self.ahead.bytes()
    }
}
