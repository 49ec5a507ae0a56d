//! Least recently used. The trace is the list (see [`crate::lane`]): an object is resident when its
//! last access came after the tail.
use crate::huge::{prefetch, zeroed};
use crate::lane::Lane;
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lru",
    paper: "Least recently used: the object whose last access is longest ago goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Lru::new(setup))),
};

struct Lru {
    /// Objects that still fit.
    free: u32,
    /// Positions up to this one are no longer resident.
    tail: u32,
    lane: Lane,
    /// By object: position of its last access, from 1.
    last: Vec<u32>,
}

impl Lru {
    fn new(setup: &Setup) -> Lru {
        Lru {
            free: setup.size,
            tail: 0,
            lane: Lane::new(setup.input.ids().len()),
            last: zeroed(setup.input.objects() as usize),
        }
    }
}

impl Policy for Lru {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let now = at as u32 + 1;
        let before = std::mem::replace(&mut self.last[id as usize], now);
        let hit = before > self.tail;
        // A mark behind the tail may go as well: nobody looks there.
        self.lane.clear(before);
        self.lane.mark(now);
        if !hit {
            if self.free > 0 {
                self.free -= 1;
            } else {
                self.tail = self.lane.after(self.tail);
            }
        }
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.last, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.lane.prefetch(self.last[id as usize]);
    }

    fn bytes(&self) -> usize {
        self.last.len() * 4 + self.lane.bytes()
    }
}
