//! The statistics of a report, as functions of numbers.
use serde::Serialize;

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

/// The arithmetic mean; none of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Quantile `q` (0 to 1) by linear interpolation between order statistics: with `n` sorted values
/// it lies at position `q * (n - 1)`. This is definition 7 of Hyndman and Fan, "Sample Quantiles in
/// Statistical Packages", The American Statistician 50 (1996), 361-365; R and NumPy default to it.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let fraction = position - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * fraction)
}

/// The middle value, or the mean of the middle two of an even number of values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The 90 % quantile; see [`quantile`].
pub fn p90(values: &[f64]) -> Option<f64> {
    quantile(values, 0.9)
}

/// The 99 % quantile; see [`quantile`].
pub fn p99(values: &[f64]) -> Option<f64> {
    quantile(values, 0.99)
}

pub fn max(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}

pub fn min(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
}

/// Unbiased sample variance (divisor `n - 1`); needs two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// 95 % confidence interval of the mean after Student; `None` with fewer than two values.
pub fn mean_interval(values: &[f64]) -> Option<Interval> {
    let centre = mean(values)?;
    let error = (variance(values)? / values.len() as f64).sqrt();
    let half = t_quantile_975(values.len() as u32 - 1) * error;
    Some(Interval {
        low: centre - half,
        high: centre + half,
    })
}

/// Confidence interval of the median, of at least 95 %, from order statistics: it ends at the `k`th value
/// from either side, where the chance that fewer than `k` values lie below the median, by the binomial
/// distribution, is 2.5 % at the most. It supposes nothing about the distribution of the values, and lies
/// within them. None of fewer than six values, whose outermost ones do not enclose 95 %.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The chance of exactly `k` values below, and of `k` at the most.
    let mut exactly = 0.5f64.powi(n as i32);
    let mut at_most = exactly;
    let mut found = None;
    for k in 0..n / 2 {
        if at_most > 0.025 {
            break;
        }
        found = Some(Interval {
            low: sorted[k],
            high: sorted[n - 1 - k],
        });
        exactly *= (n - k) as f64 / (k + 1) as f64;
        at_most += exactly;
    }
    found
}

/// 95 % confidence interval of the difference of two means with unequal variances (Welch). The
/// degrees of freedom (Welch-Satterthwaite) are rounded down, which widens the interval.
pub fn difference_interval(a: &[f64], b: &[f64]) -> Option<Interval> {
    let (va, vb) = (variance(a)? / a.len() as f64, variance(b)? / b.len() as f64);
    let centre = mean(a)? - mean(b)?;
    let spread = va + vb;
    let half = if spread == 0.0 {
        0.0
    } else {
        let df = spread.powi(2)
            / (va.powi(2) / (a.len() - 1) as f64 + vb.powi(2) / (b.len() - 1) as f64);
        t_quantile_975(df.floor().max(1.0) as u32) * spread.sqrt()
    };
    Some(Interval {
        low: centre - half,
        high: centre + half,
    })
}

/// 95 % confidence interval of the ratio of the means of paired values (first over second): the
/// ratios `r` for which Student's t cannot distinguish the mean of `a - r * b` from 0. None with fewer
/// than two pairs, and where Student's t cannot distinguish the second mean from 0: no bounds exist.
/// E. C. Fieller, "Some Problems in Interval Estimation", Journal of the Royal Statistical Society B
/// 16 (1954), 175-185.
pub fn fieller(pairs: &[(f64, f64)]) -> Option<Interval> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (ma, mb) = (mean(&a)?, mean(&b)?);
    let n = pairs.len() as f64;
    let products: f64 = pairs.iter().map(|(x, y)| (x - ma) * (y - mb)).sum();
    let share = t_quantile_975(pairs.len().checked_sub(2)? as u32 + 1).powi(2) / n;
    // The bounds are the roots of  square * r^2 - 2 * linear * r + constant.
    let square = mb * mb - share * variance(&b)?;
    let linear = ma * mb - share * products / (n - 1.0);
    let constant = ma * ma - share * variance(&a)?;
    if square <= 0.0 {
        return None;
    }
    let root = (linear * linear - square * constant).max(0.0).sqrt();
    Some(Interval {
        low: (linear - root) / square,
        high: (linear + root) / square,
    })
}

/// The 97.5 % quantile of Student's t with `df` degrees of freedom (at least 1): the factor of a
/// two-sided 95 % interval. Found by bisection on [`t_inside`], to 1e-10.
pub fn t_quantile_975(df: u32) -> f64 {
    // 12.706... is the quantile for one degree of freedom, the largest there is.
    let (mut low, mut high) = (1.9, 12.8);
    while high - low > 1e-10 {
        let middle = (low + high) / 2.0;
        if t_inside(middle, df.max(1)) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The probability that |T| < t, by the finite series for whole degrees of freedom: Abramowitz and
/// Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
fn t_inside(t: f64, df: u32) -> f64 {
    let angle = (t / f64::from(df).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = df % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= df {
        sum += term;
        power += 2;
        term *= cos * cos * f64::from(power - 1) / f64::from(power);
    }
    if odd {
        std::f64::consts::FRAC_2_PI * (angle + sin * sum)
    } else {
        sin * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, by: f64) {
        assert!((a - b).abs() <= by, "{a} is not within {by} of {b}");
    }

    #[test]
    fn t_quantiles_are_those_of_the_printed_tables() {
        for (df, known) in [
            (1, 12.7062),
            (2, 4.30265),
            (3, 3.18245),
            (4, 2.77645),
            (5, 2.57058),
            (9, 2.26216),
            (10, 2.22814),
            (29, 2.04523),
            (30, 2.04227),
            (60, 2.00030),
            (120, 1.97993),
            (1000, 1.96234),
        ] {
            near(t_quantile_975(df), known, 5e-5);
        }
    }

    #[test]
    fn medians_of_odd_even_one_and_none() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn p90_interpolates_between_order_statistics() {
        // Position 0.9 * 10 = 9 of eleven values: the tenth exactly.
        let eleven: Vec<f64> = (0..11).map(f64::from).collect();
        assert_eq!(p90(&eleven), Some(9.0));
        // Position 0.9 * 4 = 3.6: between 4 and 5.
        near(p90(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap(), 4.6, 1e-12);
        assert_eq!(p90(&[2.0]), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Some(2.0));
    }

    #[test]
    fn interval_of_the_mean_of_a_worked_example() {
        // 1..5: mean 3, s = sqrt(2.5), t(4) = 2.77645: half = 2.77645 * sqrt(2.5 / 5) = 1.96324.
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        near(interval.low, 3.0 - 1.96324, 1e-4);
        near(interval.high, 3.0 + 1.96324, 1e-4);
        assert_eq!(mean_interval(&[3.0]), None);
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn welch_interval_of_a_worked_example() {
        // Means 2 and 5, variances 1 and 1, n 3: error sqrt(2/3), df 4.
        let interval = difference_interval(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        let half = 2.77645 * (2.0f64 / 3.0).sqrt();
        near(interval.low, 3.0 - half, 1e-4);
        near(interval.high, 3.0 + half, 1e-4);
        let still = difference_interval(&[2.0, 2.0], &[1.0, 1.0]).unwrap();
        assert_eq!((still.low, still.high), (1.0, 1.0));
    }

    #[test]
    fn fieller_bounds_are_where_the_t_test_turns() {
        let pairs = [(1.0, 10.0), (0.0, 12.0), (2.0, 11.0), (1.5, 9.0)];
        let interval = fieller(&pairs).unwrap();
        assert!(interval.contains(4.5 / 42.0));
        for r in [interval.low, interval.high] {
            let rest: Vec<f64> = pairs.iter().map(|(a, b)| a - r * b).collect();
            let t = mean(&rest).unwrap() / (variance(&rest).unwrap() / 4.0).sqrt();
            near(t.abs(), 3.18245, 1e-4);
        }
        // Without spread the bounds meet; a second mean like 0 has none; nor has one pair.
        let flat = fieller(&[(0.0, 5.0), (0.0, 5.0)]).unwrap();
        assert_eq!((flat.low, flat.high), (0.0, 0.0));
        assert_eq!(fieller(&[(1.0, -5.0), (1.0, 5.0)]), None);
        assert_eq!(fieller(&[(1.0, 2.0)]), None);
    }

    #[test]
    fn variance_of_a_worked_example() {
        near(
            variance(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap(),
            32.0 / 7.0,
            1e-12,
        );
        assert_eq!(variance(&[1.0]), None);
    }
}
