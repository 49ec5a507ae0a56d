//! S4-FIFO: S3-FIFO's three queues with five settings, which the paper has a model choose.
//!
//! This is the paper's data plane, as the authors' simulator has it (the branch `s4-fifo` of their
//! libCacheSim, with its defaults). Their control plane is not here: after the first fifth of a trace a
//! trained model chooses one of 18 settings. The paper's model is not public; libCacheSim has smaller ones.
//! The paper's offline variant, the best of 168 settings for each trace, is a sweep over the parameters here.
//!
//! The paper leaves open what a ghost's hits are. The authors' program, and so this one, starts a ghost with
//! the hits that its object had in the small queue, and adds a hit for each request that finds the ghost
//! below the threshold. Such a request brings the object into the small queue, and the ghost keeps its
//! place; a request that later finds the object in the main queue counts for the ghost as well.
use crate::structures::chunked_deques::ChunkedDeques;
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::lazy_queue::LazyQueue;
use crate::{Description, Error, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "s4-fifo",
    paper: "H. Xia, W. Nixon, B. D. Marthen, P. Bhandari, J. Yang, Learning-Augmented Heuristics: Simple, yet Smart, Robust and Interpretable Cache Eviction, OSDI 2026: its queues; the user chooses the parameters, since the paper's trained model, which chooses them, is not public",
    parameters: &[
        Parameter {
            name: "small",
            default: "0.1",
            help: "share of the size that the small queue holds, 0 to 1 (the paper searches 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)",
        },
        Parameter {
            name: "ghost",
            default: "0.9",
            help: "objects remembered after they left, as a share of the size (the paper searches 0.9, 3, 6)",
        },
        Parameter {
            name: "threshold",
            default: "2",
            help: "hits in the small queue that take an object to the main one, 1 to 3 (the paper searches 1, 2)",
        },
        Parameter {
            name: "ghost-threshold",
            default: "0",
            help: "hits of a ghost that take its object to the main queue, 0 to 3; with 0 every ghost does (the paper searches 0, 1)",
        },
        Parameter {
            name: "skip",
            default: "0",
            help: "share of the small queue, from its young end, in which hits do not count, 0 to 1 (the paper searches 0, 0.25)",
        },
    ],
    build: |setup| {
        let settings = Settings::of(setup)?;
        // Where every ghost counts, no resident object has a ghost: the two are compiled separately.
        match settings.ghost_threshold {
            0 => Ok(Box::new(S4Fifo::<false>::new(setup, &settings))),
            _ => Ok(Box::new(S4Fifo::<true>::new(setup, &settings))),
        }
    },
};

/// The parameters, as the user wrote them.
pub(crate) struct Settings {
    pub small: f64,
    pub ghost: f64,
    pub threshold: u32,
    pub ghost_threshold: u32,
    pub skip: f64,
}

impl Settings {
    pub fn of(setup: &Setup) -> Result<Settings, Error> {
        Ok(Settings {
            small: setup.value_in("small", 0.0..=1.0)?,
            ghost: setup.value_in("ghost", 0.0..=1000.0)?,
            threshold: setup.value_in("threshold", 1..=HITS)?,
            ghost_threshold: setup.value_in("ghost-threshold", 0..=HITS)?,
            skip: setup.value_in("skip", 0.0..=1.0)?,
        })
    }
}

/// An object's word: its queue, whether it has a ghost, the ghost's hits, and its own hits. 0: not known.
const SMALL: u32 = 1 << 31;
const MAIN: u32 = 1 << 30;
const GHOST: u32 = 1 << 29;
const GHOST_SHIFT: u32 = 2;
const GHOST_HITS: u32 = HITS << GHOST_SHIFT;
/// Hits are counted up to here.
pub(crate) const HITS: u32 = 3;

/// The queues of objects in the cache.
const SMALL_QUEUE: usize = 0;
const MAIN_QUEUE: usize = 1;

/// Entries by which a queue's victims are prefetched ahead.
const QUEUE_AHEAD: usize = 16;

#[derive(Clone, Copy, Default)]
struct Entry {
    word: u32,
    /// The number of the insertion into the small queue that brought the object there.
    insertion: u32,
}

/// `LATE`: ghosts have a threshold, so that an object in the cache may have a ghost.
struct S4Fifo<const LATE: bool> {
    size: u32,
    small_most: u32,
    main_most: u32,
    ghost_most: u32,
    threshold: u32,
    ghost_threshold: u32,
    /// Insertions after which an object's hits in the small queue count.
    skip: u32,
    evicted: bool,
    /// Insertions into the small queue so far.
    insertions: u32,
    entries: Vec<Entry>,
    queues: ChunkedDeques,
    smalls: u32,
    mains: u32,
    ghosts: LazyQueue,
    /// The numbers of the ghosts' entries, by object.
    stamps: Vec<u32>,
}

impl<const LATE: bool> S4Fifo<LATE> {
    fn new(setup: &Setup, settings: &Settings) -> S4Fifo<LATE> {
        let objects = setup.input.objects() as usize;
        let size = f64::from(setup.size);
        let small_most = (size * settings.small) as u32;
        S4Fifo {
            size: setup.size,
            small_most,
            main_most: setup.size - small_most,
            ghost_most: (size * settings.ghost) as u32,
            threshold: settings.threshold,
            ghost_threshold: settings.ghost_threshold,
            skip: (settings.skip * f64::from(small_most)) as u32,
            evicted: false,
            insertions: 0,
            entries: zeroed(objects),
            queues: ChunkedDeques::new(2),
            smalls: 0,
            mains: 0,
            ghosts: LazyQueue::default(),
            stamps: zeroed(objects),
        }
    }

    /// Makes room for one object. The cache is full.
    #[inline(always)]
    fn evict(&mut self) {
        self.evicted = true;
        loop {
            let from_main = self.mains > self.main_most || self.smalls == 0;
            let gone = match from_main {
                true => self.evict_main(),
                false => self.evict_small(),
            };
            if gone {
                return;
            }
        }
    }

    /// Evicts one object of the small queue. Objects with enough hits before it move to the main queue.
    /// Returns false if all of them moved.
    #[inline(always)]
    fn evict_small(&mut self) -> bool {
        while let Some(id) = self.take_oldest(SMALL_QUEUE) {
            self.smalls -= 1;
            let word = &mut self.entries[id as usize].word;
            let hits = *word & HITS;
            if hits < self.threshold {
                self.leave(id, hits);
                return true;
            }
            *word = MAIN | (*word & (GHOST | GHOST_HITS));
            self.queues.push_young(MAIN_QUEUE, id);
            self.mains += 1;
        }
        false
    }

    #[inline(always)]
    fn take_oldest(&mut self, queue: usize) -> Option<u32> {
        let id = self.queues.from_old(queue, 0)?;
        self.queues.drop_old(queue);
        if let Some(later) = self.queues.from_old(queue, QUEUE_AHEAD) {
            prefetch(&self.entries, later as usize);
        }
        Some(id)
    }

    /// An object leaves the cache from the small queue and becomes a ghost.
    #[inline(always)]
    fn leave(&mut self, id: u32, hits: u32) {
        let word = self.entries[id as usize].word;
        if self.ghost_most == 0 {
            self.entries[id as usize].word = 0;
            return;
        }
        // A ghost of its own, from before, keeps its place.
        if !LATE || word & GHOST == 0 {
            let entries = &self.entries;
            let held = |id: u32| entries[id as usize].word & GHOST != 0;
            let oldest = match self.ghosts.len() == self.ghost_most {
                true => self.ghosts.pop(&self.stamps, held),
                false => None,
            };
            self.ghosts.push(id, &mut self.stamps, held);
            if let Some(oldest) = oldest {
                self.entries[oldest as usize].word &= !(GHOST | GHOST_HITS);
            }
        }
        self.entries[id as usize].word = GHOST | hits << GHOST_SHIFT;
    }

    /// Evicts one object of the main queue; those with hits lose one and go to its young end. Returns false
    /// if the queue is empty.
    #[inline(always)]
    fn evict_main(&mut self) -> bool {
        while let Some(id) = self.take_oldest(MAIN_QUEUE) {
            let word = &mut self.entries[id as usize].word;
            let gone = *word & HITS == 0;
            if gone {
                // Objects that leave the main queue become no ghosts, and a ghost from before stays.
                *word &= !MAIN;
                self.mains -= 1;
                return true;
            }
            *word -= 1;
            self.queues.push_young(MAIN_QUEUE, id);
        }
        false
    }

    /// A request finds a ghost. Returns whether the ghost had enough hits, and is gone.
    #[inline(always)]
    fn meet(&mut self, id: u32) -> bool {
        let word = &mut self.entries[id as usize].word;
        let enough = !LATE || (*word & GHOST_HITS) >> GHOST_SHIFT >= self.ghost_threshold;
        if enough {
            *word &= !(GHOST | GHOST_HITS);
            self.ghosts.forget();
        } else {
            *word += 1 << GHOST_SHIFT;
        }
        enough
    }

    #[inline(always)]
    fn miss(&mut self, id: u32, word: u32) {
        let known = word & GHOST != 0 && self.meet(id);
        if self.smalls + self.mains == self.size {
            self.evict();
        }
        // Before the first eviction, what overflows the small queue enters the main one.
        let filling = !self.evicted && self.smalls >= self.small_most;
        let to_main = known || filling;
        let queue = if to_main { MAIN_QUEUE } else { SMALL_QUEUE };
        self.queues.push_young(queue, id);
        self.mains += u32::from(to_main);
        self.smalls += u32::from(!to_main);
        self.insertions += u32::from(!to_main);
        // Read anew: an eviction may have ended the ghost.
        let entry = &mut self.entries[id as usize];
        entry.word |= if to_main { MAIN } else { SMALL };
        entry.insertion = self.insertions;
    }
}

impl<const LATE: bool> Policy for S4Fifo<LATE> {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let entry = &mut self.entries[id as usize];
        let word = entry.word;
        if word & (SMALL | MAIN) != 0 {
            let counts = word & MAIN != 0 || self.insertions - entry.insertion >= self.skip;
            entry.word += u32::from(counts && word & HITS < HITS);
            if LATE && word & (MAIN | GHOST) == MAIN | GHOST {
                self.meet(id);
            }
            return true;
        }
        self.miss(id, word);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.entries, id as usize);
    }

    fn bytes(&self) -> usize {
        let queues = self.queues.bytes() + self.ghosts.bytes();
        self.entries.len() * size_of::<Entry>() + self.stamps.len() * 4 + queues
    }
}
