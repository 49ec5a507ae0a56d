//! Promises held against what was measured.
//!
//! A promise holds only on whole evidence: it is broken by a trial of its arm that failed, never
//! ran or gave no number, since the missing value may well have been the worst.
use super::figures::Gap;
use super::measure::{self, Measure};
use super::{stats, ArmStudy, Context};
use raw::plan::{Across, Promise, Relative, Statistic};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct PromiseResult {
    pub title: String,
    pub arm: String,
    /// Scene, metric and statistic measured.
    pub scene: String,
    pub metric: String,
    pub statistic: Statistic,
    pub across: Across,
    /// The baseline's arm or the scene that the value is relative to, in words.
    pub relative_to: Option<String>,
    /// None: there is no data, or nothing to relate it to.
    pub value: Option<f64>,
    pub bound: Bound,
    pub holds: bool,
    /// Why it does not hold, or what is to be known of how it does; empty when value and bound say
    /// it all.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

impl Bound {
    fn admits(&self, value: f64) -> bool {
        self.at_least.is_none_or(|b| value >= b) && self.at_most.is_none_or(|b| value <= b)
    }
}

pub(crate) fn study(promises: &[Promise], context: &Context) -> Vec<PromiseResult> {
    let mut results = Vec::new();
    for promise in promises {
        if promise.arms.is_empty() {
            results.push(result(promise, "", context));
        }
        for arm in &promise.arms {
            results.push(result(promise, arm, context));
        }
    }
    results
}

/// A value and how it was come by, or why there is none.
type Found = (Option<f64>, bool, String);

fn result(promise: &Promise, arm: &str, context: &Context) -> PromiseResult {
    let bound = Bound {
        at_least: promise.at_least,
        at_most: promise.at_most,
    };
    let known = context.arms.iter().find(|a| a.name == arm);
    let (value, holds, why) = match known {
        None if arm.is_empty() => (None, false, "the promise names no arm".into()),
        None => (None, false, format!("the run has no arm {arm}")),
        Some(arm) => judge(promise, arm, bound, context),
    };
    let relative_to = match &promise.relative_to {
        Relative::Nothing => None,
        Relative::Baseline => Some(
            known
                .and_then(|a| a.baseline.clone())
                .unwrap_or_else(|| "baseline".into()),
        ),
        Relative::Scene(scene) => Some(format!("scene {scene}")),
    };
    PromiseResult {
        title: promise.title.clone(),
        arm: arm.to_string(),
        scene: promise.scene.clone(),
        metric: promise.metric.clone(),
        statistic: promise.statistic,
        across: promise.across,
        relative_to,
        value,
        bound,
        holds,
        why,
    }
}

fn judge(promise: &Promise, arm: &ArmStudy, bound: Bound, context: &Context) -> Found {
    let mut reasons = Vec::new();
    if bound.at_least.is_none() && bound.at_most.is_none() {
        reasons.push("the promise has neither at_least nor at_most".to_string());
    }
    if arm.failed > 0 {
        reasons.push(format!("{} of {} trials failed", arm.failed, arm.planned));
    }
    if arm.absent > 0 {
        reasons.push(format!(
            "{} of {} trials never ran",
            arm.absent, arm.planned
        ));
    }
    let own = numbers(promise, &promise.scene, &arm.name, context);
    reasons.extend(own.gaps.iter().map(|gap| in_trials(gap, arm.ok)));
    let (value, holds, note) = match &promise.relative_to {
        Relative::Nothing => absolute(promise.across, bound, &own.values),
        Relative::Baseline => against_baseline(promise, arm, bound, &own.values, context),
        Relative::Scene(scene) => {
            let other = numbers(promise, scene, &arm.name, context);
            reasons.extend(other.gaps.iter().map(|gap| in_trials(gap, arm.ok)));
            against_scene(promise.across, bound, &own.values, &other.values)
        }
    };
    let whole = reasons.is_empty();
    if !note.is_empty() {
        reasons.push(note);
    }
    reasons.dedup();
    (value, holds && whole, reasons.join("; "))
}

fn in_trials((what, trials): &(String, usize), ok: u32) -> String {
    let gap = Gap {
        what: what.clone(),
        trials: *trials,
        of: ok as usize,
    };
    gap.to_string()
}

struct Numbers {
    values: Vec<(u32, f64)>,
    gaps: Vec<(String, usize)>,
}

fn numbers(promise: &Promise, scene: &str, arm: &str, context: &Context) -> Numbers {
    let measure = Measure {
        scene,
        metric: &promise.metric,
        statistic: promise.statistic,
    };
    let mut found = Numbers {
        values: Vec::new(),
        gaps: Vec::new(),
    };
    for trial in context.ok(arm) {
        match measure::number(trial, measure, context.known) {
            Ok(number) => found.values.push((trial.repetition, number)),
            Err(why) => {
                let why = why.to_string();
                match found.gaps.iter_mut().find(|(w, _)| *w == why) {
                    Some((_, n)) => *n += 1,
                    None => found.gaps.push((why, 1)),
                }
            }
        }
    }
    found
}

fn absolute(across: Across, bound: Bound, values: &[(u32, f64)]) -> Found {
    let plain: Vec<f64> = values.iter().map(|&(_, v)| v).collect();
    match one(across, bound, &plain) {
        Some(value) => (Some(value), bound.admits(value), String::new()),
        None => (None, false, "no data".into()),
    }
}

/// The repetitions' numbers made one. The worst is the smallest where a lower bound stands, else
/// the greatest; with both bounds it is the one that lies further outside, relative to its bound.
fn one(across: Across, bound: Bound, values: &[f64]) -> Option<f64> {
    match across {
        Across::Mean => stats::mean(values),
        Across::Median => stats::median(values),
        Across::Worst => {
            let (low, high) = (stats::min(values)?, stats::max(values)?);
            Some(match (bound.at_least, bound.at_most) {
                (Some(_), None) => low,
                (Some(least), Some(most)) if least - low > high - most => low,
                _ => high,
            })
        }
    }
}

/// The ratio of means, or of medians; for the worst, of each repetition's pair.
fn against_baseline(
    promise: &Promise,
    arm: &ArmStudy,
    bound: Bound,
    own: &[(u32, f64)],
    context: &Context,
) -> Found {
    let Some(baseline) = &arm.baseline else {
        return (None, false, "the arm has no baseline".into());
    };
    let base = numbers(promise, &promise.scene, baseline, context).values;
    let wanted = context.arms.iter().find(|a| a.name == *baseline);
    let planned = wanted.map_or(0, |a| a.planned as usize);
    let mut note = String::new();
    if !base.is_empty() && base.len() < planned {
        note = format!("baseline from {} of {planned} trials", base.len());
    }
    if own.is_empty() || base.is_empty() {
        let side = if own.is_empty() {
            ""
        } else {
            " of the baseline"
        };
        return (None, false, format!("no data{side}"));
    }
    let pairs: Vec<(f64, f64)> = match promise.across {
        Across::Worst => paired(own, &base),
        across => {
            let side = |v: &[(u32, f64)]| {
                let plain: Vec<f64> = v.iter().map(|&(_, x)| x).collect();
                one(across, bound, &plain)
            };
            side(own).zip(side(&base)).into_iter().collect()
        }
    };
    let (value, holds, remark) = judge_pairs(promise.across, bound, &pairs, "baseline");
    let all: Vec<String> = [note, remark]
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect();
    (value, holds, all.join("; "))
}

/// The ratio is taken in each trial, then over the repetitions.
fn against_scene(across: Across, bound: Bound, own: &[(u32, f64)], other: &[(u32, f64)]) -> Found {
    judge_pairs(across, bound, &paired(own, other), "other scene")
}

fn paired(own: &[(u32, f64)], other: &[(u32, f64)]) -> Vec<(f64, f64)> {
    let partner = |r: u32| other.iter().find(|&&(q, _)| q == r).map(|&(_, v)| v);
    own.iter()
        .filter_map(|&(r, v)| Some((v, partner(r)?)))
        .collect()
}

/// A pair whose second is 0 has no ratio, but may still be within the bound: `a <= bound * 0`.
fn judge_pairs(across: Across, bound: Bound, pairs: &[(f64, f64)], what: &str) -> Found {
    if pairs.is_empty() {
        return (None, false, format!("no data to compare with the {what}"));
    }
    if pairs.iter().all(|&(_, b)| b != 0.0) {
        let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
        return match one(across, bound, &ratios) {
            Some(value) => (Some(value), bound.admits(value), String::new()),
            None => (None, false, "no data".into()),
        };
    }
    let within = |&(a, b): &(f64, f64)| {
        let least = bound.at_least.is_none_or(|k| match b == 0.0 {
            true => a > 0.0,
            false => a >= k * b,
        });
        least && bound.at_most.is_none_or(|k| a <= k * b)
    };
    let holds = pairs.iter().all(within);
    let note = match pairs.iter().all(|&(a, b)| a == 0.0 && b == 0.0) {
        true => format!("both 0: n/a ({what} 0)"),
        false => format!("n/a ({what} 0)"),
    };
    (None, holds, note)
}
