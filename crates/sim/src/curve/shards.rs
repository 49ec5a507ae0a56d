//! SHARDS: LRU's curve from a sample of the objects. C. Waldspurger, N. Park, A. Garthwaite, I. Ahmad,
//! Efficient MRC Construction with SHARDS, FAST 2015; with its correction for sampling too many or too
//! few requests (SHARDS-adj).
use super::Curve;
use crate::Input;

/// Disjoint parts of the sample, whose differences tell the error.
const PARTS: u64 = 8;

/// Student's t for 7 degrees of freedom, 95% of both sides.
const T: f64 = 2.365;

/// An estimated curve.
pub struct Estimate {
    rate: f64,
    requests: u64,
    whole: Sampled,
    parts: Vec<Sampled>,
}

struct Sampled {
    rate: f64,
    curve: Curve,
    /// Requests of the trace times the rate: what a fair sample would have had.
    expected: f64,
}

impl Sampled {
    fn new(ids: &[u32], objects: u32, rate: f64, requests: u64) -> Sampled {
        // Ids within bounds, for they were renumbered here.
        let histogram = super::distances::histogram(ids, objects, &mut |_| {});
        let mut sum = 0;
        let hits = std::iter::once(0)
            .chain(histogram.iter().map(|&count| {
                sum += u64::from(count);
                sum
            }))
            .collect();
        Sampled {
            rate,
            curve: Curve {
                requests: ids.len() as u64,
                hits,
            },
            expected: requests as f64 * rate,
        }
    }

    fn miss_ratio(&self, size: u64) -> f64 {
        let scaled = (size as f64 * self.rate).round() as u64;
        let misses = self.curve.misses(scaled) as f64;
        // What the sample has too many or too few are hot objects' requests, which hit at any size.
        let hits =
            self.curve.requests() as f64 - misses + self.expected - self.curve.requests() as f64;
        (1.0 - hits / self.expected.max(1.0)).clamp(0.0, 1.0)
    }
}

impl Estimate {
    /// Samples so many of the objects, 0 to 1.
    pub fn lru(input: &Input, rate: f64) -> Estimate {
        let threshold = (rate.clamp(0.0, 1.0) * 2f64.powi(32)) as u64;
        let pick = |part: Option<u64>| {
            let mut names = vec![u32::MAX; input.objects() as usize];
            let mut objects = 0;
            let mut ids = Vec::new();
            for &id in input.ids() {
                let hash = hash(id);
                let wanted = part.is_none_or(|part| hash >> 32 & (PARTS - 1) == part);
                if (hash & 0xffff_ffff) < threshold && wanted {
                    let name = &mut names[id as usize];
                    if *name == u32::MAX {
                        *name = objects;
                        objects += 1;
                    }
                    ids.push(*name);
                }
            }
            let rate = rate / part.map_or(1.0, |_| PARTS as f64);
            Sampled::new(&ids, objects, rate, input.ids().len() as u64)
        };
        Estimate {
            rate,
            requests: input.ids().len() as u64,
            whole: pick(None),
            parts: (0..PARTS).map(|part| pick(Some(part))).collect(),
        }
    }

    /// Share of the objects that were looked at.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Requests of the whole trace.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Miss ratio at a size, and half the width of its 95% interval, from how much the parts of the
    /// sample differ.
    pub fn miss_ratio(&self, size: u64) -> (f64, f64) {
        let ratios: Vec<f64> = self
            .parts
            .iter()
            .map(|part| part.miss_ratio(size))
            .collect();
        let n = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / n;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (self.whole.miss_ratio(size), T * (variance / n).sqrt())
    }
}

/// Which objects are sampled must have nothing to do with the order of their numbers.
fn hash(id: u32) -> u64 {
    let mut x = u64::from(id).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}
