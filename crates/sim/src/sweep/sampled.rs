//! Policies on a sample of the objects, where the whole trace does not fit the memory budget.
//! [`crate::sampling::Estimate`] has the intervals.
use super::job::Job;
use super::size::Size;
use crate::registry::Choice;
use crate::sampling::{Estimate, NotAvailable, Sizes, Tally, Whole, LEAST_IN_CACHE};
use crate::{Error, Input};
use trace::{Extent, Trace};

/// A [`Trace`] that is a sample of a larger one.
pub struct Sampled<'a> {
    input: Input<'a>,
    whole: Whole,
}

/// Policies that behave alike in a cache and in a smaller one on a sample: the tables of coverage in
/// docs/design/simulator.md show it. MRU depends on two requests in a row being for one object, which few are
/// in a sample; SIEVE's hand, MGLRU's generations and LHD's ages move in steps that do not shrink with the cache.
const ALIKE: &[&str] = &[
    "opt",
    "fifo",
    "random",
    "lru",
    "lru-k",
    "lfu",
    "clock",
    "clock-pro",
    "2q",
    "arc",
    "car",
    "lirs",
    "s3-fifo",
    "s4-fifo",
    "w-tinylfu",
    "lecar",
    "cacheus",
    "linux-two-list",
];

/// Requests that the three caches serve in turn: their hits stay in the first-level cache.
const STRETCH: usize = 1 << 12;

/// Bytes that a simulation takes for each object: three caches, and what each object did in them.
pub const BYTES: u64 = 3 * 24 + Tally::BYTES;

/// Bytes of memory in which the sample of a trace is large enough for a cache of this size.
pub fn enough(extent: &Extent, size: Size, object_bytes: u64) -> u64 {
    let least = LEAST_IN_CACHE as f64;
    let fits = |one_in: &u64| {
        let sampled = extent.objects(*one_in).0 as f64;
        let held = match size {
            // The share of an estimated footprint is rounded down.
            Size::Share(share) => sampled * share - 1.0,
            size => size.objects(0, object_bytes) as f64 / *one_in as f64,
        };
        sampled >= least && held >= least
    };
    let rates = (0..63).rev().map(|level| 1 << level);
    extent.bytes(rates.into_iter().find(fits).unwrap_or(1))
}

impl<'a> Sampled<'a> {
    /// The sample that a trace is. None where the trace is whole.
    ///
    /// # Errors
    /// As [`Input::of`].
    pub fn of(trace: &'a Trace) -> Result<Option<Sampled<'a>>, Error> {
        let Some(sample) = trace.sample else {
            return Ok(None);
        };
        Ok(Some(Sampled {
            input: Input::of(trace)?,
            whole: Whole {
                requests: sample.requests,
                rate: 1.0 / sample.one_in as f64,
            },
        }))
    }

    /// Whether none of the jobs has an estimate because the sample is too small. Policies that never have one do
    /// not count.
    pub fn is_too_small(&self, jobs: &[Job]) -> bool {
        let alike = |job: &&Job| ALIKE.contains(&job.choice.description().name);
        let mut fits = jobs
            .iter()
            .filter(alike)
            .map(|job| Sizes::of(job.size, self.whole.rate).is_ok())
            .peekable();
        fits.peek().is_some() && !fits.any(|fits| fits)
    }

    /// Requests that one estimate simulates: those of the sample, twice in three caches.
    pub fn work(&self) -> u64 {
        6 * self.input.ids().len() as u64
    }

    /// Requests of the whole trace.
    pub fn requests(&self) -> u64 {
        self.whole.requests
    }

    /// Estimates a policy at a size, in objects of the whole trace. The inner error says that the sample
    /// is too small for an estimate.
    ///
    /// # Errors
    /// As [`Choice::build`].
    pub fn estimate(
        &self,
        choice: &Choice,
        size: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Result<Estimate, NotAvailable>, Error> {
        let name = choice.description().name;
        let sizes = match ALIKE.contains(&name) {
            true => Sizes::of(size, self.whole.rate),
            false => Err(NotAvailable::Policy(name)),
        };
        let sizes = match sizes {
            Ok(sizes) => sizes,
            Err(reason) => {
                // Built in any case, so that a wrong parameter is an error at any size.
                choice.build(&self.input, size)?;
                progress(self.work());
                return Ok(Err(reason));
            }
        };
        let first = self.tally(choice, &sizes, progress)?;
        let nearer = first.nearer(&sizes, self.whole.rate);
        let second = self.tally(choice, &nearer, progress)?;
        Ok(Estimate::of(&second, &nearer, self.whole))
    }

    /// Runs three caches side by side.
    fn tally(
        &self,
        choice: &Choice,
        sizes: &Sizes,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Tally, Error> {
        let [smaller, middle, larger] = sizes.simulated.map(|size| size.max(1));
        let build = |size| choice.build(&self.input, size);
        let mut caches = [build(smaller)?, build(middle)?, build(larger)?];
        let ids = self.input.ids();
        let mut tally = Tally::new(self.input.objects() as usize);
        let mut hits: [Vec<bool>; 3] = Default::default();
        for from in (0..ids.len()).step_by(STRETCH) {
            let to = ids.len().min(from + STRETCH);
            for (cache, hits) in caches.iter_mut().zip(&mut hits) {
                cache.stretch_hits(&self.input, from, to, hits);
            }
            let [smaller, middle, larger] = &hits;
            let each = smaller.iter().zip(middle).zip(larger);
            for (&id, ((&smaller, &middle), &larger)) in ids[from..to].iter().zip(each) {
                tally.request(id, [smaller, middle, larger]);
            }
            progress(3 * (to - from) as u64);
        }
        Ok(tally)
    }
}
