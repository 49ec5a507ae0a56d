//! The whole study of a run.
use super::arms::{study_arm, ArmStudy, Context};
use super::{charts, comparisons, curves, figures, measure, promises};
use super::{ChartStudy, ComparisonStudy, CurveStudy, FigureStudy, PromiseResult};
use crate::Results;
use protocol::record::{Outcome, Run, Trial};
use serde::Serialize;

/// Everything that a report shows, as numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Study {
    pub run: Run,
    /// The arms in the run's order.
    pub arms: Vec<ArmStudy>,
    pub figures: Vec<FigureStudy>,
    pub curves: Vec<CurveStudy>,
    /// The run beside published figures.
    pub comparisons: Vec<ComparisonStudy>,
    pub promises: Vec<PromiseResult>,
    /// The trials that did not end `ok`.
    pub failures: Vec<FailedTrial>,
    /// The points of the charts. The trials hold them already, so that study.json leaves them out.
    #[serde(skip)]
    pub charts: Vec<ChartStudy>,
}

/// A trial that ended in any way but `ok`.
#[derive(Clone, Debug, Serialize)]
pub struct FailedTrial {
    pub arm: String,
    pub repetition: u32,
    pub outcome: Outcome,
    /// The scenes that the trial entered.
    pub scenes: Vec<String>,
    pub wall_s: f64,
    pub console_tail: Vec<String>,
}

impl Study {
    /// Whether every promise holds. A run without promises breaks none.
    pub fn all_hold(&self) -> bool {
        self.promises.iter().all(|p| p.holds)
    }

    /// Whether every promise holds, and every planned trial ran and ended well.
    pub fn all_well(&self) -> bool {
        let complete = self.arms.iter().all(|arm| arm.absent == 0);
        self.all_hold() && self.failures.is_empty() && complete
    }

    /// The arm of that name; none where the run has no such arm.
    pub fn arm(&self, name: &str) -> Option<&ArmStudy> {
        self.arms.iter().find(|a| a.name == name)
    }

    /// The label of an arm or of a series, or the name where it has no label.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        let mut points = self.arms.iter().filter_map(|arm| arm.point.as_ref());
        match self.arm(name) {
            Some(arm) if !arm.label.is_empty() => &arm.label,
            Some(_) => name,
            None => match points.find(|point| point.series == name) {
                Some(point) if !point.label.is_empty() => &point.label,
                _ => name,
            },
        }
    }
}

/// Studies a run.
pub fn study(results: &Results) -> Study {
    let run = &results.run;
    let trials = &results.trials;
    let known = measure::series_names(trials);
    let arms: Vec<ArmStudy> = run
        .arms
        .iter()
        .map(|arm| study_arm(arm, run.repetitions, trials))
        .collect();
    let context = Context {
        arms: &arms,
        trials,
        known: &known,
        figures: &run.plan.figures,
    };
    Study {
        figures: figures::study(&run.plan.figures, &context),
        curves: curves::study(&run.plan.curves, &context),
        comparisons: comparisons::study(&run.plan.comparisons, &context),
        promises: promises::study(&run.plan.promises, &context),
        charts: charts::study(&run.plan.charts, &context),
        failures: trials.iter().filter_map(failed).collect(),
        run: run.clone(),
        arms,
    }
}

fn failed(trial: &Trial) -> Option<FailedTrial> {
    (trial.outcome != Outcome::Ok).then(|| FailedTrial {
        arm: trial.arm.clone(),
        repetition: trial.repetition,
        outcome: trial.outcome.clone(),
        scenes: trial.scenes.iter().map(|s| s.name.clone()).collect(),
        wall_s: trial.wall_s,
        console_tail: trial.console_tail.clone(),
    })
}
