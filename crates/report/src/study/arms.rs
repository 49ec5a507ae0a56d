//! The run's arms, and the context that the parts of the study share.
use super::measure::{self, Measure, Missing};
use protocol::plan::{Figure, Promise, Relative, Statistic};
use protocol::record::{Arm, Image, Outcome, Point, Trial};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// An arm of the run, and how its trials ended.
#[derive(Clone, Debug, Serialize)]
pub struct ArmStudy {
    pub name: String,
    pub label: String,
    pub kernel: String,
    /// The image that was booted; none in runs of earlier versions.
    pub image: Option<Image>,
    /// Never the arm itself.
    pub baseline: Option<String>,
    pub planned: u32,
    pub ok: u32,
    pub failed: u32,
    /// Planned trials that left no file: the run was interrupted.
    pub absent: u32,
    /// The kernel releases of the trials, each once.
    pub releases: Vec<String>,
    /// MemTotal in KiB, of the first trial that reported it.
    pub mem_total_kb: Option<u64>,
    /// The path of each setting, with the value asked for and the values read back.
    pub settings: BTreeMap<String, Setting>,
    /// The arm's place on the curves.
    pub point: Option<Point>,
}

/// A setting of an arm: the value that was asked for, and each different one that was read back.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Setting {
    pub asked: Option<String>,
    pub read_back: Vec<String>,
}

/// The input of all parts of the study.
pub(crate) struct Context<'a> {
    pub arms: &'a [ArmStudy],
    pub trials: &'a [Trial],
    pub known: &'a BTreeSet<&'a str>,
    /// The figures of the plan. Promises take their units from these.
    pub figures: &'a [Figure],
}

impl<'a> Context<'a> {
    /// The arms of a series with their `x`, in rising order.
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

    /// A promise has no unit of its own. It takes the unit of a figure with the same metric and statistic, or
    /// else of a figure whose statistic keeps the metric's unit. A ratio has no unit.
    pub fn unit(&self, promise: &Promise) -> &'a str {
        if promise.relative_to != Relative::Nothing {
            return "";
        }
        let changes = |s: Statistic| matches!(s, Statistic::Count | Statistic::Rate);
        let figures = || self.figures.iter().filter(|f| f.metric == promise.metric);
        let same = figures().find(|f| f.statistic == promise.statistic);
        let alike = || figures().find(|f| !changes(f.statistic) && !changes(promise.statistic));
        // Shares of a file in memory need no figure to be known as shares.
        let known = match promise.metric.ends_with(".resident") && !changes(promise.statistic) {
            true => "%",
            false => "",
        };
        same.or_else(alike).map_or(known, |f| &f.unit)
    }

    /// The reason why the run did not measure `measure`: the scene did not run, or nothing recorded the
    /// metric. None where some trial has a number, or should have one.
    ///
    /// Reads of a worker (`.read_ms`) are always timed. Where none is recorded, the run did measure
    /// them, and the worker never finished one.
    pub fn unmeasured(&self, measure: Measure) -> Option<Missing> {
        let mut ok = self
            .trials
            .iter()
            .filter(|t| t.outcome == Outcome::Ok)
            .peekable();
        ok.peek()?;
        let mut why = None;
        for trial in ok {
            match measure::number(trial, measure, self.known) {
                Err(missing @ Missing::NoScene(_)) => {
                    why.get_or_insert(missing);
                }
                Err(missing @ Missing::NoValue(_)) if !measure.metric.ends_with(".read_ms") => {
                    why = Some(missing);
                }
                Ok(_) | Err(_) => return None,
            }
        }
        why
    }

    /// The arm's trials that ended `ok`, by repetition.
    pub fn ok(&self, arm: &'a str) -> impl Iterator<Item = &'a Trial> {
        let trials: &'a [Trial] = self.trials;
        trials
            .iter()
            .filter(move |t| t.arm == arm && t.outcome == Outcome::Ok)
    }
}

pub(crate) fn study_arm(arm: &Arm, planned: u32, trials: &[Trial]) -> ArmStudy {
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
        image: arm.image.clone(),
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
