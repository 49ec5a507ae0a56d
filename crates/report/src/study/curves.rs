//! Figures over the arms' `x`, with one line for each series.
use super::figures::{self, Across};
use super::measure::{self, Measure};
use super::Context;
use protocol::plan::Curve;
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
    /// The points in order of rising `x`.
    pub points: Vec<CurvePoint>,
}

#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    pub x: f64,
    pub arm: String,
    /// The repetition and the number of each trial that gave one.
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
            across: figures::across(&numbers, &curve.unit),
            trials,
        }
    };
    context.series(series).into_iter().map(point).collect()
}
