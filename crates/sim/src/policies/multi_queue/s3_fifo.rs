//! S3-FIFO: a small FIFO for newcomers, a main FIFO with reinsertion, and ghosts: the numbers of objects
//! that left the small FIFO unused.
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::recency_bitmap::RecencyBitmap;
use crate::{Description, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "s3-fifo",
    paper: "J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, FIFO Queues are All You Need for Cache Eviction, SOSP 2023",
    parameters: &[
        Parameter {
            name: "small",
            default: "0.1",
            help: "share of the size that the small queue holds, 0 to 1",
        },
        Parameter {
            name: "ghost",
            default: "0.9",
            help: "objects remembered after they left, as a share of the size",
        },
        Parameter {
            name: "threshold",
            default: "2",
            help: "hits in the small queue that take an object to the main one, 1 to 3 (the paper's text has 2)",
        },
        Parameter {
            name: "form",
            default: "figure",
            help: "figure: the paper's algorithm 1 (an object that enters a full main queue evicts from that queue at once); v0: as libCacheSim's s3fifov0 (the main queue may exceed its share); s3fifo: as libCacheSim's s3fifo (v0, and while the cache fills, objects that overflow the small queue enter the main queue)",
        },
    ],
    build: |setup| {
        let form: String = setup.value("form")?;
        let small = setup.value_in("small", 0.0..=1.0)?;
        let ghost = setup.value_in("ghost", 0.0..=1000.0)?;
        let threshold = setup.value_in("threshold", 1..=3)?;
        // Each form is compiled separately, so it does not pay for the others.
        match form.as_str() {
            "figure" => Ok(Box::new(S3Fifo::<FIGURE>::new(setup, small, ghost, threshold))),
            "v0" => Ok(Box::new(S3Fifo::<V0>::new(setup, small, ghost, threshold))),
            "s3fifo" => Ok(Box::new(S3Fifo::<S3FIFO>::new(setup, small, ghost, threshold))),
            other => Err(setup.refuse("form", other, "figure, v0 or s3fifo")),
        }
    },
};

/// The forms.
const FIGURE: u8 = 0;
const V0: u8 = 1;
const S3FIFO: u8 = 2;

/// A resident object's word: this value plus the hits in its queue, up to [`HITS`]. The word of an object
/// that is not resident is the position of its ghost's mark; 0: no ghost. Positions are below this value.
const RESIDENT: u32 = 1 << 31;
const HITS: u32 = 3;

/// Entries by which the main queue is prefetched ahead.
const MAIN_AHEAD: u32 = 16;

/// Positions by which the small queue's victims are prefetched ahead. Measured: following the marks to
/// every victim costs more than it saves.
const SMALL_AHEAD: usize = 64;

/// Positions by which the trace itself is prefetched for the small queue's victims: the ids there have
/// left the cache, and a victim's word cannot be prefetched before its id is known.
const TRACE_AHEAD: usize = SMALL_AHEAD + 512;

struct S3Fifo<'a, const FORM: u8> {
    ids: &'a [u32],
    size: u32,
    /// Objects in the small queue from which on it supplies the victims.
    small_limit: u32,
    small_most: u32,
    main_most: u32,
    ghost_most: u32,
    /// An object whose word is below this value leaves the cache from the small queue.
    used: u32,
    evicted: bool,
    words: Vec<u32>,
    main: Ring,
    /// Positions (from 1) of accesses that brought an object into the small queue. Marks after
    /// `small_tail` are the small queue. Marks after `ghost_tail` and up to `small_tail` are the ghosts.
    /// Objects that left the small queue are older than those in it.
    recency: RecencyBitmap,
    small_tail: u32,
    ghost_tail: u32,
    smalls: u32,
    ghosts: u32,
}

/// The main queue. It has room for one entry more, so an entry can be written before it is known whether
/// the entry counts.
struct Ring {
    slots: Vec<u32>,
    mask: u32,
    first: u32,
    len: u32,
}

impl Ring {
    fn new(most: u32) -> Ring {
        let slots = (most as usize + 2).next_power_of_two();
        Ring {
            slots: zeroed(slots),
            mask: (slots - 1) as u32,
            first: 0,
            len: 0,
        }
    }

    /// Puts `id` at the young end, if it `counts`.
    #[inline(always)]
    fn push_if(&mut self, id: u32, counts: bool) {
        let at = self.first.wrapping_add(self.len) & self.mask;
        self.slots[at as usize] = id;
        self.len += u32::from(counts);
    }

    /// The entry after `older` older ones. Beyond the queue's end the value is arbitrary.
    #[inline(always)]
    fn at(&self, older: u32) -> u32 {
        self.slots[(self.first.wrapping_add(older) & self.mask) as usize]
    }

    /// Drops the oldest entry.
    #[inline(always)]
    fn drop_oldest(&mut self) {
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
    }
}

impl<'a, const FORM: u8> S3Fifo<'a, FORM> {
    fn new(setup: &Setup<'a, '_>, small: f64, ghost: f64, threshold: u32) -> S3Fifo<'a, FORM> {
        let objects = setup.input.objects() as usize;
        let size = f64::from(setup.size);
        let small_most = (size * small) as u32;
        S3Fifo {
            ids: setup.input.ids(),
            size: setup.size,
            // An empty small queue has no victim.
            small_limit: (small_most + u32::from(FORM == FIGURE)).max(1),
            small_most,
            main_most: setup.size - small_most,
            ghost_most: (size * ghost) as u32,
            used: RESIDENT + threshold,
            evicted: false,
            words: zeroed(objects),
            main: Ring::new(setup.size),
            recency: RecencyBitmap::new(setup.input.ids().len()),
            small_tail: 0,
            ghost_tail: 0,
            smalls: 0,
            ghosts: 0,
        }
    }

    /// Evicts one object. The cache is full.
    #[inline(always)]
    fn evict(&mut self) {
        if FORM == S3FIFO {
            self.evicted = true;
        }
        if self.smalls < self.small_limit && self.main.len > 0 {
            self.evict_main();
        } else if !self.evict_small() {
            self.evict_rest();
        }
    }

    /// Goes on where the small queue's oldest object moved to a main queue with room.
    #[cold]
    #[inline(never)]
    fn evict_rest(&mut self) {
        loop {
            while self.smalls > 0 {
                if self.evict_small() {
                    return;
                }
            }
            let small = self.smalls >= self.small_limit || self.main.len == 0;
            if !small && self.evict_main() {
                return;
            }
        }
    }

    /// Takes the small queue's oldest object: evicts it, or moves it to the main queue, which may evict one
    /// of its own. Returns whether an object was evicted.
    #[inline(always)]
    fn evict_small(&mut self) -> bool {
        let tail = self.recency.after(self.small_tail);
        self.small_tail = tail;
        self.smalls -= 1;
        let id = self.ids[tail as usize - 1];
        prefetch(self.ids, tail as usize + TRACE_AHEAD);
        if let Some(&later) = self.ids.get(tail as usize + SMALL_AHEAD) {
            prefetch(&self.words, later as usize);
        }
        let word = &mut self.words[id as usize];
        if *word < self.used {
            *word = tail;
            if self.ghosts == self.ghost_most {
                self.ghost_tail = self.recency.after(self.ghost_tail);
            } else {
                self.ghosts += 1;
            }
            return true;
        }
        *word = RESIDENT;
        self.recency.clear(tail);
        self.main.push_if(id, true);
        FORM == FIGURE && self.main.len > self.main_most && self.evict_main()
    }

    /// Evicts one object of the main queue. Returns false if the queue is empty.
    #[inline(always)]
    fn evict_main(&mut self) -> bool {
        while self.main.len > 0 {
            let id = self.main.at(0);
            prefetch(&self.words, self.main.at(MAIN_AHEAD) as usize);
            let word = &mut self.words[id as usize];
            let gone = *word == RESIDENT;
            // Objects that leave the main queue become no ghosts.
            *word = if gone { 0 } else { *word - 1 };
            self.main.drop_oldest();
            self.main.push_if(id, !gone);
            if gone {
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn miss(&mut self, id: u32, stamp: u32, now: u32) {
        let known = stamp > self.ghost_tail;
        // No branch, since the processor cannot predict it. Clears the ghost's mark, or the mark at
        // `now`, which is not set yet and whose memory is cached.
        self.recency.clear(if known { stamp } else { now });
        self.ghosts -= u32::from(known);
        if self.smalls + self.main.len == self.size {
            self.evict();
        }
        let filling = FORM == S3FIFO && !self.evicted && self.smalls >= self.small_most;
        let to_main = known || filling;
        self.words[id as usize] = RESIDENT;
        self.recency.mark_if(now, !to_main);
        self.main.push_if(id, to_main);
        self.smalls += u32::from(!to_main);
    }
}

impl<const FORM: u8> Policy for S3Fifo<'_, FORM> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        let word = &mut self.words[id as usize];
        if *word >= RESIDENT {
            *word += u32::from(*word < RESIDENT + HITS);
            return true;
        }
        let stamp = *word;
        self.miss(id, stamp, at as u32 + 1);
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.words, id as usize);
    }

    fn bytes(&self) -> usize {
        self.words.len() * 4 + self.main.slots.len() * 4 + self.recency.bytes()
    }
}
