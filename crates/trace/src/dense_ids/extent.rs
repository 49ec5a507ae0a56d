//! What samples of a trace take, at any rate: requests are counted, and objects estimated from a few.
use std::collections::HashSet;

/// Most objects that are followed by name: from half as many, numbers have a standard error of 4%.
const MOST: usize = 1024;

/// Standard errors by which a bound is off the estimate.
const ERRORS: f64 = 4.0;

/// Requests and objects of samples of a trace, one object in 1, 2, 4 and so on.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Bytes of a request and of an object.
    each: (u64, u64),
    /// Requests of objects in the sample of one in 2^index, and in no smaller one.
    requests: [u64; 65],
    /// Hashes of the objects in the sample of one in `one_in`.
    hashes: HashSet<u64>,
    one_in: u64,
}

impl Extent {
    /// Of no request. `each` is the bytes of a request and of an object in memory.
    pub(crate) fn new(each: (u64, u64)) -> Extent {
        Extent {
            each,
            requests: [0; 65],
            hashes: HashSet::new(),
            one_in: 1,
        }
    }

    /// Takes requests of the trace.
    pub(crate) fn take(&mut self, names: &[u64]) {
        for &name in names {
            let hash = random::mix(name);
            self.requests[hash.trailing_zeros() as usize] += 1;
            if hash.is_multiple_of(self.one_in) && self.hashes.insert(hash) {
                while self.hashes.len() > MOST {
                    self.one_in *= 2;
                    self.hashes.retain(|hash| hash.is_multiple_of(self.one_in));
                }
            }
        }
    }

    /// Requests in the sample of one object in `one_in`, a power of two.
    fn requests(&self, one_in: u64) -> u64 {
        self.requests[one_in.trailing_zeros() as usize..]
            .iter()
            .sum()
    }

    /// Bounds of the number of objects in the sample of one in `one_in`, a power of two.
    pub fn objects(&self, one_in: u64) -> (u64, u64) {
        if one_in >= self.one_in {
            let kept = self.hashes.iter();
            let kept = kept.filter(|hash| hash.is_multiple_of(one_in)).count();
            return (kept as u64, kept as u64);
        }
        let known = self.hashes.len() as f64;
        let expected = known * (self.one_in / one_in) as f64;
        let error = ERRORS * (expected / known.sqrt() + expected.sqrt());
        let low = (expected - error).max(known) as u64;
        let high = (expected + error).ceil() as u64;
        (low, high.min(self.requests(one_in)))
    }

    /// Bytes that are enough for the sample of one object in `one_in`, a power of two.
    pub fn bytes(&self, one_in: u64) -> u64 {
        let (request, object) = self.each;
        self.requests(one_in) * request + self.objects(one_in).1 * object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_what_a_sample_has() {
        for objects in [50u64, 5_000, 60_000] {
            let names: Vec<u64> = (0..300_000u64).map(|n| n * n % 99_991 % objects).collect();
            let mut extent = Extent::new((4, 100));
            names.chunks(999).for_each(|names| extent.take(names));
            for one_in in (0..8).map(|level| 1u64 << level) {
                let kept = |name: &&u64| random::mix(**name).is_multiple_of(one_in);
                let requests = names.iter().filter(kept).count() as u64;
                let distinct: HashSet<&u64> = names.iter().filter(kept).collect();
                let distinct = distinct.len() as u64;
                let (low, high) = extent.objects(one_in);
                assert!((low..=high).contains(&distinct), "{objects} {one_in}");
                assert!(high <= 2 * distinct + 10, "{objects} {one_in}: {high}");
                assert!(extent.bytes(one_in) >= requests * 4 + distinct * 100);
            }
        }
    }
}
