//! Traces of more objects than memory is to be spent on: a sample of the objects, chosen by a hash of
//! their names, so that it is the same one everywhere (C. Waldspurger et al., Efficient MRC
//! Construction with SHARDS, FAST 2015). How many are left out follows from what there is: whenever
//! the budget is spent, half of what is kept goes.
use crate::{Batch, Flags, Renumber};

/// What memory may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes that an object will take where the trace goes, besides those while it is read.
    pub per_object: u64,
}

/// How a trace was cut down to a [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// One object in so many was kept, a power of two.
    pub one_in: u64,
    /// Requests of the whole trace.
    pub requests: u64,
}

/// Bytes of an object while reading: its table slots at their emptiest while the table grows, its
/// dense id, its name.
const WHILE_READING: u64 = 16 * 4 + 8;

/// SplitMix64's mixing: neighbours must not be sampled together.
fn hash(name: u64) -> u64 {
    let mut x = name.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

/// Takes what fits.
pub(crate) struct Sampler {
    budget: Budget,
    with_flags: bool,
    renumber: Renumber,
    /// By dense id.
    names: Vec<u64>,
    pub ids: Vec<u32>,
    pub flags: Vec<Flags>,
    pub one_in: u64,
    pub requests: u64,
    wanted: Vec<u64>,
}

impl Sampler {
    pub fn new(budget: Budget, with_flags: bool) -> Sampler {
        Sampler {
            budget,
            with_flags,
            renumber: Renumber::new(0),
            names: Vec::new(),
            ids: Vec::new(),
            flags: Vec::new(),
            one_in: 1,
            requests: 0,
            wanted: Vec::new(),
        }
    }

    pub fn objects(&self) -> u32 {
        self.names.len() as u32
    }

    /// Takes what of these requests is in the sample.
    ///
    /// # Errors
    /// As [`Renumber::extend`].
    pub fn take(&mut self, batch: &Batch) -> Result<(), usize> {
        self.requests += batch.ids.len() as u64;
        self.wanted.clear();
        for (at, &name) in batch.ids.iter().enumerate() {
            if hash(name).is_multiple_of(self.one_in) {
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
        while self.bytes() > self.budget.bytes && self.names.len() > 1 {
            self.halve();
        }
        Ok(())
    }

    /// What it will have taken: vectors may be twice as large as what is in them.
    fn bytes(&self) -> u64 {
        let request = 2 * (4 + u64::from(self.with_flags));
        self.ids.len() as u64 * request
            + self.names.len() as u64 * (WHILE_READING + self.budget.per_object)
    }

    fn halve(&mut self) {
        self.one_in *= 2;
        let mut renumber = Renumber::new(0);
        let mut dense = Vec::new();
        let mut kept = Vec::new();
        let new: Vec<u32> = self
            .names
            .iter()
            .map(|&name| match hash(name) % self.one_in {
                0 => {
                    kept.push(name);
                    kept.len() as u32 - 1
                }
                _ => u32::MAX,
            })
            .collect();
        // Fewer than before: they can be numbered.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_what_a_filter_would_have_kept() {
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
        let wanted = |name: &u64| hash(*name).is_multiple_of(sampler.one_in);
        let expected: Vec<u64> = keys.iter().copied().filter(wanted).collect();
        let ours = sampler.ids.iter().map(|&id| sampler.names[id as usize]);
        assert!(ours.eq(expected));
        assert_eq!(sampler.requests, 100_000);
    }
}
