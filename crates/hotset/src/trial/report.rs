//! The report of a trial, on standard output.
use crate::shell::{document, out, outln};
use anyhow::{Context, Result};
use lab::host;
use names::shown;
use protocol::record::Run;
use report::study::{difference, Cell, Difference, FigureStudy};
use report::{Study, Written};
use serde_json::{json, Value};
use std::path::Path;

/// Writes the report into the trial's folder, and shows it.
///
/// # Errors
/// The folder has no run, or a file cannot be written.
pub fn show(dir: &Path, as_json: bool) -> Result<()> {
    let written = report::write(dir)?;
    if as_json {
        return outln!("{}", document("trial", 1, &fields(dir, &written))?);
    }
    out!(
        "{}",
        report::terminal(&written.study, host::terminal_width(), true)
    )?;
    let html = shown(&written.html).to_string();
    outln!("{html}")
}

/// The seed of the trial in a folder.
///
/// # Errors
/// The folder has no trial.
pub fn seed_of(dir: &Path) -> Result<u64> {
    let path = dir.join("run.json");
    let name = || shown(&path).to_string();
    let text = std::fs::read_to_string(&path).with_context(name)?;
    let run: Run = serde_json::from_str(&text).with_context(name)?;
    Ok(run.seed)
}

fn fields(dir: &Path, written: &Written) -> Value {
    let Study {
        run, arms, figures, ..
    } = &written.study;
    let labels: Vec<&str> = arms.iter().map(|arm| arm.label.as_str()).collect();
    let figures = figures.iter().filter(|figure| figure.unmeasured.is_none());
    let figures: Vec<Value> = figures.map(figure).collect();
    json!({
        "dir": dir, "html": written.html, "markdown": written.markdown, "study": written.json,
        "a": labels.first(), "b": labels.get(1), "pairs": run.repetitions, "seed": run.seed,
        "planned": arms.iter().map(|arm| arm.planned).sum::<u32>(),
        "ok": arms.iter().map(|arm| arm.ok).sum::<u32>(),
        "figures": figures,
    })
}

fn figure(found: &FigureStudy) -> Value {
    let side = |cell: &Cell| {
        let across = cell.across.as_ref();
        let ends = across
            .and_then(|it| it.median_spread)
            .map(|spread| spread.ends());
        json!({
            "median": across.map(|it| it.median), "mean": across.map(|it| it.mean),
            "low": ends.map(|ends| ends.low), "high": ends.map(|ends| ends.high),
        })
    };
    let (a, b) = (&found.cells[0], &found.cells[1]);
    let (kind, bound) = match difference(b, a) {
        Difference::Found { .. } => ("found", None),
        Difference::NotFound { bound, .. } => ("not-found", bound),
        Difference::NoneAtAll => ("none-at-all", None),
        Difference::TooFew { .. } => ("too-few-pairs", None),
        Difference::NoRatio => ("no-ratio", None),
        Difference::NoValue => ("no-value", None),
    };
    let ratio = b.ratio.as_ref();
    let ends = ratio.and_then(|ratio| ratio.spread?.interval());
    json!({
        "title": found.figure.title, "metric": found.figure.metric, "unit": found.figure.unit,
        "statistic": found.figure.statistic, "a": side(a), "b": side(b),
        "ratio": ratio.map(|ratio| ratio.value), "low": ends.map(|ends| ends.low),
        "high": ends.map(|ends| ends.high), "difference": kind, "bound": bound,
    })
}
