//! The distribution of requests over objects, and a zipf law fitted to it.

/// A zipf law fitted to the popular objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZipfFit {
    /// Popularity falls with rank^-alpha.
    pub alpha: f64,
    /// The number of fitted ranks: objects with at least [`ZipfFit::LEAST`] requests.
    pub ranks: u32,
    /// The largest gap between the fitted and the actual share of requests up to a rank
    /// (the Kolmogorov-Smirnov distance). Below 0.05 the fit is close. Above 0.2 the trace follows no zipf law.
    pub distance: f64,
}

impl ZipfFit {
    /// Objects with fewer requests are ranked by chance more than by popularity.
    pub const LEAST: u32 = 10;
}

/// Requests of each object.
#[derive(Clone, Debug)]
pub struct Popularity {
    /// The number of requests of each object, largest first.
    pub counts: Vec<u32>,
    /// The number of objects that are requested once.
    pub one_hit_wonders: u32,
    /// A fit by maximum likelihood. None with fewer than 10 popular objects.
    pub zipf: Option<ZipfFit>,
    requests: u64,
}

impl Popularity {
    pub(super) fn of(mut counts: Vec<u32>, requests: u64) -> Popularity {
        counts.sort_unstable_by(|a, b| b.cmp(a));
        Popularity {
            one_hit_wonders: (counts.len() - counts.partition_point(|&c| c > 1)) as u32,
            zipf: fit(&counts),
            counts,
            requests,
        }
    }

    /// The share of requests for the `objects` most popular objects.
    pub fn share_of_top(&self, objects: usize) -> f64 {
        let top = &self.counts[..objects.min(self.counts.len())];
        let sum: u64 = top.iter().map(|&c| u64::from(c)).sum();
        match self.requests {
            0 => 0.0,
            n => sum as f64 / n as f64,
        }
    }

    /// The number of requests of the object of median popularity; 0 without objects.
    pub fn median(&self) -> u32 {
        self.counts.get(self.counts.len() / 2).copied().unwrap_or(0)
    }
}

fn fit(counts: &[u32]) -> Option<ZipfFit> {
    let popular = &counts[..counts.partition_point(|&c| c >= ZipfFit::LEAST)];
    if popular.len() < 10 {
        return None;
    }
    let total: f64 = popular.iter().map(|&c| f64::from(c)).sum();
    let ranked = (1u32..).zip(popular);
    let logs: f64 = ranked.map(|(k, &c)| f64::from(c) * f64::from(k).ln()).sum();
    let ranks = popular.len() as u32;
    // The log-likelihood is concave in alpha.
    let likelihood = |alpha: f64| -alpha * logs - total * harmonic(ranks, alpha).ln();
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..100 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        match likelihood(a) < likelihood(b) {
            true => low = a,
            false => high = b,
        }
    }
    let alpha = (low + high) / 2.0;
    let all = harmonic(ranks, alpha);
    let (mut actual, mut fitted, mut distance) = (0.0, 0.0, 0.0f64);
    for (rank, &count) in (1u32..).zip(popular) {
        actual += f64::from(count) / total;
        fitted += f64::from(rank).powf(-alpha) / all;
        distance = distance.max((actual - fitted).abs());
    }
    Some(ZipfFit {
        alpha,
        ranks,
        distance,
    })
}

/// The sum of k^-alpha for k from 1 to n, to a relative error below 1e-9. The first terms are added one
/// by one, and the rest follows from the Euler-Maclaurin formula.
fn harmonic(n: u32, alpha: f64) -> f64 {
    const EXACT: u32 = 100;
    let term = |k: f64| k.powf(-alpha);
    let head: f64 = (1..=n.min(EXACT)).map(|k| term(f64::from(k))).sum();
    if n <= EXACT {
        return head;
    }
    let (a, b) = (f64::from(EXACT), f64::from(n));
    let integral = match (alpha - 1.0).abs() < 1e-9 {
        true => (b / a).ln(),
        false => (b.powf(1.0 - alpha) - a.powf(1.0 - alpha)) / (1.0 - alpha),
    };
    let slope = |k: f64| -alpha * k.powf(-alpha - 1.0);
    head + integral + (term(b) - term(a)) / 2.0 + (slope(b) - slope(a)) / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonic_numbers() {
        for n in [1, 100, 101, 5000, 200_000] {
            for alpha in [0.0, 0.5, 0.99999, 1.0, 1.7, 5.0] {
                let plain: f64 = (1..=n).map(|k| f64::from(k).powf(-alpha)).sum();
                let error = (harmonic(n, alpha) / plain - 1.0).abs();
                assert!(error < 1e-9, "{n}, {alpha}: {error}");
            }
        }
    }

    #[test]
    fn a_zipf_law_is_found_again() {
        for alpha in [0.6, 1.0, 1.4] {
            let law = |k: u32| (1e7 * f64::from(k).powf(-alpha)).round() as u32;
            let found = fit(&(1..=1000).map(law).collect::<Vec<_>>()).unwrap();
            assert!((found.alpha - alpha).abs() < 0.002, "{found:?}");
            assert!(found.distance < 0.002, "{found:?}");
        }
        // Two kinds of objects are no zipf law.
        let found = fit(&[vec![1000; 500], vec![10; 500]].concat()).unwrap();
        assert!(found.distance > 0.1, "{found:?}");
        assert_eq!(fit(&[9; 100]), None);
    }
}
