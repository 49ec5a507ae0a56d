//! S4-FIFO with sizes: shares are of bytes. As in the authors' program, an object that is larger than the small
//! queue is not admitted.
use super::requests::SizedPolicy;
use crate::policies::multi_queue::s4_fifo::{Settings, HITS};
use crate::structures::chunked_deques::ChunkedDeques;
use crate::structures::huge_pages::zeroed;
use crate::structures::lazy_queue::LazyQueue;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Out,
    Small,
    Main,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    place: Place,
    hits: u8,
    /// Whether the object has a ghost, the hits of the ghost and its bytes.
    ghost: bool,
    ghost_hits: u8,
    ghost_bytes: u32,
    /// Bytes in the cache.
    bytes: u32,
    /// The bytes that had entered the small queue when this object had.
    entered: u64,
}

const SMALL: usize = 0;
const MAIN: usize = 1;

pub struct S4Fifo {
    room: u64,
    small_most: u64,
    main_most: u64,
    ghost_most: u64,
    /// The largest object that is admitted.
    largest: u64,
    skip: u64,
    threshold: u8,
    ghost_threshold: u8,
    evicted: bool,
    /// Bytes that entered the small queue so far.
    entered: u64,
    entries: Vec<Entry>,
    queues: ChunkedDeques,
    /// Bytes in the small queue and in the main one.
    used: [u64; 2],
    ghosts: LazyQueue,
    ghosts_used: u64,
    stamps: Vec<u32>,
}

impl S4Fifo {
    pub fn new(objects: u32, room: u64, settings: &Settings) -> S4Fifo {
        let small_most = (room as f64 * settings.small) as u64;
        S4Fifo {
            room,
            small_most,
            main_most: room - small_most,
            ghost_most: (room as f64 * settings.ghost) as u64,
            largest: if small_most == 0 { room } else { small_most },
            skip: (settings.skip * small_most as f64) as u64,
            threshold: settings.threshold as u8,
            ghost_threshold: settings.ghost_threshold as u8,
            evicted: false,
            entered: 0,
            entries: zeroed(objects as usize),
            queues: ChunkedDeques::new(2),
            used: [0; 2],
            ghosts: LazyQueue::default(),
            ghosts_used: 0,
            stamps: zeroed(objects as usize),
        }
    }

    fn take_oldest(&mut self, queue: usize) -> Option<u32> {
        let id = self.queues.pop_old(queue)?;
        self.used[queue] -= u64::from(self.entries[id as usize].bytes);
        Some(id)
    }

    fn put(&mut self, queue: usize, id: u32, hits: u8) {
        let entry = &mut self.entries[id as usize];
        entry.place = if queue == MAIN {
            Place::Main
        } else {
            Place::Small
        };
        entry.hits = hits;
        self.used[queue] += u64::from(entry.bytes);
        self.queues.push_young(queue, id);
    }

    fn evict_small(&mut self) {
        while let Some(id) = self.take_oldest(SMALL) {
            let entry = &mut self.entries[id as usize];
            if entry.hits < self.threshold {
                entry.place = Place::Out;
                let (hits, bytes) = (entry.hits, entry.bytes);
                self.remember(id, hits, bytes);
                return;
            }
            self.put(MAIN, id, 0);
        }
    }

    fn evict_main(&mut self) {
        while let Some(id) = self.take_oldest(MAIN) {
            let entry = &mut self.entries[id as usize];
            let Some(hits) = entry.hits.checked_sub(1) else {
                entry.place = Place::Out;
                return;
            };
            self.put(MAIN, id, hits);
        }
    }

    /// Puts an object that left the small queue among the ghosts. One that is there keeps its place.
    fn remember(&mut self, id: u32, hits: u8, bytes: u32) {
        if !self.entries[id as usize].ghost {
            if u64::from(bytes) > self.ghost_most {
                return;
            }
            while self.ghosts_used + u64::from(bytes) > self.ghost_most {
                let entries = &self.entries;
                let oldest = self
                    .ghosts
                    .pop(&self.stamps, |id| entries[id as usize].ghost);
                let Some(oldest) = oldest else { break };
                self.end_ghost(oldest);
            }
            let entries = &self.entries;
            self.ghosts
                .push(id, &mut self.stamps, |id| entries[id as usize].ghost);
            self.ghosts_used += u64::from(bytes);
            let entry = &mut self.entries[id as usize];
            (entry.ghost, entry.ghost_bytes) = (true, bytes);
        }
        self.entries[id as usize].ghost_hits = hits;
    }

    fn end_ghost(&mut self, id: u32) {
        let entry = &mut self.entries[id as usize];
        entry.ghost = false;
        self.ghosts_used -= u64::from(entry.ghost_bytes);
    }

    /// A request finds a ghost, if there is one. Returns whether it had enough hits, and is gone.
    fn meet(&mut self, id: u32) -> bool {
        let entry = &mut self.entries[id as usize];
        if !entry.ghost {
            return false;
        }
        if entry.ghost_hits < self.ghost_threshold {
            entry.ghost_hits += 1;
            return false;
        }
        self.end_ghost(id);
        self.ghosts.forget();
        true
    }

    fn miss(&mut self, id: u32, bytes: u32) {
        let known = self.meet(id);
        if u64::from(bytes) > self.largest {
            return;
        }
        while self.used[SMALL] + self.used[MAIN] + u64::from(bytes) > self.room {
            self.evicted = true;
            if self.used[MAIN] > self.main_most || self.used[SMALL] == 0 {
                self.evict_main();
            } else {
                self.evict_small();
            }
        }
        let filling = !self.evicted && self.used[SMALL] >= self.small_most;
        self.entries[id as usize].bytes = bytes;
        if known || filling {
            self.put(MAIN, id, 0);
            return;
        }
        self.put(SMALL, id, 0);
        self.entered += u64::from(bytes);
        self.entries[id as usize].entered = self.entered;
    }
}

impl SizedPolicy for S4Fifo {
    fn request(&mut self, id: u32, bytes: u32) -> bool {
        let entry = &mut self.entries[id as usize];
        let more = (entry.hits + 1).min(HITS as u8);
        match entry.place {
            Place::Out => {
                self.miss(id, bytes);
                return false;
            }
            Place::Small if self.entered - entry.entered < self.skip => {}
            Place::Small => entry.hits = more,
            Place::Main => {
                entry.hits = more;
                self.meet(id);
            }
        }
        true
    }
}
