//! Least recently used. The trace itself is the list ([`crate::structures::recency_bitmap`]): an object
//! is resident if its last access came after the tail.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::recency_bitmap::RecencyBitmap;
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lru",
    paper: "Least recently used: the object whose last access is longest ago goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Lru::new(setup))),
};

/// Positions for each object: renumbering moves one object in `ROOM - 1` requests on average, and
/// memory does not grow with the trace.
const ROOM: usize = 16;

struct Lru {
    /// The number of a request, from 1, less this value is the request's position.
    shift: u32,
    /// Positions are below this.
    room: u32,
    /// Objects that still fit.
    free: u32,
    /// Positions up to this one are no longer resident.
    tail: u32,
    recency: RecencyBitmap,
    /// By object: position of its last access, from 1.
    last: Vec<u32>,
}

impl Lru {
    fn new(setup: &Setup) -> Lru {
        let (requests, objects) = (setup.input.ids().len(), setup.input.objects() as usize);
        let recency = RecencyBitmap::new(requests.min(objects * ROOM + 64));
        Lru {
            shift: 0,
            room: recency.room(),
            free: setup.size,
            tail: 0,
            recency,
            last: zeroed(objects),
        }
    }
}

impl Policy for Lru {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let mut now = (at as u32 + 1).wrapping_sub(self.shift);
        if now == self.room {
            let live = self.recency.close_up(self.tail, &mut self.last);
            self.tail = 0;
            self.shift = self.shift.wrapping_add(now - live - 1);
            now = live + 1;
        }
        let before = std::mem::replace(&mut self.last[id as usize], now);
        let hit = before > self.tail;
        // A mark behind the tail may be cleared too: it is never read.
        self.recency.clear(before);
        self.recency.mark(now);
        if self.free > 0 {
            self.free -= u32::from(!hit);
        } else {
            // Computed for hits too: the processor mispredicts a branch on hit or miss too often.
            let next = self.recency.after(self.tail);
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
        self.recency.prefetch(self.last[id as usize]);
    }

    fn bytes(&self) -> usize {
        self.last.len() * 4 + self.recency.bytes()
    }
}
