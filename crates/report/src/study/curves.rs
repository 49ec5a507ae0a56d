//! Figures over the arms' `x`: one line a series, and promises of a whole line.
use super::figures::{self, Across};
use super::measure::{self, Measure};
use super::promises::{self, Bound, Found, PromiseResult};
use super::{stats, Context};
use raw::plan::{Curve, Judge, Promise};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct CurveStudy {
    pub curve: Curve,
    /// In the order in which the run's arms name them.
    pub lines: Vec<CurveLine>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CurveLine {
    pub series: String,
    pub label: String,
    /// By rising `x`.
    pub points: Vec<CurvePoint>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    pub x: f64,
    pub arm: String,
    /// (repetition, number) of each trial that gave one.
    pub trials: Vec<(u32, f64)>,
    /// None where no trial gave a number.
    pub across: Option<Across>,
}

pub(crate) fn study(curves: &[Curve], context: &Context) -> Vec<CurveStudy> {
    let mut series: Vec<(&str, &str)> = Vec::new();
    for point in context.arms.iter().filter_map(|arm| arm.point.as_ref()) {
        if series.iter().all(|(name, _)| *name != point.series) {
            let label = match point.label.as_str() {
                "" => &point.series,
                label => label,
            };
            series.push((&point.series, label));
        }
    }
    let curve = |curve: &Curve| CurveStudy {
        curve: curve.clone(),
        lines: series
            .iter()
            .map(|(name, label)| CurveLine {
                series: name.to_string(),
                label: label.to_string(),
                points: points(curve, name, context),
            })
            .collect(),
    };
    curves.iter().map(curve).collect()
}

fn points(curve: &Curve, series: &str, context: &Context) -> Vec<CurvePoint> {
    let measure = Measure {
        scene: &curve.scene,
        metric: &curve.metric,
        statistic: curve.statistic,
    };
    let point = |(x, arm): (f64, &super::ArmStudy)| {
        let trials: Vec<(u32, f64)> = context
            .ok(&arm.name)
            .filter_map(|trial| {
                let number = measure::number(trial, measure, context.known).ok()?;
                Some((trial.repetition, number))
            })
            .collect();
        let numbers: Vec<f64> = trials.iter().map(|&(_, v)| v).collect();
        CurvePoint {
            x,
            arm: arm.name.clone(),
            across: figures::across(&numbers),
            trials,
        }
    };
    context.series(series).into_iter().map(point).collect()
}

/// Whether a series rises with `x`: the smallest of the steps between neighbours' means against the
/// bound. Judged by the interval, a step counts as downward only where all of its interval, of the
/// repetitions' own steps, does.
pub(crate) fn rises(promise: &Promise, series: &str, context: &Context) -> PromiseResult {
    let mut bound = promises::bound(promise);
    if bound.at_least.is_none() && bound.at_most.is_none() {
        bound.at_least = Some(0.0);
    }
    let found = steps(promise, series, bound, context);
    promises::filled(promise, series, None, bound, found)
}

fn steps(promise: &Promise, series: &str, bound: Bound, context: &Context) -> Found {
    let arms = context.series(series);
    let mut reasons = Vec::new();
    let mut points = Vec::new();
    for (x, arm) in &arms {
        let lost = promises::lost(arm);
        reasons.extend(lost.iter().map(|why| format!("at {x}: {why}")));
        let numbers = promises::numbers(promise, &promise.scene, &arm.name, context);
        let gaps = numbers.gaps.iter();
        reasons.extend(gaps.map(|(what, _)| format!("at {x}: {what}")));
        points.push((*x, numbers.values));
    }
    if arms.len() < 2 {
        reasons.push(format!("{} arms: there is no step", arms.len()));
    }
    let mut worst: Option<(f64, f64, Found)> = None;
    for pair in points.windows(2) {
        let [(from, below), (to, above)] = pair else {
            continue;
        };
        let own: Vec<f64> = above
            .iter()
            .filter_map(|&(r, v)| {
                let partner = below.iter().find(|&&(q, _)| q == r)?;
                Some(v - partner.1)
            })
            .collect();
        let Some(step) = stats::mean(&own) else {
            continue;
        };
        let found = match promise.judge {
            Judge::Value => Found {
                value: Some(step),
                holds: bound.admits(step),
                ..Found::default()
            },
            Judge::Interval => {
                promises::by_interval(promise, step, stats::mean_interval(&own), bound)
            }
        };
        // The step that breaks the promise, else one that leaves it unsure, else the smallest.
        let rank = |found: &Found| {
            let kept = u8::from(found.holds) + u8::from(found.holds || found.unsure);
            (kept, u8::from(!found.unsure))
        };
        let worse =
            worst
                .as_ref()
                .is_none_or(|(_, _, other)| match rank(&found).cmp(&rank(other)) {
                    std::cmp::Ordering::Equal => found.value < other.value,
                    order => order.is_lt(),
                });
        if worse {
            worst = Some((*from, *to, found));
        }
    }
    let Some((from, to, mut found)) = worst else {
        reasons.push("no data".into());
        return Found {
            why: reasons.join("; "),
            ..Found::default()
        };
    };
    found.holds &= reasons.is_empty();
    reasons.push(format!("the step from {from} to {to}"));
    reasons.extend(Some(found.why).filter(|why| !why.is_empty()));
    found.why = reasons.join("; ");
    found
}
