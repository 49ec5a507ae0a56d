//! First in, first out. An object is resident while fewer than `size` misses came after its own. No
//! queue is needed, only the number of the miss that brought each object in.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "fifo",
    paper: "First in, first out: the object that was brought in longest ago goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Fifo::new(setup))),
};

struct Fifo {
    size: u32,
    /// Misses so far, counted from `size`, so that 0 in `brought` is not resident.
    misses: u32,
    /// By object: the miss that brought it in.
    brought: Vec<u32>,
}

impl Fifo {
    fn new(setup: &Setup) -> Fifo {
        Fifo {
            size: setup.size,
            misses: setup.size,
            brought: zeroed(setup.input.objects() as usize),
        }
    }
}

impl Policy for Fifo {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let brought = &mut self.brought[id as usize];
        let hit = self.misses - *brought < self.size;
        // No branch: the processor mispredicts hits and misses too often.
        self.misses += u32::from(!hit);
        *brought = if hit { *brought } else { self.misses };
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.brought, id as usize);
    }

    fn bytes(&self) -> usize {
        self.brought.len() * 4
    }
}
