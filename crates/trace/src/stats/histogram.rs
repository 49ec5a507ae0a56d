//! A histogram of whole numbers of any size.

/// Buckets of each doubling. A value is known to 1 part in 256, and exactly below 512.
const STEPS: u64 = 256;

/// A histogram whose buckets grow with the values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    /// The number of values added.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The value that `share` of all values do not exceed: the upper end of the bucket. None when empty.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let wanted = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut sum = 0;
        let found = self.counts.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        found.map(upper)
    }

    /// The number of values that do not exceed `value`. All of the bucket of `value` counts.
    pub fn up_to(&self, value: u64) -> u64 {
        let end = (bucket(value) + 1).min(self.counts.len());
        self.counts[..end].iter().sum()
    }

    /// The number of values in [1, 2), [2, 4), [4, 8) and so on. Zeros are left out.
    pub fn doublings(&self) -> Vec<u64> {
        let mut out = Vec::new();
        for (bucket, &count) in self.counts.iter().enumerate() {
            let (value, doubling) = (upper(bucket), upper(bucket).checked_ilog2());
            let Some(doubling) = doubling.filter(|_| count > 0 && value > 0) else {
                continue;
            };
            out.resize(out.len().max(doubling as usize + 1), 0);
            out[doubling as usize] += count;
        }
        out
    }

    /// The upper end of each bucket in use, and the number of values up to that end.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut sum = 0;
        let used = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, &count)| count > 0);
        used.map(move |(bucket, count)| {
            sum += count;
            (upper(bucket), sum)
        })
    }
}

fn bucket(value: u64) -> usize {
    if value < 2 * STEPS {
        return value as usize;
    }
    let shift = value.ilog2() - STEPS.ilog2();
    (u64::from(shift) * STEPS + (value >> shift)) as usize
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    let low = (bucket % STEPS + STEPS) << shift;
    low + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_holds_its_values(value in prop_oneof![any::<u64>(), 0u64..5000, any::<u32>().prop_map(u64::from)]) {
            let at = bucket(value);
            prop_assert!(value <= upper(at));
            prop_assert!(at == 0 || upper(at - 1) < value);
            prop_assert!(upper(at) - value <= value / STEPS);
        }

        #[test]
        fn quantiles_and_counts(mut values in proptest::collection::vec(0u64..500, 1..200), share in 0.0..1.0f64) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&v| histogram.add(v));
            values.sort_unstable();
            let at = ((share * values.len() as f64).ceil() as usize).max(1) - 1;
            prop_assert_eq!(histogram.quantile(share), Some(values[at]));
            let expected = values.iter().filter(|&&v| v <= 250).count() as u64;
            prop_assert_eq!(histogram.up_to(250), expected);
            let above_zero = values.iter().filter(|&&v| v > 0).count() as u64;
            prop_assert_eq!(histogram.doublings().iter().sum::<u64>(), above_zero);
        }
    }
}
