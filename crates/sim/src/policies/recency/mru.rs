//! Evicts the most recently used object, which is good at loops. The victim is the object of the previous
//! request. That object is resident, whether it hit or missed.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "mru",
    paper: "Most recently used: the object that was accessed last goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Mru::new(setup))),
};

struct Mru {
    free: u32,
    latest: u32,
    resident: Vec<bool>,
}

impl Mru {
    fn new(setup: &Setup) -> Mru {
        Mru {
            free: setup.size,
            latest: 0,
            resident: zeroed(setup.input.objects() as usize),
        }
    }
}

impl Policy for Mru {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let hit = self.resident[id as usize];
        if !hit {
            if self.free > 0 {
                self.free -= 1;
            } else {
                self.resident[self.latest as usize] = false;
            }
            self.resident[id as usize] = true;
        }
        self.latest = id;
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.resident, id as usize);
    }

    fn bytes(&self) -> usize {
        self.resident.len()
    }
}
