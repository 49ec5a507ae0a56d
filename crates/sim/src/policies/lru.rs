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

/// Positions for one object, on average: renumbering costs one object's in `ROOM - 1` requests, and
/// memory does not grow with the trace.
const ROOM: usize = 16;

struct Lru {
    /// A request's number, from 1, less this is its position.
    shift: u32,
    /// Positions are below this.
    room: u32,
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
        let (requests, objects) = (setup.input.ids().len(), setup.input.objects() as usize);
        let lane = Lane::new(requests.min(objects * ROOM + 64));
        Lru {
            shift: 0,
            room: lane.room(),
            free: setup.size,
            tail: 0,
            lane,
            last: zeroed(objects),
        }
    }
}

impl Policy for Lru {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let mut now = (at as u32 + 1).wrapping_sub(self.shift);
        if now == self.room {
            let live = self.lane.close_up(self.tail, &mut self.last);
            self.tail = 0;
            self.shift = self.shift.wrapping_add(now - live - 1);
            now = live + 1;
        }
        let before = std::mem::replace(&mut self.last[id as usize], now);
        let hit = before > self.tail;
        // A mark behind the tail may go as well: nobody looks there.
        self.lane.clear(before);
        self.lane.mark(now);
        if self.free > 0 {
            self.free -= u32::from(!hit);
        } else {
            // Looked up for a hit too: a guess at hit or miss is wrong too often.
            let next = self.lane.after(self.tail);
            self.tail = if hit { self.tail } else { next };
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
