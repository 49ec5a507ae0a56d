//! Evicts a random resident object.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Parameter, Policy, Setup};
use random::Pcg64;

pub const POLICY: Description = Description {
    name: "random",
    paper: "Random: every resident object is as likely to go",
    parameters: &[Parameter {
        name: "seed",
        default: "1",
        help: "seed of the random numbers",
    }],
    build: |setup| Ok(Box::new(Random::new(setup, setup.value("seed")?))),
};

struct Random {
    random: Pcg64,
    resident: Vec<bool>,
    slots: Vec<u32>,
    used: usize,
}

impl Random {
    fn new(setup: &Setup, seed: u32) -> Random {
        Random {
            random: Pcg64::new(u64::from(seed)),
            resident: zeroed(setup.input.objects() as usize),
            slots: zeroed(setup.size as usize),
            used: 0,
        }
    }
}

impl Policy for Random {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        if self.resident[id as usize] {
            return true;
        }
        let slot = if self.used < self.slots.len() {
            self.used += 1;
            self.used - 1
        } else {
            let slot = self.random.up_to(self.slots.len() as u32 - 1) as usize;
            self.resident[self.slots[slot] as usize] = false;
            slot
        };
        self.slots[slot] = id;
        self.resident[id as usize] = true;
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.resident, id as usize);
    }

    fn bytes(&self) -> usize {
        self.resident.len() + self.slots.len() * 4
    }
}
