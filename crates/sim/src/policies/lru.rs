//! Least recently used. The trace is the list (see [`crate::tail`]): an object is resident when its
//! last access came after the tail.
use crate::huge::{prefetch, zeroed};
use crate::tail::Tail;
use crate::{Description, Policy, Setup};

pub const POLICY: Description = Description {
    name: "lru",
    paper: "Least recently used: the object whose last access is longest ago goes",
    parameters: &[],
    build: |setup| Ok(Box::new(Lru::new(setup))),
};

struct Lru<'a> {
    ids: &'a [u32],
    /// Objects that still fit.
    free: u32,
    tail: Tail,
    /// By object: position of its last access, from 1.
    last: Vec<u32>,
}

impl<'a> Lru<'a> {
    fn new(setup: &Setup<'a, '_>) -> Lru<'a> {
        Lru {
            ids: setup.input.ids(),
            free: setup.size,
            tail: Tail::default(),
            last: zeroed(setup.input.objects() as usize),
        }
    }
}

impl Policy for Lru<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let last = &mut self.last[id as usize];
        let hit = *last > self.tail.position();
        *last = at as u32 + 1;
        if !hit {
            if self.free > 0 {
                self.free -= 1;
            } else {
                let last = &self.last;
                self.tail
                    .pop(self.ids, last, |id, at| last[id as usize] == at);
            }
        }
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.last, id as usize);
    }

    fn bytes(&self) -> usize {
        self.last.len() * 4
    }
}
