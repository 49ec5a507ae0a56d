//! The run's arms beside a published table.
use super::figures::{self, Across};
use super::measure::{self, Measure};
use super::spread::{Domain, Spread};
use super::stats;
use super::{ratio, Context};
use protocol::comparison::{Change, Comparison, ComparisonRow};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct ComparisonStudy {
    pub comparison: Comparison,
    /// One for each row of the comparison.
    pub rows: Vec<RowStudy>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RowStudy {
    /// The change that the source gives.
    pub published: Option<f64>,
    /// The arm `from`; none where no trial gave a number.
    pub from: Option<Across>,
    /// The arms of `to`, in order.
    pub to: Vec<Compared>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    pub arm: String,
    pub across: Option<Across>,
    /// The change against the arm `from`.
    pub change: Option<f64>,
    /// The spread of the change: a range of two or three trials, a 95 % confidence interval from four on.
    pub spread: Option<Spread>,
    /// Why there is no change; empty where there is one.
    pub why: String,
    pub sign: Sign,
}

/// How the sign of a change agrees with the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    Same,
    Other,
    /// The interval of the change has both signs, or there is none.
    Unclear,
    /// One of the two changes is missing.
    None,
}

pub(crate) fn study(comparisons: &[Comparison], context: &Context) -> Vec<ComparisonStudy> {
    let one = |comparison: &Comparison| ComparisonStudy {
        rows: { comparison.rows.iter() }
            .map(|row| row_study(comparison, row, context))
            .collect(),
        comparison: comparison.clone(),
    };
    comparisons.iter().map(one).collect()
}

fn row_study(comparison: &Comparison, row: &ComparisonRow, context: &Context) -> RowStudy {
    let measure = Measure {
        scene: &comparison.scene,
        metric: &row.metric,
        statistic: row.statistic,
    };
    let trials = |arm: &str| -> Vec<(u32, f64)> {
        let own = context.trials.iter().filter(|trial| trial.arm == arm);
        let well = own.filter(|trial| trial.outcome == protocol::record::Outcome::Ok);
        well.filter_map(|trial| {
            let number = measure::number(trial, measure, context.known).ok()?;
            Some((trial.repetition, number))
        })
        .collect()
    };
    let across = |trials: &[(u32, f64)]| {
        let numbers: Vec<f64> = trials.iter().map(|(_, number)| *number).collect();
        figures::across(&numbers, &row.unit)
    };
    let published = row.published.change(row.change);
    let base = trials(&comparison.from);
    let to = comparison.to.iter().map(|arm| {
        let own = trials(arm);
        let (change, spread, why) = match change(&own, &base, row.change) {
            Ok((change, spread)) => (Some(change), spread, String::new()),
            Err(why) => (None, None, why.to_string()),
        };
        Compared {
            arm: arm.clone(),
            across: across(&own),
            sign: sign(published, change, spread),
            change,
            spread,
            why,
        }
    });
    RowStudy {
        published,
        from: across(&base),
        to: to.collect(),
    }
}

type Changed = Result<(f64, Option<Spread>), &'static str>;

fn change(own: &[(u32, f64)], base: &[(u32, f64)], how: Change) -> Changed {
    if how == Change::Relative {
        let found = ratio::ratio(own, base)?;
        let spread = found.spread.map(|spread| spread.map(|ratio| ratio - 1.0));
        return Ok((found.value - 1.0, spread));
    }
    let pairs = own.iter().filter_map(|(repetition, number)| {
        let (_, other) = base.iter().find(|(other, _)| other == repetition)?;
        Some(number - other)
    });
    let pairs: Vec<f64> = pairs.collect();
    let mean = stats::mean(&pairs).ok_or("n/a (no value)")?;
    Ok((mean, Spread::of(&pairs, Domain::Any)))
}

fn sign(published: Option<f64>, change: Option<f64>, spread: Option<Spread>) -> Sign {
    let (Some(published), Some(change)) = (published, change) else {
        return Sign::None;
    };
    match spread.and_then(|spread| spread.interval()) {
        Some(interval) if !interval.contains(0.0) => match (published > 0.0) == (change > 0.0) {
            true => Sign::Same,
            false => Sign::Other,
        },
        _ => Sign::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::stats::Interval;

    #[test]
    fn changes_are_of_pairs() {
        let base = [(0, 10.0), (1, 100.0)];
        let own = [(0, 5.0), (1, 50.0), (7, 9.0)];
        let (value, spread) = change(&own, &base, Change::Relative).unwrap();
        assert!((value + 0.5).abs() < 1e-9);
        assert!(spread.unwrap().ends().high < -0.49);
        let (value, _) = change(&own, &base, Change::Difference).unwrap();
        assert_eq!(value, -27.5);
        assert!(change(&[], &base, Change::Difference).is_err());
        assert!(change(&own, &[(0, 0.0)], Change::Relative).is_err());
    }

    #[test]
    fn a_change_has_a_sign_only_where_all_of_its_interval_has_it() {
        let interval = |low, high| Some(Spread::Interval(Interval { low, high }));
        let (wide, narrow) = (interval(-1.0, 0.5), interval(-1.0, -0.5));
        assert_eq!(sign(Some(-0.1), Some(-0.7), narrow), Sign::Same);
        assert_eq!(sign(Some(0.1), Some(-0.7), narrow), Sign::Other);
        assert_eq!(sign(Some(0.1), Some(-0.2), wide), Sign::Unclear);
        assert_eq!(sign(Some(0.1), Some(-0.2), None), Sign::Unclear);
        // The range of two or three trials claims nothing.
        let few = Spread::range(&[-1.0, -0.5]);
        assert_eq!(sign(Some(-0.1), Some(-0.7), few), Sign::Unclear);
        assert_eq!(sign(None, Some(-0.2), narrow), Sign::None);
    }
}
