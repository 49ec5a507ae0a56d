//! From raw results to numbers: no formatting here, and no I/O.
//!
//! Only trials that ended `ok` give numbers: a scene of a trial that died may be cut short. Every
//! other trial is listed in [`Study::failures`], and breaks the promises made of its arm.
pub mod charts;
pub mod comparisons;
pub mod curves;
pub mod figures;
pub mod measure;
pub mod promises;
pub mod ratio;
pub mod stats;

use crate::Results;
use raw::record::{Outcome, Point, Run, Trial};
use serde::Serialize;
use std::collections::BTreeMap;

pub use charts::{ChartStudy, Line};
pub use comparisons::{Compared, ComparisonStudy, Sign};
pub use curves::{CurveLine, CurvePoint, CurveStudy};
pub use figures::{Cell, FigureStudy};
pub use promises::PromiseResult;
pub use ratio::{Ratio, Verdict};

/// Everything that a report says, as numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Study {
    pub run: Run,
    /// In the run's order.
    pub arms: Vec<ArmStudy>,
    pub figures: Vec<FigureStudy>,
    pub curves: Vec<CurveStudy>,
    /// Beside what others published.
    pub comparisons: Vec<ComparisonStudy>,
    pub promises: Vec<PromiseResult>,
    /// Trials that did not end `ok`.
    pub failures: Vec<FailedTrial>,
    /// Points of the charts: they are in the trials already, so that study.json leaves them out.
    #[serde(skip)]
    pub charts: Vec<ChartStudy>,
}

/// What became of an arm's trials.
#[derive(Clone, Debug, Serialize)]
pub struct ArmStudy {
    pub name: String,
    pub label: String,
    pub kernel: String,
    /// Never the arm itself.
    pub baseline: Option<String>,
    pub planned: u32,
    pub ok: u32,
    pub failed: u32,
    /// Planned trials that left no file: the run was interrupted.
    pub absent: u32,
    /// What `uname -r` said, each once.
    pub releases: Vec<String>,
    /// As the kernel counts it, of the first trial that spoke.
    pub mem_total_kb: Option<u64>,
    /// Setting to what was asked and to each different answer that was read back.
    pub settings: BTreeMap<String, Setting>,
    /// Where it stands on the curves.
    pub point: Option<Point>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Setting {
    pub asked: Option<String>,
    pub read_back: Vec<String>,
}

/// A trial that ended in any way but `ok`.
#[derive(Clone, Debug, Serialize)]
pub struct FailedTrial {
    pub arm: String,
    pub repetition: u32,
    pub outcome: Outcome,
    /// Scenes that it got through, or into.
    pub scenes: Vec<String>,
    pub wall_s: f64,
    pub console_tail: Vec<String>,
}

impl Study {
    /// True when no promise is broken; a run that promises nothing breaks none.
    pub fn all_hold(&self) -> bool {
        self.promises.iter().all(|p| p.holds)
    }

    /// The arm of that name, which must be one of the run's.
    pub fn arm(&self, name: &str) -> Option<&ArmStudy> {
        self.arms.iter().find(|a| a.name == name)
    }

    /// The label of an arm, or of a series; its name where the run does not know it.
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

/// What the parts of the study look at.
pub(crate) struct Context<'a> {
    pub arms: &'a [ArmStudy],
    pub trials: &'a [Trial],
    pub known: &'a std::collections::BTreeSet<&'a str>,
}

impl<'a> Context<'a> {
    /// The arms of a series with their `x`, rising.
    pub fn series(&self, name: &str) -> Vec<(f64, &'a ArmStudy)> {
        let arms = self.arms.iter().filter_map(|arm| {
            let point = arm.point.as_ref()?;
            (point.series == name).then_some((point.x, arm))
        });
        let mut arms: Vec<(f64, &'a ArmStudy)> = arms.collect();
        arms.sort_by(|a, b| a.0.total_cmp(&b.0));
        arms
    }

    /// The arm of a series that has the same `x` as this one.
    pub fn beside(&self, arm: &ArmStudy, series: &str) -> Option<&'a ArmStudy> {
        let x = arm.point.as_ref()?.x;
        let mut arms = self.series(series).into_iter();
        Some(arms.find(|(other, _)| *other == x)?.1)
    }

    /// The arm's trials that ended `ok`, by repetition.
    pub fn ok(&self, arm: &'a str) -> impl Iterator<Item = &'a Trial> {
        let trials: &'a [Trial] = self.trials;
        trials
            .iter()
            .filter(move |t| t.arm == arm && t.outcome == Outcome::Ok)
    }
}

fn study_arm(arm: &raw::record::Arm, planned: u32, trials: &[Trial]) -> ArmStudy {
    let own: Vec<&Trial> = trials.iter().filter(|t| t.arm == arm.name).collect();
    let ok = own.iter().filter(|t| t.outcome == Outcome::Ok).count() as u32;
    let mut settings: BTreeMap<String, Setting> = BTreeMap::new();
    for (path, value) in &arm.settings {
        settings.entry(path.clone()).or_default().asked = Some(value.clone());
    }
    let mut releases = Vec::new();
    for trial in &own {
        if !trial.release.is_empty() && !releases.contains(&trial.release) {
            releases.push(trial.release.clone());
        }
        for (path, value) in &trial.settings {
            let answers = &mut settings.entry(path.clone()).or_default().read_back;
            let value = value.trim_end().to_string();
            if !answers.contains(&value) {
                answers.push(value);
            }
        }
    }
    ArmStudy {
        name: arm.name.clone(),
        label: arm.label.clone(),
        kernel: arm.kernel.clone(),
        baseline: arm.baseline.clone().filter(|b| *b != arm.name),
        planned: planned.max(own.len() as u32),
        ok,
        failed: own.len() as u32 - ok,
        absent: planned.saturating_sub(own.len() as u32),
        point: arm.point.clone(),
        releases,
        mem_total_kb: own.iter().map(|t| t.mem_total_kb).find(|&kb| kb > 0),
        settings,
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
