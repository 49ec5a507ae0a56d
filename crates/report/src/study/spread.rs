//! The spread of an arm's trials: a range of few trials, a confidence interval of more.
use super::stats::{self, Interval};
use serde::Serialize;

/// The fewest trials that give an interval. Student's t is 4.3 for three trials and 12.7 for two, so
/// that their intervals are wider than most differences.
pub const TRIALS_FOR_INTERVAL: usize = 4;

/// The fewest trials that give an interval of the median: not even all of five enclose it with 95 %.
pub const TRIALS_FOR_MEDIAN: usize = 6;

/// The spread of an arm's trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Spread {
    /// From the lowest to the highest of trials that are too few for an interval. It claims nothing of further trials.
    Range(Interval),
    /// The 95 % confidence interval: of the mean or the ratio from four trials on, of the median from six.
    Interval(Interval),
}

impl Spread {
    /// The spread of numbers about their mean; none of fewer than two numbers.
    pub fn of(values: &[f64], domain: Domain) -> Option<Spread> {
        match values.len() {
            0 | 1 => None,
            n if n < TRIALS_FOR_INTERVAL => Spread::range(values),
            _ => mean_interval(values, domain).map(Spread::Interval),
        }
    }

    /// The spread of numbers about their median: the range where they are too few for an interval
    /// ([`stats::median_interval`]). None of fewer than two numbers.
    pub fn of_median(values: &[f64]) -> Option<Spread> {
        let interval = stats::median_interval(values).map(Spread::Interval);
        interval.or_else(|| Spread::range(values))
    }

    /// The range of numbers; none of fewer than two numbers.
    pub fn range(values: &[f64]) -> Option<Spread> {
        let (low, high) = (stats::min(values)?, stats::max(values)?);
        (values.len() > 1).then_some(Spread::Range(Interval { low, high }))
    }

    /// Both ends, of a range or of an interval.
    pub fn ends(&self) -> Interval {
        match self {
            Spread::Range(ends) | Spread::Interval(ends) => *ends,
        }
    }

    /// The confidence interval; a range is none.
    pub fn interval(&self) -> Option<Interval> {
        match self {
            Spread::Range(_) => None,
            Spread::Interval(ends) => Some(*ends),
        }
    }

    /// The spread with both ends changed by a rising function.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Spread {
        let changed = |ends: Interval| Interval {
            low: change(ends.low),
            high: change(ends.high),
        };
        match self {
            Spread::Range(ends) => Spread::Range(changed(ends)),
            Spread::Interval(ends) => Spread::Interval(changed(ends)),
        }
    }
}

/// The values that a quantity can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any number, as for differences.
    Any,
    /// Zero and above, as for times, counts and sizes.
    Positive,
    /// From 0 to 1, as for shares.
    Share,
}

impl Domain {
    /// The domain of numbers with this unit. `%` marks a share where no number is above 1. Other numbers of
    /// which none is negative are times, counts or sizes, and cannot be negative.
    pub fn of(values: &[f64], unit: &str) -> Domain {
        match values {
            _ if values.iter().any(|&v| v < 0.0) => Domain::Any,
            _ if unit == "%" && values.iter().all(|&v| v <= 1.0) => Domain::Share,
            _ => Domain::Positive,
        }
    }
}

/// 95 % confidence interval of the mean that stays within the domain; none of fewer than two values.
///
/// Let `m` be the mean, `s` its standard error and `t` Student's 97.5 % quantile. On the plain scale
/// the interval is `m ± t s`, which reaches below zero where times are few and far apart. To first
/// order the error of `g(m)` is `g'(m) s` (the delta method), so that the interval can be taken on a
/// scale without the bound and brought back:
///
/// - times and counts, `g = ln`, `g' = 1/m`: from `m exp(-t s/m)` to `m exp(t s/m)`;
/// - shares, `g = logit`, `g' = 1/(m (1 - m))`: the logistic function of
///   `logit m ± t s/(m (1 - m))`.
///
/// Both contain the mean, and both tend to `m ± t s` as `s` becomes small. A mean on the bound has
/// no spread, for all its values are on the bound.
pub fn mean_interval(values: &[f64], domain: Domain) -> Option<Interval> {
    let plain = stats::mean_interval(values)?;
    let mean = stats::mean(values)?;
    let half = (plain.high - plain.low) / 2.0;
    let on_bound = mean <= 0.0 || (domain == Domain::Share && mean >= 1.0);
    match domain {
        Domain::Any => Some(plain),
        _ if half == 0.0 || on_bound => Some(Interval {
            low: mean,
            high: mean,
        }),
        Domain::Positive => Some(Interval {
            low: mean * (-half / mean).exp(),
            high: mean * (half / mean).exp(),
        }),
        Domain::Share => {
            let odds = mean / (1.0 - mean);
            let factor = (half / (mean * (1.0 - mean))).exp();
            let share = |odds: f64| odds / (1.0 + odds);
            Some(Interval {
                low: share(odds / factor),
                high: share(odds * factor).min(1.0),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-4 * b.abs(), "{a} is not near {b}");
    }

    #[test]
    fn two_and_three_trials_have_a_range_and_four_an_interval() {
        assert_eq!(Spread::of(&[], Domain::Any), None);
        assert_eq!(Spread::of(&[3.0], Domain::Any), None);
        let ends = Interval {
            low: 1.0,
            high: 3.0,
        };
        let three = Spread::of(&[3.0, 1.0, 2.0], Domain::Positive);
        assert_eq!(three, Some(Spread::Range(ends)));
        assert_eq!(three.unwrap().interval(), None);
        let four = Spread::of(&[3.0, 1.0, 2.0, 2.0], Domain::Positive).unwrap();
        assert!(four.interval().is_some());
    }

    #[test]
    fn the_kind_of_a_spread_is_in_its_json() {
        let json = |values: &[f64]| serde_json::to_value(Spread::of(values, Domain::Any)).unwrap();
        let three = json(&[1.0, 2.0, 3.0]);
        assert_eq!(three["kind"], "range");
        assert_eq!(
            (three["low"].as_f64(), three["high"].as_f64()),
            (Some(1.0), Some(3.0))
        );
        assert_eq!(json(&[1.0, 2.0, 3.0, 4.0])["kind"], "interval");
    }

    #[test]
    fn a_time_has_no_interval_below_zero() {
        // Mean 25, standard error 25, t(3) = 3.18245: on the plain scale down to -54.6.
        let values = [100.0, 0.0, 0.0, 0.0];
        assert!(stats::mean_interval(&values).unwrap().low < 0.0);
        let interval = mean_interval(&values, Domain::of(&values, "ms")).unwrap();
        near(interval.low, 25.0 * (-3.18245f64).exp());
        near(interval.high, 25.0 * 3.18245f64.exp());
    }

    #[test]
    fn a_share_has_no_interval_outside_0_to_1() {
        let values = [1.0, 0.99, 1.0, 0.9];
        assert!(stats::mean_interval(&values).unwrap().high > 1.0);
        let interval = mean_interval(&values, Domain::of(&values, "%")).unwrap();
        assert!(0.0 < interval.low && interval.high < 1.0, "{interval:?}");
        assert!(interval.contains(0.9725), "{interval:?}");
        for same in [0.0, 0.3, 1.0] {
            let still = mean_interval(&[same; 4], Domain::Share).unwrap();
            assert_eq!((still.low, still.high), (same, same));
        }
    }

    #[test]
    fn a_median_has_an_interval_of_its_own_from_six_trials_on() {
        let ends = |low, high| Interval { low, high };
        let five = Spread::of_median(&[5.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(five, Some(Spread::Range(ends(1.0, 5.0))));
        // The tables of the sign test: the outermost of 6 to 8, the second of 9 to 11, the third of 12.
        for (n, k) in [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (20, 6)] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let (low, high) = (f64::from(k), f64::from(n + 1 - k));
            let found = Spread::of_median(&values);
            assert_eq!(found, Some(Spread::Interval(ends(low, high))), "{n}");
        }
        assert_eq!(Spread::of_median(&[1.0]), None);
    }

    /// One long wait makes the interval of the mean exclude the median; that of the median does not.
    #[test]
    fn the_interval_of_a_median_contains_it_and_lies_within_the_values() {
        let values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.5, 900.0];
        let median = stats::median(&values).unwrap();
        let interval = Spread::of_median(&values).unwrap().interval().unwrap();
        assert!(interval.contains(median), "{interval:?}");
        assert!(interval.low >= 0.0 && interval.high <= 900.0);
    }

    #[test]
    fn narrow_intervals_are_students_on_every_scale() {
        let values = [0.5, 0.5001, 0.4999, 0.5];
        let plain = stats::mean_interval(&values).unwrap();
        for domain in [Domain::Positive, Domain::Share] {
            let other = mean_interval(&values, domain).unwrap();
            near(other.low, plain.low);
            near(other.high, plain.high);
        }
    }

    #[test]
    fn the_domain_follows_from_unit_and_values() {
        assert_eq!(Domain::of(&[0.2, 1.0], "%"), Domain::Share);
        assert_eq!(Domain::of(&[0.2, 1.4], "%"), Domain::Positive);
        assert_eq!(Domain::of(&[0.2, 9.0], "ms"), Domain::Positive);
        assert_eq!(Domain::of(&[-0.2, 0.1], "%"), Domain::Any);
    }
}
