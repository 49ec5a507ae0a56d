//! Promises held against what was measured.
//!
//! A promise holds only on whole evidence: it is broken by a trial of its arm that failed, never
//! ran or gave no number, since the missing value may well have been the worst.
//!
//! A promise judged by its interval may also be unsure: the repetitions are too few, or too far
//! apart, to tell whether it is kept. That is no evidence either, unless the promise allows it.
use super::figures::Gap;
use super::measure::{self, Measure};
use super::stats::Interval;
use super::{curves, ratio, stats, ArmStudy, Context};
use raw::plan::{Across, Judge, Promise, Relative, Statistic};
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
    /// The value is the smallest step along the curve of a series, and `arm` is that series.
    pub monotonic: bool,
    pub judge: Judge,
    /// None: there is no data, or nothing to relate it to.
    pub value: Option<f64>,
    /// 95 %, where the promise is judged by it.
    pub interval: Option<Interval>,
    pub bound: Bound,
    pub holds: bool,
    /// The interval is too wide to tell, or there is none. With `holds`, it may be.
    pub unsure: bool,
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
    pub(crate) fn admits(&self, value: f64) -> bool {
        self.at_least.is_none_or(|b| value >= b) && self.at_most.is_none_or(|b| value <= b)
    }
}

pub(crate) fn study(promises: &[Promise], context: &Context) -> Vec<PromiseResult> {
    let mut results = Vec::new();
    for promise in promises {
        if promise.monotonic {
            let rises = |series: &String| curves::rises(promise, series, context);
            results.extend(promise.series.iter().map(rises));
            continue;
        }
        let of_series = promise.series.iter().flat_map(|series| {
            let arms = context.series(series).into_iter();
            let names: Vec<&str> = arms.map(|(_, arm)| arm.name.as_str()).collect();
            // A series that the run does not have must not pass for one that holds.
            match names.is_empty() {
                true => vec![series.as_str()],
                false => names,
            }
        });
        let mut arms: Vec<&str> = promise.arms.iter().map(String::as_str).collect();
        arms.extend(of_series);
        if arms.is_empty() {
            arms.push("");
        }
        results.extend(arms.iter().map(|arm| result(promise, arm, context)));
    }
    results
}

/// What was found of one arm, before it is known whether the evidence is whole.
#[derive(Default)]
pub(crate) struct Found {
    pub value: Option<f64>,
    pub interval: Option<Interval>,
    pub holds: bool,
    pub unsure: bool,
    pub why: String,
}

impl Found {
    fn nothing(why: impl Into<String>) -> Found {
        Found {
            why: why.into(),
            ..Found::default()
        }
    }

    fn value(value: f64, bound: Bound) -> Found {
        Found {
            value: Some(value),
            holds: bound.admits(value),
            ..Found::default()
        }
    }
}

pub(crate) fn bound(promise: &Promise) -> Bound {
    Bound {
        at_least: promise.at_least,
        at_most: promise.at_most,
    }
}

fn result(promise: &Promise, arm: &str, context: &Context) -> PromiseResult {
    let known = context.arms.iter().find(|a| a.name == arm);
    let found = match known {
        None if arm.is_empty() => Found::nothing("the promise names no arm"),
        None => Found::nothing(format!("the run has no arm {arm}")),
        Some(arm) => judge(promise, arm, bound(promise), context),
    };
    let relative_to = match &promise.relative_to {
        Relative::Nothing => None,
        Relative::Baseline => Some(
            known
                .and_then(|a| a.baseline.clone())
                .unwrap_or_else(|| "baseline".into()),
        ),
        Relative::Scene(scene) => Some(format!("scene {scene}")),
        Relative::Series(series) => Some(format!("series {series}")),
    };
    filled(promise, arm, relative_to, bound(promise), found)
}

/// The result of a promise for one arm or series.
pub(crate) fn filled(
    promise: &Promise,
    arm: &str,
    relative_to: Option<String>,
    bound: Bound,
    found: Found,
) -> PromiseResult {
    PromiseResult {
        title: promise.title.clone(),
        arm: arm.to_string(),
        scene: promise.scene.clone(),
        metric: promise.metric.clone(),
        statistic: promise.statistic,
        across: promise.across,
        relative_to,
        monotonic: promise.monotonic,
        judge: promise.judge,
        value: found.value,
        interval: found.interval,
        bound,
        holds: found.holds,
        unsure: found.unsure,
        why: found.why,
    }
}

fn judge(promise: &Promise, arm: &ArmStudy, bound: Bound, context: &Context) -> Found {
    let mut reasons = Vec::new();
    if bound.at_least.is_none() && bound.at_most.is_none() {
        reasons.push("the promise has neither at_least nor at_most".to_string());
    }
    reasons.extend(lost(arm));
    let own = numbers(promise, &promise.scene, &arm.name, context);
    reasons.extend(own.gaps.iter().map(|gap| in_trials(gap, arm.ok)));
    let mut found = match (&promise.relative_to, promise.judge) {
        (Relative::Nothing, Judge::Value) => absolute(promise.across, bound, &own.values),
        (Relative::Nothing, Judge::Interval) => {
            let plain: Vec<f64> = own.values.iter().map(|&(_, v)| v).collect();
            match stats::mean(&plain) {
                Some(mean) => by_interval(promise, mean, stats::mean_interval(&plain), bound),
                None => Found::nothing("no data"),
            }
        }
        (Relative::Baseline, _) => match &arm.baseline {
            Some(baseline) => against_arm(promise, bound, &own.values, baseline, context),
            None => Found::nothing("the arm has no baseline"),
        },
        (Relative::Series(series), _) => match context.beside(arm, series) {
            Some(other) => against_arm(promise, bound, &own.values, &other.name, context),
            None => Found::nothing(format!("series {series} has no arm at the same place")),
        },
        (Relative::Scene(scene), how) => {
            let other = numbers(promise, scene, &arm.name, context);
            reasons.extend(other.gaps.iter().map(|gap| in_trials(gap, arm.ok)));
            let pairs = paired(&own.values, &other.values);
            match how {
                // The ratio is taken in each trial, then over the repetitions.
                Judge::Value => judge_pairs(promise.across, bound, &pairs, "other scene"),
                Judge::Interval => ratios(promise, bound, &own.values, &other.values),
            }
        }
    };
    found.holds &= reasons.is_empty();
    // What is missing breaks a promise whatever the rest may say.
    found.unsure &= reasons.is_empty();
    if !found.why.is_empty() {
        reasons.push(found.why);
    }
    reasons.dedup();
    found.why = reasons.join("; ");
    found
}

/// What an arm's trials lack.
pub(crate) fn lost(arm: &ArmStudy) -> Vec<String> {
    let mut reasons = Vec::new();
    if arm.failed > 0 {
        reasons.push(format!("{} of {} trials failed", arm.failed, arm.planned));
    }
    if arm.absent > 0 {
        reasons.push(format!(
            "{} of {} trials never ran",
            arm.absent, arm.planned
        ));
    }
    reasons
}

/// Broken where the whole interval lies outside the bounds; unsure where it is wider than the
/// promise allows, or there is none.
pub(crate) fn by_interval(
    promise: &Promise,
    value: f64,
    interval: Option<Interval>,
    bound: Bound,
) -> Found {
    let outside = interval.is_some_and(|i| {
        bound.at_least.is_some_and(|b| i.high < b) || bound.at_most.is_some_and(|b| i.low > b)
    });
    let wide = match (interval, promise.width) {
        (None, _) => Some("too few repetitions to tell: no interval".to_string()),
        (Some(i), Some(width)) if i.high - i.low > width => Some(format!(
            "too few repetitions to tell: the interval is {:.3} wide, {width} at most tells",
            i.high - i.low
        )),
        _ => None,
    };
    let unsure = wide.is_some() && !outside;
    Found {
        value: Some(value),
        interval,
        holds: !outside && (!unsure || promise.may_be_unsure),
        unsure,
        why: wide.filter(|_| unsure).unwrap_or_default(),
    }
}

/// The interval of the ratio, paired by repetition.
fn ratios(promise: &Promise, bound: Bound, own: &[(u32, f64)], other: &[(u32, f64)]) -> Found {
    match ratio::ratio(own, other) {
        Ok(ratio) => by_interval(promise, ratio.value, ratio.interval, bound),
        // What the other never does has no ratio; not doing it either is within any bound above.
        Err(_) if other.iter().any(|&(_, v)| v == 0.0) => {
            judge_pairs(Across::Worst, bound, &paired(own, other), "baseline")
        }
        Err(why) => Found::nothing(why),
    }
}

fn in_trials((what, trials): &(String, usize), ok: u32) -> String {
    let gap = Gap {
        what: what.clone(),
        trials: *trials,
        of: ok as usize,
    };
    gap.to_string()
}

pub(crate) struct Numbers {
    pub values: Vec<(u32, f64)>,
    pub gaps: Vec<(String, usize)>,
}

pub(crate) fn numbers(promise: &Promise, scene: &str, arm: &str, context: &Context) -> Numbers {
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
        Some(value) => Found::value(value, bound),
        None => Found::nothing("no data"),
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

/// The ratio to another arm: of means, or of medians; for the worst, of each repetition's pair.
fn against_arm(
    promise: &Promise,
    bound: Bound,
    own: &[(u32, f64)],
    other: &str,
    context: &Context,
) -> Found {
    let base = numbers(promise, &promise.scene, other, context).values;
    let wanted = context.arms.iter().find(|a| a.name == *other);
    let planned = wanted.map_or(0, |a| a.planned as usize);
    if own.is_empty() || base.is_empty() {
        let side = if own.is_empty() {
            ""
        } else {
            " of the baseline"
        };
        return Found::nothing(format!("no data{side}"));
    }
    let mut found = match (promise.judge, promise.across) {
        (Judge::Interval, _) => ratios(promise, bound, own, &base),
        (Judge::Value, Across::Worst) => {
            judge_pairs(Across::Worst, bound, &paired(own, &base), "baseline")
        }
        (Judge::Value, across) => {
            let side = |v: &[(u32, f64)]| {
                let plain: Vec<f64> = v.iter().map(|&(_, x)| x).collect();
                one(across, bound, &plain)
            };
            let pair: Vec<(f64, f64)> = side(own).zip(side(&base)).into_iter().collect();
            judge_pairs(across, bound, &pair, "baseline")
        }
    };
    if base.len() < planned {
        let mut all = vec![format!("baseline from {} of {planned} trials", base.len())];
        all.extend(Some(found.why).filter(|why| !why.is_empty()));
        found.why = all.join("; ");
    }
    found
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
        return Found::nothing(format!("no data to compare with the {what}"));
    }
    if pairs.iter().all(|&(_, b)| b != 0.0) {
        let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
        return match one(across, bound, &ratios) {
            Some(value) => Found::value(value, bound),
            None => Found::nothing("no data"),
        };
    }
    let within = |&(a, b): &(f64, f64)| {
        let least = bound.at_least.is_none_or(|k| match b == 0.0 {
            // Two zeros are alike, which is what bounds on both sides ask for.
            true => a > 0.0 || bound.at_most.is_some(),
            false => a >= k * b,
        });
        least && bound.at_most.is_none_or(|k| a <= k * b)
    };
    Found {
        holds: pairs.iter().all(within),
        why: match pairs.iter().all(|&(a, b)| a == 0.0 && b == 0.0) {
            true => format!("both 0: n/a ({what} 0)"),
            false => format!("n/a ({what} 0)"),
        },
        ..Found::default()
    }
}
