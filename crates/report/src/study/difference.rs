//! The difference that a setting makes: found, or bounded.
use super::figures::Cell;
use super::spread::TRIALS_FOR_INTERVAL;
use super::stats::Interval;
use serde::Serialize;

/// What pairs of runs say about one figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// All of the 95 % interval of the ratio lies on one side of 1.
    Found { ratio: f64, interval: Interval },
    /// The interval contains 1. With 95 % the ratio is within `bound` of 1; none where the interval
    /// has no upper end.
    NotFound { ratio: f64, bound: Option<f64> },
    /// Every run of both settings has the value 0.
    NoneAtAll,
    /// Too few pairs for an interval.
    TooFew { ratio: f64 },
    /// The baseline's mean is 0, so that there is no ratio.
    NoRatio,
    /// A setting has no value.
    NoValue,
}

/// The difference of a setting to its baseline.
pub fn difference(cell: &Cell, baseline: &Cell) -> Difference {
    let (Some(own), Some(base)) = (&cell.across, &baseline.across) else {
        return Difference::NoValue;
    };
    if own.max == 0.0 && base.max == 0.0 && own.min == 0.0 && base.min == 0.0 {
        return Difference::NoneAtAll;
    }
    let Some(found) = &cell.ratio else {
        return Difference::NoRatio;
    };
    let ratio = found.value;
    let interval = found.spread.and_then(|spread| spread.interval());
    match interval {
        Some(interval) if !interval.contains(1.0) => Difference::Found { ratio, interval },
        Some(Interval { low, high }) => Difference::NotFound {
            ratio,
            bound: high.is_finite().then(|| (high - 1.0).max(1.0 - low)),
        },
        None if found.n < TRIALS_FOR_INTERVAL => Difference::TooFew { ratio },
        None => Difference::NotFound { ratio, bound: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::figures::across;
    use crate::study::ratio::ratio;

    fn of(a: &[f64], b: &[f64]) -> Difference {
        let cell = |values: &[f64]| Cell {
            arm: String::new(),
            trials: { values.iter().enumerate() }
                .map(|(r, &v)| (r as u32, v))
                .collect(),
            across: across(values, ""),
            pooled: None,
            ratio: None,
            no_ratio: None,
            gaps: Vec::new(),
        };
        let (base, mut own) = (cell(a), cell(b));
        own.ratio = ratio(&own.trials, &base.trials).ok();
        difference(&own, &base)
    }

    #[test]
    fn a_difference_is_found_or_bounded() {
        let found = of(&[10.0, 11.0, 9.0, 10.0], &[5.0, 5.4, 4.6, 5.1]);
        assert!(matches!(found, Difference::Found { ratio, .. } if (ratio - 0.5).abs() < 0.02));
        // Logs of the ratios: 0.01, -0.01, 0.01, -0.01: mean 0, error 0.0115 / 2, t(3) = 3.18.
        let e = 0.01f64.exp();
        let Difference::NotFound { bound, .. } =
            of(&[1.0, 1.0, 1.0, 1.0], &[e, 1.0 / e, e, 1.0 / e])
        else {
            panic!("a difference was found");
        };
        let half = 3.18245 * (4.0f64 * 1e-4 / 3.0).sqrt() / 2.0;
        assert!(
            (bound.unwrap() - (half.exp() - 1.0)).abs() < 1e-6,
            "{bound:?}"
        );
    }

    #[test]
    fn zeros_and_few_pairs_claim_nothing() {
        assert_eq!(of(&[0.0; 4], &[0.0; 4]), Difference::NoneAtAll);
        assert_eq!(of(&[0.0; 4], &[3.0; 4]), Difference::NoRatio);
        assert_eq!(of(&[], &[3.0]), Difference::NoValue);
        assert_eq!(
            of(&[4.0, 4.0], &[2.0, 2.0]),
            Difference::TooFew { ratio: 0.5 }
        );
        // Zeros on one side against many on the other are a difference.
        let found = of(&[900.0, 910.0, 905.0, 903.0], &[0.0; 4]);
        assert!(matches!(found, Difference::Found { ratio, .. } if ratio == 0.0));
        // A baseline that is mostly 0 has a ratio without bounds.
        let found = of(&[0.0, 0.0, 0.0, 8.0], &[2.0, 3.0, 2.0, 4.0]);
        assert!(
            matches!(found, Difference::NotFound { bound: None, .. }),
            "{found:?}"
        );
    }
}
