//! Policies on a sample of the objects, where the whole trace is more than memory is to be spent on:
//! a cache of a share of the size on the same share of the objects (C. Waldspurger et al., Cache
//! Modeling and Optimization using Miniature Simulations, USENIX ATC 2017). What it says are estimates,
//! with an error from how much four parts of the sample differ.
use crate::registry::Choice;
use crate::{run, Counts, Error, Input};
use trace::{Flags, Sample, Trace};

/// Disjoint parts of the sample.
const PARTS: u64 = 4;

/// Student's t for 3 degrees of freedom, 95% of both sides.
const T: f64 = 3.182;

/// A sample that a [`Trace`] was cut down to.
pub struct Sampled<'a> {
    whole: Input<'a>,
    parts: Vec<Part>,
    sample: Sample,
}

struct Part {
    ids: Vec<u32>,
    flags: Option<Vec<Flags>>,
    objects: usize,
}

/// Counts of the whole trace, estimated.
pub struct Estimate {
    pub counts: Counts,
    /// Half the width of the 95% interval of the misses.
    pub misses_error_95: u64,
}

impl<'a> Sampled<'a> {
    /// None where the trace is whole.
    ///
    /// # Errors
    /// As [`Input::of`].
    pub fn of(trace: &'a Trace) -> Result<Option<Sampled<'a>>, Error> {
        let Some(sample) = trace.sample else {
            return Ok(None);
        };
        Ok(Some(Sampled {
            whole: Input::of(trace)?,
            parts: (0..PARTS).map(|part| Part::of(trace, part)).collect(),
            sample,
        }))
    }

    /// Requests of one estimate: the sample and its parts.
    pub fn work(&self) -> u64 {
        2 * self.whole.ids().len() as u64
    }

    /// Estimates a policy at a size of the whole.
    ///
    /// # Errors
    /// As [`Choice::build`].
    pub fn estimate(
        &self,
        choice: &Choice,
        size: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Estimate, Error> {
        let one_in = self.sample.one_in;
        let small = |of: u64| (size as f64 / of as f64).round().max(1.0) as u64;
        let mut policy = choice.build(&self.whole, small(one_in))?;
        let mut counts = run(policy.as_mut(), &self.whole, progress);
        let requests = self.sample.requests as f64;
        let mut ratios = Vec::new();
        for part in self.parts.iter().filter(|part| !part.ids.is_empty()) {
            let mut input = Input::new(&part.ids, part.objects)?;
            if let Some(flags) = &part.flags {
                input = input.with_flags(flags)?;
            }
            let mut policy = choice.build(&input, small(one_in * PARTS))?;
            let misses = run(policy.as_mut(), &input, progress).misses;
            ratios.push((misses * one_in * PARTS) as f64 / requests);
        }
        let n = ratios.len().max(2) as f64;
        let mean = ratios.iter().sum::<f64>() / n;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
        // A sample's requests are few hot objects' or many: those hit in any case, so that misses of
        // all requests are what is scaled, not misses of the sample's.
        counts.misses = (counts.misses * one_in).min(self.sample.requests);
        counts.requests = self.sample.requests;
        // Batches and generations do not grow with the size as misses do.
        counts.counters.clear();
        Ok(Estimate {
            counts,
            misses_error_95: (T * (variance / n).sqrt() * requests).ceil() as u64,
        })
    }
}

impl Part {
    fn of(trace: &Trace, part: u64) -> Part {
        let mine = |id: u32| (u64::from(id) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62 == part;
        let mut names = vec![u32::MAX; trace.objects as usize];
        let (mut ids, mut objects) = (Vec::new(), 0);
        let mut flags = trace.flags.as_ref().map(|_| Vec::new());
        for (at, &id) in trace.ids.iter().enumerate().filter(|(_, &id)| mine(id)) {
            let name = &mut names[id as usize];
            if *name == u32::MAX {
                *name = objects;
                objects += 1;
            }
            ids.push(*name);
            if let (Some(to), Some(from)) = (&mut flags, &trace.flags) {
                to.push(from[at]);
            }
        }
        Part {
            ids,
            flags,
            objects: objects as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Pcg64;

    /// A skewed trace whose objects 1 in 8 are kept.
    fn traces() -> (Trace, Trace) {
        let mut random = Pcg64::new(7);
        let keys: Vec<u64> = (0..400_000)
            .map(|_| (random.unit().powi(3) * 40_000.0) as u64)
            .collect();
        let kept: Vec<u64> = keys
            .iter()
            .copied()
            .filter(|key| key.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 61 == 0)
            .collect();
        let mut sample = Trace::from_keys("sample", &kept);
        sample.sample = Some(Sample {
            one_in: 8,
            requests: keys.len() as u64,
        });
        (Trace::from_keys("whole", &keys), sample)
    }

    #[test]
    fn estimates_lie_near_what_is_exact() {
        let (whole, sample) = traces();
        let input = Input::of(&whole).unwrap();
        let sampled = Sampled::of(&sample).unwrap().unwrap();
        assert!(Sampled::of(&whole).unwrap().is_none());
        for policy in ["lru", "s3-fifo", "opt", "arc", "mglru"] {
            let choice = Choice::parse(policy).unwrap();
            for size in [2000, 8000] {
                let mut exact = choice.build(&input, size).unwrap();
                let exact = run(exact.as_mut(), &input, &mut |_| {});
                let ours = sampled.estimate(&choice, size, &mut |_| {}).unwrap();
                assert_eq!(ours.counts.requests, exact.requests);
                let off = ours.counts.misses.abs_diff(exact.misses);
                // The interval is itself an estimate, from four parts: twice it, and 2% for a model
                // of 250 pages that shows its batches.
                let bound = 2 * ours.misses_error_95 + exact.requests / 50;
                assert!(off < bound, "{policy} {size}: {off} of {}", exact.misses);
                assert!(ours.misses_error_95 > 0);
            }
        }
    }
}
