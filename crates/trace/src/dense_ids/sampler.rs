//! A sample of the objects of a trace that has too many for a memory budget.
//!
//! A hash of their names chooses the objects, so the sample is the same on every machine
//! (C. Waldspurger et al., Efficient MRC Construction with SHARDS, FAST 2015). Whenever the budget is
//! spent, half of the objects are dropped. Where fewer than [`LEAST`] would be left, the budget is too small;
//! from then on requests are counted alone, to find a budget that is enough.
use super::extent::Extent;
use super::smallest::{Smallest, LEAST};
use crate::{Batch, Flags, Renumber};

/// The memory that a trace may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes that each object takes in the simulation that follows, besides those for reading.
    pub per_object: u64,
}

/// The sample that a trace was cut down to for a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// One object in this many was kept: a power of two.
    pub one_in: u64,
    /// Requests of the whole trace.
    pub requests: u64,
}

/// Bytes of an object while reading: its slots of a table that has just grown, its dense id and its name.
const WHILE_READING: u64 = 16 * 4 + 8;

/// Takes the requests of a sample that fits the budget.
pub(crate) struct Sampler {
    budget: Budget,
    with_flags: bool,
    pub extent: Extent,
    renumber: Renumber,
    /// By dense id.
    names: Vec<u64>,
    pub ids: Vec<u32>,
    pub flags: Vec<Flags>,
    pub one_in: u64,
    pub requests: u64,
    /// Set where the budget is too small; `ids` is empty then.
    smallest: Option<Smallest>,
    wanted: Vec<u64>,
}

impl Sampler {
    pub fn new(budget: Budget, with_flags: bool) -> Sampler {
        Sampler {
            budget,
            with_flags,
            extent: Extent::new(each(budget, with_flags)),
            renumber: Renumber::new(0),
            names: Vec::new(),
            ids: Vec::new(),
            flags: Vec::new(),
            one_in: 1,
            requests: 0,
            smallest: None,
            wanted: Vec::new(),
        }
    }

    pub fn objects(&self) -> u32 {
        self.names.len() as u32
    }

    /// Takes those of the requests whose objects are in the sample.
    ///
    /// # Errors
    /// As [`Renumber::extend`].
    pub fn take(&mut self, batch: &Batch) -> Result<(), usize> {
        self.requests += batch.ids.len() as u64;
        self.extent.take(&batch.ids);
        if let Some(smallest) = &mut self.smallest {
            smallest.take(batch.ids.iter().copied());
            return Ok(());
        }
        self.wanted.clear();
        for (at, &name) in batch.ids.iter().enumerate() {
            if random::mix(name).is_multiple_of(self.one_in) {
                self.wanted.push(name);
                if self.with_flags {
                    self.flags.push(batch.flags[at]);
                }
            }
        }
        let from = self.ids.len();
        self.renumber.extend(&self.wanted, &mut self.ids)?;
        for (&id, &name) in self.ids[from..].iter().zip(&self.wanted) {
            if id as usize == self.names.len() {
                self.names.push(name);
            }
        }
        while self.smallest.is_none() && self.bytes() > self.budget.bytes {
            self.halve();
        }
        Ok(())
    }

    /// A budget that is enough for this trace, if the budget is too small.
    pub fn too_small(&self) -> Option<u64> {
        self.smallest.as_ref().map(Smallest::bytes)
    }

    fn bytes(&self) -> u64 {
        let (request, object) = each(self.budget, self.with_flags);
        self.ids.len() as u64 * request + self.names.len() as u64 * object
    }

    fn halve(&mut self) {
        let one_in = self.one_in * 2;
        let left = self.names.iter();
        let left = left.filter(|&&name| random::mix(name).is_multiple_of(one_in));
        if left.count() < LEAST {
            let smallest = Smallest::new(
                each(self.budget, self.with_flags),
                self.one_in,
                &self.names,
                &self.ids,
            );
            self.smallest = Some(smallest);
            self.ids = Vec::new();
            self.flags = Vec::new();
            return;
        }
        self.one_in = one_in;
        let mut renumber = Renumber::new(0);
        let mut dense = Vec::new();
        let mut kept = Vec::new();
        let new: Vec<u32> = self
            .names
            .iter()
            .map(|&name| match random::mix(name) % self.one_in {
                0 => {
                    kept.push(name);
                    kept.len() as u32 - 1
                }
                _ => u32::MAX,
            })
            .collect();
        // The names are fewer than before, so they can be numbered.
        let _ = renumber.extend(&kept, &mut dense);
        let mut to = 0;
        for at in 0..self.ids.len() {
            let id = new[self.ids[at] as usize];
            if id != u32::MAX {
                self.ids[to] = id;
                if self.with_flags {
                    self.flags[to] = self.flags[at];
                }
                to += 1;
            }
        }
        self.ids.truncate(to);
        self.flags.truncate(to);
        self.names = kept;
        self.renumber = renumber;
    }
}

/// Bytes of a request and of an object, at worst: a vector may be twice as large as its contents.
fn each(budget: Budget, with_flags: bool) -> (u64, u64) {
    let request = 2 * (4 + u64::from(with_flags));
    (request, WHILE_READING + budget.per_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_requests_that_a_filter_keeps() {
        let keys: Vec<u64> = (0..100_000u64).map(|n| n * n % 30_011).collect();
        let budget = Budget {
            bytes: 400_000,
            per_object: 24,
        };
        let mut sampler = Sampler::new(budget, false);
        for ids in keys.chunks(777) {
            let batch = Batch {
                ids: ids.to_vec(),
                ..Batch::default()
            };
            sampler.take(&batch).unwrap();
            assert!(sampler.bytes() <= budget.bytes);
        }
        assert!(sampler.one_in > 1, "it did not fit");
        let wanted = |name: &u64| random::mix(*name).is_multiple_of(sampler.one_in);
        let expected: Vec<u64> = keys.iter().copied().filter(wanted).collect();
        let ours = sampler.ids.iter().map(|&id| sampler.names[id as usize]);
        assert!(ours.eq(expected));
        assert_eq!(sampler.requests, 100_000);
        assert_eq!(sampler.too_small(), None);
    }

    fn sampled(bytes: u64) -> Sampler {
        let mut random = random::Pcg64::new(5);
        let budget = Budget {
            bytes,
            per_object: 100,
        };
        let mut sampler = Sampler::new(budget, true);
        for _ in 0..40 {
            let ids: Vec<u64> = (0..500).map(|_| random.next_u64() % 5000).collect();
            let batch = Batch {
                flags: vec![Flags::NONE; ids.len()],
                ids,
                ..Batch::default()
            };
            sampler.take(&batch).unwrap();
        }
        sampler
    }

    #[test]
    fn a_budget_that_is_too_small_names_one_that_works() {
        let least = sampled(0).too_small().unwrap();
        assert!(sampled(0).ids.is_empty(), "it is only counted");
        assert!(sampled(least / 2).too_small().is_some());
        let works = sampled(least);
        assert_eq!(works.too_small(), None);
        assert!(works.objects() >= LEAST as u32 && works.bytes() <= least);
    }
}
