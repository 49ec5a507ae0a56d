//! `hotset lab list`: the experiments in a line or two each.
use super::duration::{duration, minutes};
use super::found::broken;
use crate::shell::{document, error, outln, verbose};
use anyhow::Result;
use lab::experiment::{self, Experiment, Listed};
use lab::host;
use lab::run::estimate;
use names::shown;
use report::wrap;
use serde_json::{json, Value};
use std::process::ExitCode;

/// Columns of a duration: "8 h 46 min".
const DURATION: usize = 10;
/// Columns between two cells, and before the first.
const GAP: usize = 2;

/// The experiments by folder.
///
/// # Errors
/// A folder of experiments cannot be read. A broken experiment is reported, and the others are listed.
pub fn list(as_json: bool) -> Result<ExitCode> {
    let listed = experiment::list()?;
    let mut wrong = None;
    let mut found = Vec::new();
    for one in &listed {
        match &one.experiment {
            Ok(experiment) => {
                verbose(format!("experiment: {}", shown(&experiment.path)));
                found.push((one, experiment));
            }
            Err(reason) => {
                let reason = broken(reason.clone());
                error(format!("{reason:#}"));
                wrong = Some(crate::shell::status_of(&reason));
            }
        }
    }
    match as_json {
        true => {
            let rows: Vec<Value> = found.iter().map(|(one, it)| summary(one, it)).collect();
            let whole = json!({ "guests_at_once": host::jobs(), "experiments": rows });
            outln!("{}", document("lab.list", 1, &whole)?)?;
        }
        false => text(&found)?,
    }
    Ok(ExitCode::from(wrong.unwrap_or(0)))
}

fn text(found: &[(&Listed, &Experiment)]) -> Result<()> {
    let widest = found.iter().map(|(_, it)| it.name.len()).max().unwrap_or(0);
    let indent = GAP + widest + GAP + DURATION + GAP;
    let room = host::terminal_width().saturating_sub(indent).max(20);
    let mut folder = "";
    for (one, experiment) in found {
        if folder != one.folder {
            folder = &one.folder;
            outln!("{folder}/")?;
        }
        let (usual, _) = estimate(experiment, host::jobs());
        let takes = duration(usual);
        let mut title = wrap(&experiment.title, room).into_iter();
        let first = title.next().unwrap_or_default();
        outln!("  {:widest$}  {takes:>DURATION$}  {first}", experiment.name)?;
        for line in title {
            outln!("{:indent$}{line}", "")?;
        }
    }
    let jobs = host::jobs();
    let guests = if jobs == 1 { "guest" } else { "guests" };
    outln!()?;
    outln!("Durations are with {jobs} {guests} at once. `hotset lab list NAME` shows one whole.")
}

/// The fields of an experiment that the list has.
pub fn summary(one: &Listed, experiment: &Experiment) -> Value {
    let arms: Vec<&str> = { experiment.arms.iter() }
        .map(|arm| arm.name.as_str())
        .collect();
    let (usual, most) = estimate(experiment, host::jobs());
    let preset = |(name, experiment): &(String, Experiment)| {
        let (usual, most) = estimate(experiment, host::jobs());
        json!({ "name": name, "seconds": usual, "seconds_at_most": most })
    };
    json!({
        "name": experiment.name, "folder": one.folder, "title": experiment.title,
        "path": experiment.path, "arms": arms,
        "presets": one.presets.iter().map(preset).collect::<Vec<_>>(),
        "seconds": usual, "seconds_at_most": most,
        "minutes": minutes(usual), "minutes_at_most": minutes(most),
    })
}
