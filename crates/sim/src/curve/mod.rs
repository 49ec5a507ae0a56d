//! Miss-ratio curves: exact for LRU at all sizes in one pass, and estimated from a sample.
pub mod distances;
pub mod shards;

use crate::Input;

/// LRU's misses at every size: R. L. Mattson et al., Evaluation Techniques for Storage Hierarchies,
/// IBM Systems Journal 9(2), 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    requests: u64,
    /// `hits[s]`: requests that hit at size `s`. The last size is the footprint.
    hits: Vec<u64>,
}

impl Curve {
    /// Works it out in one pass. `progress` is told of requests as they are done.
    pub fn lru(input: &Input, progress: &mut dyn FnMut(u64)) -> Curve {
        let histogram = distances::histogram(input.ids(), input.objects(), progress);
        let mut sum = 0;
        // An object found behind d others hits from size d + 1 on.
        let hits = std::iter::once(0)
            .chain(histogram.into_iter().map(|count| {
                sum += u64::from(count);
                sum
            }))
            .collect();
        Curve {
            requests: input.ids().len() as u64,
            hits,
        }
    }

    /// Requests of the trace.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The largest size that differs from the one below: the footprint.
    pub fn objects(&self) -> u64 {
        self.hits.len() as u64 - 1
    }

    /// Misses at a size, in objects.
    pub fn misses(&self, size: u64) -> u64 {
        let last = self.hits.len() - 1;
        self.requests - self.hits[(size as usize).min(last)]
    }

    /// Misses of requests.
    pub fn miss_ratio(&self, size: u64) -> f64 {
        self.misses(size) as f64 / self.requests.max(1) as f64
    }
}
