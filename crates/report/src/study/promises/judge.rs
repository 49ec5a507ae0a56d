//! One promise, judged for one arm.
use super::evidence::{in_trials, lost, numbers, ran};
use super::result::{bound, filled, Bound, Found, PromiseResult};
use crate::study::measure::Measure;
use crate::study::spread::{Domain, Spread, TRIALS_FOR_INTERVAL};
use crate::study::{ratio, stats, ArmStudy, Context};
use protocol::plan::{Across, Judge, Promise, Relative};

/// The reason why an arm has no value.
pub(crate) const NOTHING: &str = "no trial gave a number";

pub(crate) fn result(promise: &Promise, arm: &str, context: &Context) -> PromiseResult {
    let known = context.arms.iter().find(|a| a.name == arm);
    let found = match known {
        None if arm.is_empty() => Found::missing("the promise names no arm"),
        None => Found::missing(format!("the run has no arm {arm}")),
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
    let measure = Measure {
        scene: &promise.scene,
        metric: &promise.metric,
        statistic: promise.statistic,
    };
    let unmeasured = known.is_some() && context.unmeasured(measure).is_some();
    PromiseResult {
        relative_to,
        unmeasured: unmeasured && !found.holds,
        ..filled(promise, arm, bound(promise), found, context)
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
                Some(mean) => {
                    let domain = Domain::of(&plain, context.unit(promise));
                    by_interval(promise, mean, Spread::of(&plain, domain), bound)
                }
                None => Found::missing(NOTHING),
            }
        }
        (Relative::Baseline, _) => match &arm.baseline {
            Some(baseline) => against_arm(promise, bound, &own.values, baseline, context),
            None => Found::missing("the arm has no baseline"),
        },
        (Relative::Series(series), _) => match context.beside(arm, series) {
            Some(other) => against_arm(promise, bound, &own.values, &other.name, context),
            None => Found::missing(format!("series {series} has no arm at the same place")),
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
    let open = open(promise, arm, context);
    if !open.is_empty() && reasons.is_empty() && !is_settled(promise, &found) {
        return Found {
            holds: false,
            unsure: false,
            undecided: true,
            why: open.join("; "),
            ..found
        };
    }
    reasons.extend(open);
    found.holds &= reasons.is_empty();
    // Missing numbers break a promise, whatever the others are.
    found.unsure &= reasons.is_empty();
    if !found.why.is_empty() {
        reasons.push(found.why);
    }
    reasons.dedup();
    found.why = reasons.join("; ");
    found
}

/// The trials that are still to come, of the arm and of the one that it is related to.
fn open(promise: &Promise, arm: &ArmStudy, context: &Context) -> Vec<String> {
    let baseline = match &promise.relative_to {
        Relative::Baseline => arm.baseline.as_deref(),
        Relative::Series(series) => context.beside(arm, series).map(|other| other.name.as_str()),
        Relative::Nothing | Relative::Scene(_) => None,
    };
    let baseline = context
        .arms
        .iter()
        .find(|a| Some(a.name.as_str()) == baseline);
    let of_baseline = baseline
        .and_then(ran)
        .map(|text| format!("{text} of the baseline"));
    ran(arm).into_iter().chain(of_baseline).collect()
}

/// Whether further trials cannot keep the promise: the worst of them is outside its bounds already.
fn is_settled(promise: &Promise, found: &Found) -> bool {
    let by_worst = promise.judge == Judge::Value && promise.across == Across::Worst;
    by_worst && found.value.is_some() && !found.holds
}

/// Broken where the whole interval lies outside the bounds; unsure where it is wider than the
/// promise allows, or there is none. The range of two or three trials is no interval.
pub(crate) fn by_interval(
    promise: &Promise,
    value: f64,
    spread: Option<Spread>,
    bound: Bound,
) -> Found {
    let interval = spread.and_then(|spread| spread.interval());
    let outside = interval.is_some_and(|i| {
        bound.at_least.is_some_and(|b| i.high < b) || bound.at_most.is_some_and(|b| i.low > b)
    });
    let wide = match (interval, promise.width) {
        (None, _) => Some(format!(
            "cannot be judged without an interval, which needs {TRIALS_FOR_INTERVAL} paired trials and a \
             baseline that differs from 0"
        )),
        (Some(i), Some(width)) if i.high - i.low > width => Some(format!(
            "too few trials to judge: the interval is {:.3} wide, and may be {width}",
            i.high - i.low
        )),
        _ => None,
    };
    let unsure = wide.is_some() && !outside;
    Found {
        value: Some(value),
        spread,
        holds: !outside && (!unsure || promise.may_be_unsure),
        unsure,
        undecided: false,
        why: wide.filter(|_| unsure).unwrap_or_default(),
    }
}

/// The interval of the ratio, paired by repetition.
fn ratios(promise: &Promise, bound: Bound, own: &[(u32, f64)], other: &[(u32, f64)]) -> Found {
    match ratio::ratio(own, other) {
        Ok(ratio) => by_interval(promise, ratio.value, ratio.spread, bound),
        // A baseline of zeros has no ratio. An arm of zeros is then within any upper bound.
        Err(_) if other.iter().any(|&(_, v)| v == 0.0) => {
            judge_pairs(Across::Worst, bound, &paired(own, other), "baseline")
        }
        Err(why) => Found::missing(why),
    }
}

fn absolute(across: Across, bound: Bound, values: &[(u32, f64)]) -> Found {
    let plain: Vec<f64> = values.iter().map(|&(_, v)| v).collect();
    match one(across, bound, &plain) {
        Some(value) => Found::value(value, bound),
        None => Found::missing(NOTHING),
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
        return Found::missing(match own.is_empty() {
            true => NOTHING,
            false => "no trial of the baseline gave a number",
        });
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
fn judge_pairs(across: Across, bound: Bound, pairs: &[(f64, f64)], other: &str) -> Found {
    if pairs.is_empty() {
        return Found::missing(format!(
            "no trial has both numbers, its own and the {other}'s"
        ));
    }
    if pairs.iter().all(|&(_, b)| b != 0.0) {
        let ratios: Vec<f64> = pairs.iter().map(|(a, b)| a / b).collect();
        return match one(across, bound, &ratios) {
            Some(value) => Found::value(value, bound),
            None => Found::missing(NOTHING),
        };
    }
    let within = |&(a, b): &(f64, f64)| {
        let least = bound.at_least.is_none_or(|k| match b == 0.0 {
            // Two zeros are equal, so bounds on both sides hold.
            true => a > 0.0 || bound.at_most.is_some(),
            false => a >= k * b,
        });
        least && bound.at_most.is_none_or(|k| a <= k * b)
    };
    Found {
        holds: pairs.iter().all(within),
        why: match pairs.iter().all(|&(a, b)| a == 0.0 && b == 0.0) {
            true => format!("both 0: n/a ({other} 0)"),
            false => format!("n/a ({other} 0)"),
        },
        ..Found::default()
    }
}
