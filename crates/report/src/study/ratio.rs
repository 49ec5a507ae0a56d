//! An arm against its baseline.
use super::stats::{self, Interval};
use raw::plan::Better;
use serde::Serialize;

/// How many times the baseline's an arm's number is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub value: f64,
    /// 95 %.
    pub interval: Option<Interval>,
    pub method: Method,
    /// Pairs, or trials of the arm where nothing was paired.
    pub n: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Geometric mean of the ratios of the same repetition; interval by Student's t on the
    /// logarithms.
    Paired,
    /// Ratio of geometric means; interval after Welch on the logarithms.
    Unpaired,
    /// Ratio of arithmetic means, since a zero has no logarithm; interval after Fieller where
    /// repetitions are paired, none elsewhere.
    Means,
}

/// What a ratio says of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Better,
    Worse,
    /// The interval includes 1, or there is none.
    Unclear,
    /// Neither direction is better.
    Neutral,
}

impl Ratio {
    pub fn verdict(&self, better: Better) -> Verdict {
        let Some(interval) = self.interval else {
            return match better {
                Better::Neutral => Verdict::Neutral,
                _ => Verdict::Unclear,
            };
        };
        match better {
            Better::Neutral => Verdict::Neutral,
            _ if interval.contains(1.0) => Verdict::Unclear,
            Better::Higher if self.value > 1.0 => Verdict::Better,
            Better::Lower if self.value < 1.0 => Verdict::Better,
            _ => Verdict::Worse,
        }
    }
}

/// Ratio of an arm's numbers to its baseline's, each as (repetition, number). The seed is the same
/// in all arms of one repetition, so that those belong together.
///
/// # Errors
/// Why there is no ratio.
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
        // An interval must be of the value that it stands beside: of all numbers, all paired.
        let all_paired = pairs.len() == a.len() && pairs.len() == b.len();
        return Ok(Ratio {
            value: mean_a / mean_b,
            interval: all_paired.then(|| stats::fieller(&pairs)).flatten(),
            method: Method::Means,
            n: a.len(),
        });
    }
    let pairs: Vec<f64> = pairs.iter().map(|(v, w)| (v / w).ln()).collect();
    let logs = |v: &[f64]| v.iter().map(|x| x.ln()).collect::<Vec<f64>>();
    let unlog = |i: Interval| Interval {
        low: i.low.exp(),
        high: i.high.exp(),
    };
    if pairs.len() >= 2 || (pairs.len() == 1 && a.len() == 1 && b.len() == 1) {
        return Ok(Ratio {
            value: stats::mean(&pairs).map_or(f64::NAN, f64::exp),
            interval: stats::mean_interval(&pairs).map(unlog),
            method: Method::Paired,
            n: pairs.len(),
        });
    }
    let (a, b) = (logs(&a), logs(&b));
    let difference = stats::mean(&a).zip(stats::mean(&b)).map(|(a, b)| a - b);
    Ok(Ratio {
        value: difference.map_or(f64::NAN, f64::exp),
        interval: stats::difference_interval(&a, &b).map(unlog),
        method: Method::Unpaired,
        n: a.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_a_constant_ratio_have_no_spread() {
        // The baseline differs tenfold between repetitions; the ratio does not.
        let r = ratio(
            &[(0, 2.0), (1, 20.0), (2, 200.0)],
            &[(0, 1.0), (1, 10.0), (2, 100.0)],
        )
        .unwrap();
        let interval = r.interval.unwrap();
        assert_eq!((r.method, r.n), (Method::Paired, 3));
        for v in [r.value, interval.low, interval.high] {
            assert!((v - 2.0).abs() < 1e-9);
        }
        assert_eq!(r.verdict(Better::Lower), Verdict::Worse);
        assert_eq!(r.verdict(Better::Higher), Verdict::Better);
        assert_eq!(r.verdict(Better::Neutral), Verdict::Neutral);
    }

    #[test]
    fn a_paired_interval_by_hand() {
        // Logs of the ratios: 0, ln 2, ln 4: mean ln 2, error ln 2 / sqrt 3, t(2) = 4.30265.
        let r = ratio(
            &[(0, 1.0), (1, 2.0), (2, 4.0)],
            &[(0, 1.0), (1, 1.0), (2, 1.0)],
        )
        .unwrap();
        let half = 4.30265 * 2f64.ln() / 3f64.sqrt();
        let interval = r.interval.unwrap();
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
    fn nothing_in_common_falls_back_to_welch() {
        let r = ratio(&[(0, 4.0), (1, 4.0)], &[(2, 2.0), (3, 2.0)]).unwrap();
        assert_eq!(r.method, Method::Unpaired);
        assert!((r.value - 2.0).abs() < 1e-9);
    }

    #[test]
    fn none_at_all_against_many_is_better_and_not_unclear() {
        let r = ratio(&[(0, 0.0), (1, 0.0)], &[(0, 900.0), (1, 910.0)]).unwrap();
        assert_eq!((r.value, r.method), (0.0, Method::Means));
        assert_eq!(r.verdict(Better::Lower), Verdict::Better);
        assert_eq!(r.verdict(Better::Higher), Verdict::Worse);
    }

    #[test]
    fn zeros_and_nothing() {
        assert_eq!(ratio(&[(0, 1.0)], &[(0, 0.0)]), Err("n/a (baseline 0)"));
        assert_eq!(ratio(&[], &[(0, 1.0)]), Err("n/a (no value)"));
        assert_eq!(ratio(&[(0, 1.0)], &[]), Err("n/a (no baseline value)"));
        let some = ratio(&[(0, 0.0), (1, 4.0)], &[(0, 2.0), (2, 6.0)]).unwrap();
        assert_eq!((some.value, some.interval), (0.5, None));
        assert_eq!(some.method, Method::Means);
        assert_eq!(some.verdict(Better::Lower), Verdict::Unclear);
        let one = ratio(&[(4, 3.0)], &[(4, 2.0)]).unwrap();
        assert_eq!((one.value, one.interval), (1.5, None));
    }
}
