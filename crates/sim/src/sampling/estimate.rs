//! The miss ratio of the whole trace and its 95% interval.
use super::not_available::{NotAvailable, LEAST_DECISIVE};
use super::sizes::Sizes;
use super::student::t_975;
use super::tally::{Part, Tally};

/// The trace that a sample is of.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Requests of the whole trace.
    pub requests: u64,
    /// The probability with which an object is in the sample, more than 0 and at most 1.
    pub rate: f64,
}

/// An estimated miss ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Of the whole trace.
    pub miss_ratio: f64,
    /// The ends of the 95% interval, from 0 to 1. The estimate is not always in the middle.
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// The estimate for one size.
    ///
    /// **The estimator.** With sampling probability p, the sampled objects S, and their misses m_i in a
    /// cache of k = p c objects, the misses of the whole trace are estimated by (1/p) sum m_i (D. Horvitz
    /// and D. Thompson, 1952). This is SHARDS with its correction (SHARDS-adj): surplus or missing
    /// requests of the sample count as hits.
    ///
    /// **Its error** has two causes, and both are sums over the sampled objects. Other objects would
    /// have brought other m_i. And they would have filled the cache differently: with n(t) sampled
    /// objects among those that the whole trace's cache holds at time t, the sample's cache acts as one
    /// that is (k - n(t)) / p objects larger. The first-order effect of an object on the estimate is
    /// therefore (linearisation of an implicit estimator: J.-C. Deville, Survey Methodology 25, 1999)
    ///
    /// ```text
    /// u_i = m_i + sum over t of h(t) o_i(t)
    /// ```
    ///
    /// where o_i(t) is 1 while the cache holds i, and h(t) are the hits at t that one more object of
    /// room gains. [`Tally`] counts them between k and k -+ 1.96 sqrt(k (1-p)): a secant, because a loop's
    /// curve is a step (R. Woodruff, Journal of the American Statistical Association 47, 1952, inverts
    /// quantiles so). The steeper side counts.
    ///
    /// **The variance** of a sum over objects that are drawn independently is (1-p) sum u_i^2, in requests
    /// of the sample. Its degrees of freedom are (sum u_i^2)^2 / sum u_i^4 (F. Satterthwaite, 1946): where
    /// few objects decide, Student's t is wide. Upwards the variance grows with the estimate, as in
    /// the score interval of E. Wilson (1927), so the upper end solves
    /// (x - estimate)^2 = t^2 variance x / estimate. Downwards it does not shrink, since a step may lie there.
    ///
    /// # Errors
    /// Too few objects decide the result.
    pub fn of(tally: &Tally, sizes: &Sizes, whole: Whole) -> Result<Estimate, NotAvailable> {
        let scale = whole.requests as f64 * whole.rate;
        let [below, above] = tally.slopes(sizes);
        let off = sizes.exact - sizes.simulated[1] as f64;
        let slope = if off < 0.0 { below } else { above };
        let miss_ratio = ((tally.misses() as f64 - off * slope) / scale).clamp(0.0, 1.0);
        if whole.rate >= 1.0 {
            return Ok(Estimate {
                miss_ratio,
                low: miss_ratio,
                high: miss_ratio,
            });
        }
        let sides = [0, 1].map(|side| Spread::of(tally.parts(sizes), side));
        let wider = if sides[0].squares >= sides[1].squares {
            0
        } else {
            1
        };
        let Spread { squares, freedom } = sides[wider];
        if freedom < LEAST_DECISIVE {
            return Err(NotAvailable::Objects);
        }
        let half = t_975(freedom) * ((1.0 - whole.rate) * squares).sqrt() / scale;
        let skew = half * half / (2.0 * miss_ratio.max(f64::MIN_POSITIVE));
        Ok(Estimate {
            miss_ratio,
            low: (miss_ratio - half).max(0.0),
            high: (miss_ratio + skew + (half * half + skew * skew).sqrt()).min(1.0),
        })
    }
}

/// Sums over the effects u_i of the objects.
struct Spread {
    squares: f64,
    /// Degrees of freedom of `squares`: the number of objects that decide, in effect.
    freedom: f64,
}

impl Spread {
    fn of(parts: impl Iterator<Item = Part>, side: usize) -> Spread {
        let (mut squares, mut fourths) = (0.0, 0.0);
        for part in parts {
            let square = (part.misses + part.held[side].abs()).powi(2);
            squares += square;
            fourths += square * square;
        }
        Spread {
            squares,
            freedom: if fourths > 0.0 {
                squares * squares / fourths
            } else {
                0.0
            },
        }
    }
}
