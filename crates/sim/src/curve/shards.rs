//! SHARDS: LRU's curve from a sample of the objects (C. Waldspurger, N. Park, A. Garthwaite, I. Ahmad,
//! Efficient MRC Construction with SHARDS, FAST 2015). [`crate::sampling::Estimate`] has the intervals.
use super::distances;
use crate::sampling::{Estimate, NotAvailable, Sizes, Tally, Whole};
use crate::Input;

/// A sample of a trace, with the stack distance of each request in the sample.
pub struct Shards {
    whole: Whole,
    ids: Vec<u32>,
    distances: Vec<u32>,
    objects: u32,
}

impl Shards {
    /// Samples the share `rate` of the objects, from 0 to 1. Another `seed` draws other objects.
    pub fn new(input: &Input, rate: f64, seed: u64) -> Shards {
        let rate = rate.clamp(0.0, 1.0);
        let threshold = (rate * 2f64.powi(32)).round() as u64;
        let mut names = vec![u32::MAX; input.objects() as usize];
        let mut objects = 0;
        let mut ids = Vec::new();
        for &id in input.ids() {
            // A hash chooses the sample, so the order of the objects' numbers has no influence.
            if random::mix(u64::from(id) ^ seed) & 0xffff_ffff < threshold {
                let name = &mut names[id as usize];
                if *name == u32::MAX {
                    *name = objects;
                    objects += 1;
                }
                ids.push(*name);
            }
        }
        let mut distances = Vec::with_capacity(ids.len());
        distances::each(&ids, objects, &mut |_| {}, &mut |distance| {
            distances.push(distance);
        });
        Shards {
            whole: Whole {
                requests: input.ids().len() as u64,
                rate,
            },
            ids,
            distances,
            objects,
        }
    }

    /// The number of objects in the sample.
    pub fn objects(&self) -> u32 {
        self.objects
    }

    /// LRU's miss ratio at a size in objects of the whole trace.
    ///
    /// # Errors
    /// The sample is too small to say.
    pub fn miss_ratio(&self, size: u64) -> Result<Estimate, NotAvailable> {
        let sizes = Sizes::of(size, self.whole.rate)?;
        let sizes = self.tally(&sizes).nearer(&sizes, self.whole.rate);
        Estimate::of(&self.tally(&sizes), &sizes, self.whole)
    }

    fn tally(&self, sizes: &Sizes) -> Tally {
        let mut tally = Tally::new(self.objects as usize);
        for (&id, &distance) in self.ids.iter().zip(&self.distances) {
            let hits = sizes.simulated.map(|size| u64::from(distance) < size);
            tally.request(id, hits);
        }
        tally
    }
}
