//! Checks the contents of the report: figures, charts, curves, comparisons and promises.
use super::metrics::{metric, traced};
use super::rule::{invalid, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{at, there_are, Step};
use protocol::comparison::Comparison;
use protocol::plan::{Judge, Promise, Relative};

pub fn plan(experiment: &Experiment) -> Checked {
    for (i, figure) in experiment.plan.figures.iter().enumerate() {
        scene(experiment, at!["figures", i, "scene"], &figure.scene)?;
        let at = at!["figures", i, "metric"];
        metric(experiment, at, &figure.metric, Some(figure.statistic))?;
    }
    for (i, chart) in experiment.plan.charts.iter().enumerate() {
        scene(experiment, at!["charts", i, "scene"], &chart.scene)?;
        metric(experiment, at!["charts", i, "metric"], &chart.metric, None)?;
    }
    for (i, curve) in experiment.plan.curves.iter().enumerate() {
        scene(experiment, at!["curves", i, "scene"], &curve.scene)?;
        let at = at!["curves", i, "metric"];
        metric(experiment, at, &curve.metric, Some(curve.statistic))?;
        if experiment.arms.iter().all(|arm| arm.point.is_none()) {
            let message = "a curve needs arms with points: add [[sweeps]]";
            return invalid(at!["curves", i], message);
        }
    }
    for (i, comparison) in experiment.plan.comparisons.iter().enumerate() {
        of_comparison(experiment, i, comparison)?;
    }
    for (i, promise) in experiment.plan.promises.iter().enumerate() {
        of_promise(experiment, i, promise)?;
    }
    Ok(())
}

fn of_comparison(experiment: &Experiment, i: usize, comparison: &Comparison) -> Checked {
    let place = at!["comparisons", i, "scene"];
    scene(experiment, place, &comparison.scene)?;
    for (j, row) in comparison.rows.iter().enumerate() {
        let at = at!["comparisons", i, "rows", j, "metric"];
        metric(experiment, at, &row.metric, Some(row.statistic))?;
    }
    arm(experiment, at!["comparisons", i, "from"], &comparison.from)?;
    for (j, name) in comparison.to.iter().enumerate() {
        arm(experiment, at!["comparisons", i, "to", j], name)?;
    }
    if comparison.to.is_empty() {
        return invalid(at!["comparisons", i, "to"], "expected at least one arm");
    }
    Ok(())
}

fn of_promise(experiment: &Experiment, i: usize, promise: &Promise) -> Checked {
    of_series(experiment, i, promise)?;
    of_interval(i, promise)?;
    scene(experiment, at!["promises", i, "scene"], &promise.scene)?;
    let place = at!["promises", i, "metric"];
    metric(
        experiment,
        place.clone(),
        &promise.metric,
        Some(promise.statistic),
    )?;
    traced(experiment, place, &promise.metric)?;
    for (j, name) in promise.arms.iter().enumerate() {
        let place = at!["promises", i, "arms", j];
        arm(experiment, place.clone(), name)?;
        let mut of_name = experiment.arms.iter().filter(|arm| arm.name == *name);
        let without = of_name.any(|arm| arm.baseline.is_none());
        if promise.relative_to == Relative::Baseline && without {
            let message = format!("arm {name:?} has no baseline to be compared with");
            return invalid(place, message);
        }
    }
    if promise.arms.is_empty() && promise.series.is_empty() {
        return invalid(
            at!["promises", i, "arms"],
            "expected at least one arm or series",
        );
    }
    if let Relative::Scene(name) = &promise.relative_to {
        let place = at!["promises", i, "relative_to", "scene"];
        scene(experiment, place, name)?;
    }
    let bounded = promise.at_least.is_some() || promise.at_most.is_some();
    if !bounded && !promise.monotonic {
        return invalid(at!["promises", i], "expected at_least or at_most");
    }
    if let (Some(least), Some(most)) = (promise.at_least, promise.at_most) {
        if least > most {
            let message =
                format!("{least} is above at_most = {most}: no value is within the bounds");
            return invalid(at!["promises", i, "at_least"], message);
        }
    }
    Ok(())
}

/// Checks a promise about series of arms.
fn of_series(experiment: &Experiment, i: usize, promise: &Promise) -> Checked {
    let points = experiment.arms.iter().filter_map(|arm| arm.point.as_ref());
    let mut known: Vec<&String> = points.map(|point| &point.series).collect();
    known.dedup();
    let exists = |at, name: &String| {
        if known.contains(&name) {
            return Ok(());
        }
        let message = format!("no series is called {name:?}; {}", there_are(name, &known));
        invalid(at, message)
    };
    for (j, name) in promise.series.iter().enumerate() {
        exists(at!["promises", i, "series", j], name)?;
    }
    if let Relative::Series(name) = &promise.relative_to {
        let at = at!["promises", i, "relative_to", "series"];
        exists(at.clone(), name)?;
        if promise.monotonic {
            let message = "a series rises by itself, not relative to another: remove `series` or \
                           `monotonic`";
            return invalid(at, message);
        }
    }
    if promise.monotonic && (promise.series.is_empty() || !promise.arms.is_empty()) {
        let message = "`monotonic` is a promise about series: name series, and no arms";
        return invalid(at!["promises", i, "monotonic"], message);
    }
    Ok(())
}

/// Checks a promise that is judged by its confidence interval, or by its value.
fn of_interval(i: usize, promise: &Promise) -> Checked {
    if promise.judge == Judge::Interval && promise.width.is_none() && !promise.may_be_unsure {
        let message = "expected a width: any bound lies in an interval that is wide enough";
        return invalid(at!["promises", i], message);
    }
    if promise.judge == Judge::Value && (promise.width.is_some() || promise.may_be_unsure) {
        let message = "`width` and `may_be_unsure` need judge = \"interval\"";
        return invalid(at!["promises", i], message);
    }
    Ok(())
}

fn scene(experiment: &Experiment, at: Vec<Step>, name: &String) -> Checked {
    let known: Vec<&String> = experiment.scenes.iter().map(|scene| &scene.name).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let message = format!("no scene is called {name:?}; {}", there_are(name, &known));
    invalid(at, message)
}

fn arm(experiment: &Experiment, at: Vec<Step>, name: &String) -> Checked {
    let known: Vec<&String> = experiment.arms.iter().map(|arm| &arm.name).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let message = format!("no arm is called {name:?}; {}", there_are(name, &known));
    invalid(at, message)
}
