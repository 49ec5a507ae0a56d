//! CACHEUS: each victim is SR-LRU's or CR-LFU's, drawn by weights that LeCaR's rule moves, at a learning
//! rate that moves as well.
//!
//! SR-LRU, which resists scans, has two lists. R takes newcomers and gives the victims; S holds what came
//! again, and demotes its oldest objects to R. A hit on a demoted object makes S larger; a miss on an object
//! that left R unused makes R larger. CR-LFU, which resists churn, evicts the object with the fewest accesses,
//! and of those the one accessed last.
//!
//! Details are those of the authors' program (`sylab/cacheus`). R has one object in a hundred at first, and
//! each history half the size. The first learning rate, to which it returns after ten bad periods, follows
//! from the size; other programs draw it. An object that both experts would evict is not remembered. An
//! object that comes back from a history has as many accesses as when it left. At size 1, where that
//! program stops, S's object is the victim when R is empty.
use super::learning_rate::LearningRate;
use crate::structures::frequency_lists::FrequencyLists;
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::linked_lists::LinkedLists;
use crate::{Description, Parameter, Policy, Setup};
use random::Pcg64;

pub const POLICY: Description = Description {
    name: "cacheus",
    paper: "L. V. Rodriguez, F. Yusuf, S. Lyons, E. Paz, R. Rangaswami, J. Liu, M. Zhao, G. Narasimhan, Learning Cache Replacement with CACHEUS, FAST 2021: with SR-LRU and CR-LFU as experts",
    parameters: &[
        Parameter {
            name: "history",
            default: "0.5",
            help: "objects of each expert remembered after eviction, as a share of the size, 0 to 1000",
        },
        Parameter {
            name: "seed",
            default: "1",
            help: "seed of the random numbers",
        },
    ],
    build: |setup| {
        Ok(Box::new(Cacheus::new(
            setup,
            setup.value_in("history", 0.0..=1000.0)?,
            setup.value("seed")?,
        )))
    },
};

/// An object's state is its kind, its marks, and its accesses. 0: not known.
const KIND: u32 = 7 << 29;
const IN_S: u32 = 1 << 29;
const IN_R: u32 = 2 << 29;
/// Evicted as SR-LRU's victim, and as CR-LFU's.
const BY_LRU: u32 = 3 << 29;
const BY_LFU: u32 = 4 << 29;

/// The object came to R from S.
const DEMOTED: u32 = 1 << 28;
/// The object came to R as one of which nothing was known.
const NEW: u32 = 1 << 27;
const COUNT: u32 = NEW - 1;

/// The linked lists: S, R, and what each expert evicted.
const LIST_S: usize = 0;
const LIST_R: usize = 1;
const LIST_BY_LRU: usize = 2;
const LIST_BY_LFU: usize = 3;

/// The share of the size that R has at first.
const FIRST_R: f64 = 0.01;

/// The most that one expert's weight can be.
const MOST_WEIGHT: f64 = 0.99;

struct Cacheus {
    size: u32,
    history_most: u32,
    /// Objects that S and R should have at most.
    s_most: u32,
    r_most: u32,
    s_held: u32,
    r_held: u32,
    gone_held: [u32; 2],
    /// Demoted objects in the cache, and new ones among those that SR-LRU evicted.
    demoted: u32,
    new: u32,
    rate: LearningRate,
    /// The weight of SR-LRU; CR-LFU has the rest.
    weight: f64,
    random: Pcg64,
    states: Vec<u32>,
    lists: LinkedLists,
    /// Objects in the cache by accesses, those with as many by time.
    counts: FrequencyLists,
}

impl Cacheus {
    fn new(setup: &Setup, history: f64, seed: u32) -> Cacheus {
        let objects = setup.input.objects();
        let size = f64::from(setup.size);
        let r_most = ((FIRST_R * size + 0.5) as u32).max(1);
        Cacheus {
            size: setup.size,
            history_most: (size * history) as u32,
            s_most: setup.size - r_most,
            r_most,
            s_held: 0,
            r_held: 0,
            gone_held: [0; 2],
            demoted: 0,
            new: 0,
            rate: LearningRate::new(setup.size),
            weight: 0.5,
            random: Pcg64::new(u64::from(seed)),
            states: zeroed(objects as usize),
            lists: LinkedLists::new(objects, 4),
            counts: FrequencyLists::new(objects, 0),
        }
    }

    /// A demoted object was hit: S is too small. Or an unused one came back: R is.
    fn adapt(&mut self, s_grows: bool) {
        let grown = |over: u32, under: u32| {
            let ratio = f64::from(over) / f64::from(under.max(1));
            ((ratio + 0.5) as u32).max(1)
        };
        let most = self.size - 1;
        if s_grows {
            self.s_most = (self.s_most + grown(self.new, self.demoted)).min(most);
            self.r_most = self.size - self.s_most;
        } else {
            self.r_most = (self.r_most + grown(self.demoted, self.new)).min(most);
            self.s_most = self.size - self.r_most;
        }
    }

    /// Moves the oldest object of S, where there is one, to R.
    fn demote(&mut self) {
        let Some(id) = self.lists.tail(LIST_S) else {
            return;
        };
        self.lists.del(id);
        self.lists.add(LIST_R, id);
        self.s_held -= 1;
        self.r_held += 1;
        let state = &mut self.states[id as usize];
        *state = IN_R | DEMOTED | (*state & (NEW | COUNT));
        self.demoted += 1;
    }

    fn shrink_s(&mut self) {
        while self.s_held > 0 && self.s_held >= self.s_most {
            self.demote();
        }
    }

    #[inline(always)]
    fn evict(&mut self) {
        let by_lru = self.random.unit() < self.weight;
        let states = &self.states;
        let accesses = |id: u32| states[id as usize] & COUNT;
        // The cache is full, so both experts have a victim.
        let lru = self.lists.tail(LIST_R).or(self.lists.tail(LIST_S));
        let lfu = self.counts.least_youngest(accesses);
        let Some(id) = (if by_lru { lru } else { lfu }) else {
            return;
        };
        let state = self.states[id as usize];
        self.counts.remove(id, state & COUNT);
        self.lists.del(id);
        match state & KIND {
            IN_S => self.s_held -= 1,
            _ => self.r_held -= 1,
        }
        self.demoted -= u32::from(state & DEMOTED != 0);
        self.states[id as usize] = 0;
        if lru != lfu && self.history_most > 0 {
            self.remember(id, state & (NEW | COUNT), by_lru);
        }
    }

    /// Puts an evicted object into the history of the expert that chose it.
    #[inline(always)]
    fn remember(&mut self, id: u32, state: u32, by_lru: bool) {
        let (kind, list) = match by_lru {
            true => (BY_LRU, LIST_BY_LRU),
            false => (BY_LFU, LIST_BY_LFU),
        };
        let held = &mut self.gone_held[list - LIST_BY_LRU];
        if *held == self.history_most {
            // A full history has an oldest object.
            let oldest = self.lists.tail(list).unwrap_or(id);
            prefetch(&self.states, self.lists.younger(oldest) as usize);
            self.lists.del(oldest);
            let state = &mut self.states[oldest as usize];
            self.new -= u32::from(by_lru && *state & NEW != 0);
            *state = 0;
        } else {
            *held += 1;
        }
        self.new += u32::from(by_lru && state & NEW != 0);
        self.states[id as usize] = kind | state;
        self.lists.add(list, id);
    }

    /// Puts an object that was accessed just now into S.
    #[inline(always)]
    fn put_in_s(&mut self, id: u32, marks_and_count: u32) {
        self.states[id as usize] = IN_S | marks_and_count;
        self.lists.add(LIST_S, id);
        self.s_held += 1;
        self.counts.insert(id, marks_and_count & COUNT);
    }

    #[inline(always)]
    fn put_in_r(&mut self, id: u32, mark: u32) {
        self.states[id as usize] = IN_R | mark | 1;
        self.lists.add(LIST_R, id);
        self.r_held += 1;
        self.counts.insert(id, 1);
    }

    #[inline(always)]
    fn hit(&mut self, id: u32, state: u32) {
        self.counts.remove(id, state & COUNT);
        if state & KIND == IN_S {
            self.s_held -= 1;
            self.lists.del(id);
        } else {
            self.leave_r(id, state);
        }
        self.put_in_s(id, state & NEW | ((state & COUNT) + 1).min(COUNT));
    }

    /// A hit takes an object out of R, to S, which makes room.
    fn leave_r(&mut self, id: u32, state: u32) {
        if state & DEMOTED != 0 {
            self.adapt(true);
            self.demoted -= 1;
        }
        self.lists.del(id);
        self.r_held -= 1;
        if self.s_held >= self.s_most {
            self.demote();
        }
    }

    /// A miss on an object that one of the experts evicted lately.
    #[inline(always)]
    fn regret(&mut self, id: u32, state: u32) {
        self.lists.del(id);
        let by_lru = state & KIND == BY_LRU;
        self.gone_held[usize::from(!by_lru)] -= 1;
        self.states[id as usize] = 0;
        if by_lru && state & NEW != 0 {
            self.new -= 1;
            self.adapt(false);
        }
        let kept = (-self.rate.rate()).exp();
        let (mut lru, mut lfu) = (self.weight, 1.0 - self.weight);
        match by_lru {
            true => lru *= kept,
            false => lfu *= kept,
        }
        self.weight = (lru / (lru + lfu)).clamp(1.0 - MOST_WEIGHT, MOST_WEIGHT);
        if self.s_held + self.r_held == self.size {
            self.evict();
        }
        self.put_in_s(id, state & COUNT);
        self.shrink_s();
    }

    /// A miss on an object of which nothing is known.
    #[inline(always)]
    fn miss(&mut self, id: u32) {
        let held = self.s_held + self.r_held;
        if self.s_held < self.s_most && self.r_held == 0 {
            self.put_in_s(id, 1);
        } else if held < self.size && self.r_held < self.r_most {
            self.put_in_r(id, 0);
        } else {
            if held == self.size {
                self.evict();
            }
            self.put_in_r(id, NEW);
            self.shrink_s();
        }
    }
}

impl Policy for Cacheus {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        self.rate.tick(&mut self.random);
        let state = self.states[id as usize];
        match state & KIND {
            IN_S | IN_R => {
                self.hit(id, state);
                self.rate.hit();
                return true;
            }
            0 => self.miss(id),
            _ => self.regret(id, state),
        }
        false
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.states, id as usize);
        self.counts.prefetch(id);
        self.lists.prefetch(id);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.counts.prefetch_neighbours(id);
        self.lists.prefetch_neighbours(id);
    }

    fn bytes(&self) -> usize {
        self.states.len() * 4 + self.lists.bytes() + self.counts.bytes()
    }
}
