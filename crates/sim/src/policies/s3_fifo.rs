//! S3-FIFO: a small FIFO for newcomers, a main FIFO with reinsertion, and the numbers of what left
//! the small one without having been used.
use crate::huge::{prefetch, zeroed};
use crate::lane::Lane;
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
            help: "figure: the paper's algorithm 1 (an object that enters a full main queue evicts from it at once); v0: as libCacheSim's s3fifov0 (it may grow over its share); s3fifo: as libCacheSim's s3fifo (v0, and while the cache fills the main queue takes what the small one has no room for)",
        },
    ],
    build: |setup| {
        let form: String = setup.value("form")?;
        let small = setup.value_in("small", 0.0..=1.0)?;
        let ghost = setup.value_in("ghost", 0.0..=1000.0)?;
        let threshold = setup.value_in("threshold", 1..=3)?;
        // Each compiled for itself: what a form does not do costs nothing.
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

/// An object's word: this and hits since it came where it is, up to [`HITS`]; or, of one that is not
/// here, the position that a ghost's mark is at, 0 if it has none. Positions are below it.
const RESIDENT: u32 = 1 << 31;
const HITS: u32 = 3;

/// Entries of the main queue that memory is asked for ahead.
const MAIN_AHEAD: u32 = 16;

/// Positions of the trace that the small queue's victims are asked for ahead. To follow its marks, and
/// so to meet each of them, costs more than it gives: measured.
const SMALL_AHEAD: usize = 64;

/// Positions of the trace itself that are asked for ahead there: it was read too long ago to be at hand,
/// and what is to be asked for cannot be before it is known.
const TRACE_AHEAD: usize = SMALL_AHEAD + 512;

struct S3Fifo<'a, const FORM: u8> {
    ids: &'a [u32],
    size: u32,
    /// The small queue gives way when it has so many.
    small_limit: u32,
    small_most: u32,
    main_most: u32,
    ghost_most: u32,
    /// A word below it leaves the cache with the small queue.
    used: u32,
    evicted: bool,
    words: Vec<u32>,
    main: Ring,
    /// Positions (from 1) of accesses that brought an object into the small queue. Marks after
    /// `small_tail` are the small queue, those up to there and after `ghost_tail` the ghosts: what leaves
    /// the small queue is older than what is in it.
    lane: Lane,
    small_tail: u32,
    ghost_tail: u32,
    smalls: u32,
    ghosts: u32,
}

/// The main queue. It always has room for one more, so that it can be written to before it is known
/// whether that one counts.
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

    /// The entry that so many older ones come before, or whatever lies there.
    #[inline(always)]
    fn at(&self, older: u32) -> u32 {
        self.slots[(self.first.wrapping_add(older) & self.mask) as usize]
    }

    /// The oldest is done with.
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
            // An empty one has nothing to give.
            small_limit: (small_most + u32::from(FORM == FIGURE)).max(1),
            small_most,
            main_most: setup.size - small_most,
            ghost_most: (size * ghost) as u32,
            used: RESIDENT + threshold,
            evicted: false,
            words: zeroed(objects),
            main: Ring::new(setup.size),
            lane: Lane::new(setup.input.ids().len()),
            small_tail: 0,
            ghost_tail: 0,
            smalls: 0,
            ghosts: 0,
        }
    }

    /// Until one is gone. The cache is full, so there is one.
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

    /// Where the small queue's oldest went to the main one and that was not full.
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

    /// The small queue's oldest: out (true), or into the main queue, which may have to give one for it
    /// (true as well).
    #[inline(always)]
    fn evict_small(&mut self) -> bool {
        let tail = self.lane.after(self.small_tail);
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
                self.ghost_tail = self.lane.after(self.ghost_tail);
            } else {
                self.ghosts += 1;
            }
            return true;
        }
        *word = RESIDENT;
        self.lane.clear(tail);
        self.main.push_if(id, true);
        FORM == FIGURE && self.main.len > self.main_most && self.evict_main()
    }

    /// Until one is gone (true) or the main queue is empty.
    #[inline(always)]
    fn evict_main(&mut self) -> bool {
        while self.main.len > 0 {
            let id = self.main.at(0);
            prefetch(&self.words, self.main.at(MAIN_AHEAD) as usize);
            let word = &mut self.words[id as usize];
            let gone = *word == RESIDENT;
            // What leaves the main queue is no ghost.
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
        // No branch on what cannot be guessed: a ghost's mark goes, or the one that `now` has not yet,
        // whose memory is at hand.
        self.lane.clear(if known { stamp } else { now });
        self.ghosts -= u32::from(known);
        if self.smalls + self.main.len == self.size {
            self.evict();
        }
        let filling = FORM == S3FIFO && !self.evicted && self.smalls >= self.small_most;
        let to_main = known || filling;
        self.words[id as usize] = RESIDENT;
        self.lane.mark_if(now, !to_main);
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
        self.words.len() * 4 + self.main.slots.len() * 4 + self.lane.bytes()
    }
}
