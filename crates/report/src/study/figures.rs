//! The figures of each arm over its repetitions.
use super::measure::{self, Measure, Missing};
use super::ratio::{self, Ratio};
use super::stats::{self, Interval};
use super::{ArmStudy, Context};
use raw::plan::Figure;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize)]
pub struct FigureStudy {
    pub figure: Figure,
    /// One an arm, in the run's order.
    pub cells: Vec<Cell>,
}

/// A figure of one arm. Numbers are as recorded: a share of 0.97 is 0.97 even where "%" is the unit.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub arm: String,
    /// (repetition, number) of each trial that gave one.
    pub trials: Vec<(u32, f64)>,
    pub across: Option<Across>,
    pub pooled: Option<Pooled>,
    pub ratio: Option<Ratio>,
    /// Why there is no ratio, where one was asked.
    pub no_ratio: Option<String>,
    /// Why `ok` trials gave no number, each reason once with its count.
    pub gaps: Vec<Gap>,
}

/// Over the trials' numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Across {
    pub n: usize,
    pub mean: f64,
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// 95 % confidence interval of the mean; none of a single trial.
    pub interval: Option<Interval>,
}

/// Over all single observations of all `ok` trials together; a counter gives one a trial.
#[derive(Clone, Debug, Serialize)]
pub struct Pooled {
    pub n: usize,
    pub mean: f64,
    pub median: f64,
    pub p90: f64,
    pub max: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    /// Completed by "in `trials` of `of` trials", unless it is all of them.
    pub what: String,
    pub trials: usize,
    pub of: usize,
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gap { what, trials, of } = self;
        if trials == of {
            return f.write_str(what);
        }
        let noun = if *of == 1 { "trial" } else { "trials" };
        write!(f, "{what} in {trials} of {of} {noun}")
    }
}

pub(crate) fn study(figures: &[Figure], context: &Context) -> Vec<FigureStudy> {
    figures
        .iter()
        .map(|figure| FigureStudy {
            cells: cells(figure, context),
            figure: figure.clone(),
        })
        .collect()
}

fn cells(figure: &Figure, context: &Context) -> Vec<Cell> {
    let measure = Measure {
        scene: &figure.scene,
        metric: &figure.metric,
        statistic: figure.statistic,
    };
    let mut cells: Vec<Cell> = context
        .arms
        .iter()
        .map(|arm| cell(arm, measure, context))
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

fn cell(arm: &ArmStudy, measure: Measure, context: &Context) -> Cell {
    let mut trials = Vec::new();
    let mut pool = Vec::new();
    let mut missing: BTreeMap<Missing, usize> = BTreeMap::new();
    for trial in context.trials.iter().filter(|t| t.arm == arm.name) {
        if trial.outcome != raw::record::Outcome::Ok {
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
        across: across(&numbers),
        pooled: pooled(&pool),
        trials,
        ratio: None,
        no_ratio: None,
        gaps: missing
            .into_iter()
            .map(|(why, trials)| Gap {
                what: why.to_string(),
                trials,
                of: arm.ok as usize,
            })
            .collect(),
    }
}

pub(crate) fn across(numbers: &[f64]) -> Option<Across> {
    Some(Across {
        n: numbers.len(),
        mean: stats::mean(numbers)?,
        median: stats::median(numbers)?,
        min: stats::min(numbers)?,
        max: stats::max(numbers)?,
        interval: stats::mean_interval(numbers),
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
