//! The figures of each arm over its repetitions.
use super::measure::{self, Measure, Missing};
use super::ratio::{self, Ratio};
use super::spread::{Domain, Spread};
use super::stats;
use super::{ArmStudy, Context};
use protocol::plan::Figure;
use serde::Serialize;
use std::collections::BTreeMap;

/// A figure of the plan, for every arm.
#[derive(Clone, Debug, Serialize)]
pub struct FigureStudy {
    pub figure: Figure,
    /// One cell for each arm, in the run's order.
    pub cells: Vec<Cell>,
    /// The reason why no arm of the run has a number of this figure: the metric was not recorded, or the
    /// scene did not run. None where some trial has a number, or should have one.
    pub unmeasured: Option<Missing>,
}

/// A figure of one arm. Its numbers are as recorded: with the unit "%", a share of 97 % is 0.97.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub arm: String,
    /// The repetition and the number of each trial that gave one.
    pub trials: Vec<(u32, f64)>,
    pub across: Option<Across>,
    pub pooled: Option<Pooled>,
    pub ratio: Option<Ratio>,
    /// The reason for a missing ratio to the baseline, where the arm has a baseline.
    pub no_ratio: Option<String>,
    /// Why trials that ended `ok` gave no number, each reason once with its count.
    pub gaps: Vec<Gap>,
}

/// Statistics of the trials' numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Across {
    pub n: usize,
    pub mean: f64,
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// A range of two or three trials, a 95 % confidence interval of the mean from four on; none of
    /// a single trial.
    pub spread: Option<Spread>,
    /// A range of two to five trials, a confidence interval of the median of at least 95 % from six
    /// on; none of a single trial.
    pub median_spread: Option<Spread>,
}

/// Statistics of all single observations of all trials that ended `ok`. A counter gives one
/// observation for each trial.
#[derive(Clone, Debug, Serialize)]
pub struct Pooled {
    pub n: usize,
    pub mean: f64,
    pub median: f64,
    pub p90: f64,
    pub max: f64,
}

/// A reason for missing numbers, and how many trials share it.
#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    /// The reason. Where not all trials share it, its text goes on with "in 2 of 3 trials".
    pub reason: String,
    pub trials: usize,
    pub of: usize,
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gap { reason, trials, of } = self;
        if trials == of {
            return f.write_str(reason);
        }
        let noun = if *of == 1 { "trial" } else { "trials" };
        write!(f, "{reason} in {trials} of {of} {noun}")
    }
}

pub(crate) fn study(figures: &[Figure], context: &Context) -> Vec<FigureStudy> {
    figures
        .iter()
        .map(|figure| FigureStudy {
            cells: cells(figure, context),
            unmeasured: context.unmeasured(measure_of(figure)),
            figure: figure.clone(),
        })
        .collect()
}

fn measure_of(figure: &Figure) -> Measure<'_> {
    Measure {
        scene: &figure.scene,
        metric: &figure.metric,
        statistic: figure.statistic,
    }
}

fn cells(figure: &Figure, context: &Context) -> Vec<Cell> {
    let mut cells: Vec<Cell> = context
        .arms
        .iter()
        .map(|arm| cell(arm, measure_of(figure), &figure.unit, context))
        .collect();
    for place in 0..cells.len() {
        let Some(name) = &context.arms[place].baseline else {
            continue;
        };
        let base = cells.iter().find(|c| c.arm == *name);
        match ratio::ratio(&cells[place].trials, base.map_or(&[], |b| &b.trials)) {
            Ok(found) => cells[place].ratio = Some(found),
            Err(why) => cells[place].no_ratio = Some(why.to_string()),
        }
    }
    cells
}

fn cell(arm: &ArmStudy, measure: Measure, unit: &str, context: &Context) -> Cell {
    let mut trials = Vec::new();
    let mut pool = Vec::new();
    let mut missing: BTreeMap<Missing, usize> = BTreeMap::new();
    for trial in context.trials.iter().filter(|t| t.arm == arm.name) {
        if trial.outcome != protocol::record::Outcome::Ok {
            continue;
        }
        match measure::number(trial, measure, context.known) {
            Ok(number) => trials.push((trial.repetition, number)),
            Err(why) => *missing.entry(why).or_default() += 1,
        }
        pool.extend(measure::values(trial, measure, context.known).unwrap_or_default());
    }
    let numbers: Vec<f64> = trials.iter().map(|&(_, v)| v).collect();
    Cell {
        arm: arm.name.clone(),
        across: across(&numbers, unit),
        pooled: pooled(&pool),
        trials,
        ratio: None,
        no_ratio: None,
        gaps: missing
            .into_iter()
            .map(|(why, trials)| Gap {
                reason: why.to_string(),
                trials,
                of: arm.ok as usize,
            })
            .collect(),
    }
}

/// Statistics of the trials' numbers; none of no numbers. The unit decides the domain of the spread.
pub(crate) fn across(numbers: &[f64], unit: &str) -> Option<Across> {
    Some(Across {
        n: numbers.len(),
        mean: stats::mean(numbers)?,
        median: stats::median(numbers)?,
        min: stats::min(numbers)?,
        max: stats::max(numbers)?,
        spread: Spread::of(numbers, Domain::of(numbers, unit)),
        median_spread: Spread::of_median(numbers),
    })
}

fn pooled(values: &[f64]) -> Option<Pooled> {
    Some(Pooled {
        n: values.len(),
        mean: stats::mean(values)?,
        median: stats::median(values)?,
        p90: stats::p90(values)?,
        max: stats::max(values)?,
    })
}
