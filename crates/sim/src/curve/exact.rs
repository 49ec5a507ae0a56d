//! LRU's miss-ratio curve, exact at all sizes in one pass.
use super::distances;
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
    /// Works the curve out in one pass. `progress` is given the number of requests done since it was
    /// last called.
    pub fn lru(input: &Input, progress: &mut dyn FnMut(u64)) -> Curve {
        Curve::of_ids(input.ids(), input.objects(), progress)
    }

    /// As [`Curve::lru`], of ids that are all below `objects`.
    pub(super) fn of_ids(ids: &[u32], objects: u32, progress: &mut dyn FnMut(u64)) -> Curve {
        let histogram = distances::histogram(ids, objects, progress);
        let mut sum = 0;
        // An object found behind d others hits from size d + 1 on.
        let hits = std::iter::once(0)
            .chain(histogram.into_iter().map(|count| {
                sum += u64::from(count);
                sum
            }))
            .collect();
        Curve {
            requests: ids.len() as u64,
            hits,
        }
    }

    /// The number of requests of the trace.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The largest size that differs from the one below: the footprint.
    pub fn objects(&self) -> u64 {
        self.hits.len() as u64 - 1
    }

    /// Misses at a size in objects.
    pub fn misses(&self, size: u64) -> u64 {
        let last = self.hits.len() - 1;
        self.requests - self.hits[(size as usize).min(last)]
    }

    /// Misses at a size in objects, divided by requests.
    pub fn miss_ratio(&self, size: u64) -> f64 {
        self.misses(size) as f64 / self.requests.max(1) as f64
    }
}
