//! The ratio of an arm to its baseline.
use super::spread::{Spread, TRIALS_FOR_INTERVAL};
use super::stats::{self, Interval};
use protocol::plan::Better;
use serde::Serialize;

/// The ratio of an arm's number to its baseline's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub value: f64,
    /// The range of the ratios of two or three trials, the 95 % confidence interval from four on.
    pub spread: Option<Spread>,
    pub method: Method,
    /// The number of pairs, or of the arm's trials where nothing is paired.
    pub n: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Geometric mean of the ratios of the same repetition. The interval is Student's t on the
    /// logarithms, the range that of these ratios.
    Paired,
    /// Ratio of geometric means. The interval is Welch's on the logarithms, the range from the
    /// lowest number over the baseline's highest to the highest over its lowest.
    Unpaired,
    /// Ratio of arithmetic means, since a zero has no logarithm. The interval is Fieller's where
    /// repetitions are paired, none elsewhere; the range is as for [`Method::Unpaired`].
    Means,
}

/// Whether an arm is better than its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Better,
    Worse,
    /// The interval includes 1, or there is none of four trials or more.
    Unclear,
    /// Fewer than four trials: a range claims nothing.
    TooFew,
    /// Neither direction is better.
    Neutral,
}

impl Ratio {
    pub fn verdict(&self, better: Better) -> Verdict {
        let interval = self.spread.and_then(|spread| spread.interval());
        match (better, interval) {
            (Better::Neutral, _) => Verdict::Neutral,
            (_, None) if self.n < TRIALS_FOR_INTERVAL || self.spread.is_some() => Verdict::TooFew,
            (_, None) => Verdict::Unclear,
            (_, Some(interval)) if interval.contains(1.0) => Verdict::Unclear,
            (Better::Higher, _) if self.value > 1.0 => Verdict::Better,
            (Better::Lower, _) if self.value < 1.0 => Verdict::Better,
            _ => Verdict::Worse,
        }
    }
}

/// The ratio of an arm's numbers to its baseline's, each with its repetition. All arms of one
/// repetition share a seed, so that their numbers form pairs.
///
/// # Errors
/// The reason why there is no ratio.
pub fn ratio(arm: &[(u32, f64)], base: &[(u32, f64)]) -> Result<Ratio, &'static str> {
    let numbers = |side: &[(u32, f64)]| side.iter().map(|&(_, v)| v).collect::<Vec<f64>>();
    let (a, b) = (numbers(arm), numbers(base));
    let (Some(mean_a), Some(mean_b)) = (stats::mean(&a), stats::mean(&b)) else {
        return Err(match arm.is_empty() {
            true => "n/a (no value)",
            false => "n/a (no baseline value)",
        });
    };
    if mean_b == 0.0 {
        return Err("n/a (baseline 0)");
    }
    let partner = |r: u32| base.iter().find(|&&(q, _)| q == r).map(|&(_, v)| v);
    let pairs: Vec<(f64, f64)> = arm
        .iter()
        .filter_map(|&(r, v)| Some((v, partner(r)?)))
        .collect();
    if a.iter().chain(&b).any(|&v| v <= 0.0) {
        return Ok(Ratio {
            value: mean_a / mean_b,
            spread: spread_of_means(&a, &b, &pairs),
            method: Method::Means,
            n: a.len(),
        });
    }
    let pairs: Vec<f64> = pairs.iter().map(|(v, w)| (v / w).ln()).collect();
    if pairs.len() >= 2 || (pairs.len() == 1 && a.len() == 1 && b.len() == 1) {
        let spread = match pairs.len() < TRIALS_FOR_INTERVAL {
            true => Spread::range(&pairs),
            false => stats::mean_interval(&pairs).map(Spread::Interval),
        };
        return Ok(Ratio {
            value: stats::mean(&pairs).map_or(f64::NAN, f64::exp),
            spread: spread.map(|spread| spread.map(f64::exp)),
            method: Method::Paired,
            n: pairs.len(),
        });
    }
    let logs = |v: &[f64]| v.iter().map(|x| x.ln()).collect::<Vec<f64>>();
    let (log_a, log_b) = (logs(&a), logs(&b));
    let difference = stats::mean(&log_a).zip(stats::mean(&log_b));
    let spread = match a.len().min(b.len()) < TRIALS_FOR_INTERVAL {
        true => extremes(&a, &b),
        false => stats::difference_interval(&log_a, &log_b)
            .map(|interval| Spread::Interval(interval).map(f64::exp)),
    };
    Ok(Ratio {
        value: difference.map_or(f64::NAN, |(a, b)| (a - b).exp()),
        spread,
        method: Method::Unpaired,
        n: a.len(),
    })
}

/// The spread of the ratio of arithmetic means, where some number is 0. Both means are of numbers
/// that cannot be negative, and so is their ratio: Fieller's interval is cut off at 0.
fn spread_of_means(a: &[f64], b: &[f64], pairs: &[(f64, f64)]) -> Option<Spread> {
    if a.len().min(b.len()) < TRIALS_FOR_INTERVAL {
        return extremes(a, b);
    }
    // An interval must be of the value that it stands beside: of all numbers, all paired.
    let all_paired = pairs.len() == a.len() && pairs.len() == b.len();
    let interval = all_paired.then(|| stats::fieller(pairs)).flatten()?;
    let negative = a.iter().chain(b).any(|&v| v < 0.0);
    let least = if negative { f64::NEG_INFINITY } else { 0.0 };
    Some(Spread::Interval(Interval {
        low: interval.low.max(least),
        high: interval.high.max(least),
    }))
}

/// The lowest and the highest ratio of any number to any of the baseline's. None of single trials,
/// or where the baseline has a zero.
fn extremes(a: &[f64], b: &[f64]) -> Option<Spread> {
    let (low_a, high_a) = (stats::min(a)?, stats::max(a)?);
    let (low_b, high_b) = (stats::min(b)?, stats::max(b)?);
    let several = a.len() > 1 || b.len() > 1;
    (several && low_a >= 0.0 && low_b > 0.0).then_some(Spread::Range(Interval {
        low: low_a / high_b,
        high: high_a / low_b,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_constant_ratio_have_no_spread() {
        // The baseline differs tenfold between repetitions; the ratio does not.
        let r = ratio(
            &[(0, 2.0), (1, 20.0), (2, 200.0), (3, 2000.0)],
            &[(0, 1.0), (1, 10.0), (2, 100.0), (3, 1000.0)],
        )
        .unwrap();
        let interval = r.spread.unwrap().interval().unwrap();
        assert_eq!((r.method, r.n), (Method::Paired, 4));
        for v in [r.value, interval.low, interval.high] {
            assert!((v - 2.0).abs() < 1e-9);
        }
        assert_eq!(r.verdict(Better::Lower), Verdict::Worse);
        assert_eq!(r.verdict(Better::Higher), Verdict::Better);
        assert_eq!(r.verdict(Better::Neutral), Verdict::Neutral);
    }

    #[test]
    fn a_paired_interval_by_hand() {
        // Logs of the ratios: 0, 1, 2 and 1 times ln 2. Their mean is ln 2, the standard error
        // ln 2 sqrt(2/3) / 2, t(3) = 3.18245.
        let r = ratio(
            &[(0, 1.0), (1, 2.0), (2, 4.0), (3, 2.0)],
            &[(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)],
        )
        .unwrap();
        let half = 3.18245 * 2f64.ln() * (2f64 / 3.0).sqrt() / 2.0;
        let interval = r.spread.unwrap().interval().unwrap();
        assert!((r.value - 2.0).abs() < 1e-9);
        assert!((interval.low - 2.0 * (-half).exp()).abs() < 1e-4);
        assert!((interval.high - 2.0 * half.exp()).abs() < 1e-3);
        assert_eq!(r.verdict(Better::Higher), Verdict::Unclear);
    }

    #[test]
    fn repetitions_without_a_partner_are_left_out() {
        let r = ratio(
            &[(0, 2.0), (1, 2.0), (2, 90.0)],
            &[(0, 1.0), (1, 1.0), (3, 7.0)],
        )
        .unwrap();
        assert_eq!((r.method, r.n), (Method::Paired, 2));
        assert!((r.value - 2.0).abs() < 1e-9);
    }

    #[test]
    fn repetitions_without_pairs_fall_back_to_welch() {
        let r = ratio(&[(0, 4.0), (1, 4.0)], &[(2, 2.0), (3, 2.0)]).unwrap();
        assert_eq!(r.method, Method::Unpaired);
        assert!((r.value - 2.0).abs() < 1e-9);
    }

    #[test]
    fn two_or_three_pairs_have_the_range_of_their_ratios_and_no_verdict() {
        let r = ratio(&[(0, 1.0), (1, 3.0)], &[(0, 10.0), (1, 10.0)]).unwrap();
        let Some(Spread::Range(range)) = r.spread else {
            panic!("{r:?}");
        };
        assert!((range.low - 0.1).abs() < 1e-9 && (range.high - 0.3).abs() < 1e-9);
        assert_eq!(r.verdict(Better::Lower), Verdict::TooFew);
        assert_eq!(r.verdict(Better::Neutral), Verdict::Neutral);
        // Nothing paired: the lowest over the highest to the highest over the lowest.
        let r = ratio(&[(0, 2.0), (1, 4.0)], &[(2, 1.0), (3, 2.0)]).unwrap();
        let ends = r.spread.unwrap().ends();
        assert_eq!((ends.low, ends.high), (1.0, 4.0));
    }

    #[test]
    fn a_ratio_of_means_is_not_below_zero() {
        let arm = [(0, 0.0), (1, 0.0), (2, 0.0), (3, 8.0)];
        let base = [(0, 10.0), (1, 11.0), (2, 9.0), (3, 10.0)];
        let pairs: Vec<(f64, f64)> = arm.iter().zip(base).map(|(a, b)| (a.1, b.1)).collect();
        assert!(stats::fieller(&pairs).unwrap().low < 0.0);
        let r = ratio(&arm, &base).unwrap();
        assert_eq!(r.spread.unwrap().interval().unwrap().low, 0.0);
    }

    #[test]
    fn zero_against_many_is_better_and_not_unclear() {
        let none = [(0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0)];
        let many = [(0, 900.0), (1, 910.0), (2, 905.0), (3, 903.0)];
        let r = ratio(&none, &many).unwrap();
        assert_eq!((r.value, r.method), (0.0, Method::Means));
        assert_eq!(r.verdict(Better::Lower), Verdict::Better);
        assert_eq!(r.verdict(Better::Higher), Verdict::Worse);
    }

    #[test]
    fn a_missing_side_or_a_baseline_of_zero_has_no_ratio() {
        assert_eq!(ratio(&[(0, 1.0)], &[(0, 0.0)]), Err("n/a (baseline 0)"));
        assert_eq!(ratio(&[], &[(0, 1.0)]), Err("n/a (no value)"));
        assert_eq!(ratio(&[(0, 1.0)], &[]), Err("n/a (no baseline value)"));
        let some = ratio(&[(0, 0.0), (1, 4.0)], &[(0, 2.0), (2, 6.0)]).unwrap();
        let ends = some.spread.unwrap().ends();
        assert_eq!((some.value, ends.low, ends.high), (0.5, 0.0, 2.0));
        assert_eq!(some.method, Method::Means);
        assert_eq!(some.verdict(Better::Lower), Verdict::TooFew);
        let one = ratio(&[(4, 3.0)], &[(4, 2.0)]).unwrap();
        assert_eq!((one.value, one.spread), (1.5, None));
    }
}
