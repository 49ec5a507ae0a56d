//! `hotset lab list NAME`: one experiment whole.
use super::duration::{counted, duration};
use super::found::{broken, find};
use super::list::summary;
use crate::shell::{document, outln, verbose};
use anyhow::Result;
use lab::experiment::{Arm, Experiment, Listed};
use lab::host;
use lab::run::estimate;
use names::{escaped, shown};
use protocol::plan::{Promise, Relative};
use protocol::spec::{Scene, Until};
use report::wrap;
use serde_json::{json, Value};
use std::process::ExitCode;

/// Shows the experiment of that name, or of that file.
///
/// # Errors
/// There is no such experiment, or its file is broken.
pub fn show(name: &str, as_json: bool) -> Result<ExitCode> {
    let path = find(name)?;
    verbose(format!("experiment: {}", shown(&path)));
    let folder = path.parent().and_then(|folder| folder.file_name());
    let folder = folder.unwrap_or_default().to_string_lossy().into_owned();
    let listed = Listed::read(folder, &path);
    let experiment = listed
        .experiment
        .as_ref()
        .map_err(|it| broken(it.clone()))?;
    match as_json {
        true => outln!(
            "{}",
            document("lab.experiment", 1, &whole(&listed, experiment))?
        )?,
        false => text(&listed, experiment)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn whole(listed: &Listed, experiment: &Experiment) -> Value {
    let arm = |arm: &Arm| {
        json!({
            "name": arm.name, "label": arm.label, "kernel": arm.kernel, "version": arm.version,
            "baseline": arm.baseline,
        })
    };
    let mut whole = summary(listed, experiment);
    whole["about"] = experiment.about.as_str().into();
    whole["repetitions"] = experiment.repetitions.into();
    whole["seed"] = experiment.seed.into();
    whole["arms"] = experiment.arms.iter().map(arm).collect();
    whole["scenes"] = json!(experiment.scenes);
    whole["promises"] = json!(experiment.plan.promises);
    whole
}

fn text(listed: &Listed, experiment: &Experiment) -> Result<()> {
    paragraph("", &experiment.title)?;
    paragraph("", &shown(&experiment.path).to_string())?;
    outln!()?;
    for line in experiment.about.split("\n\n") {
        paragraph("", &line.replace('\n', " "))?;
        outln!()?;
    }
    let (arms, repetitions) = (experiment.arms.len(), experiment.repetitions);
    let trials = arms * repetitions as usize;
    paragraph(
        "",
        &format!(
            "{}: {}, each {}",
            counted(trials, "trial"),
            counted(arms, "arm"),
            counted(repetitions as usize, "time")
        ),
    )?;
    takes("", experiment)?;
    outln!("\nArms:")?;
    let widest = experiment
        .arms
        .iter()
        .map(|arm| arm.name.len())
        .max()
        .unwrap_or(0);
    for arm in &experiment.arms {
        let baseline = match &arm.baseline {
            Some(baseline) => format!("; against {baseline}"),
            None => String::new(),
        };
        let name = format!("  {:widest$}  ", arm.name);
        paragraph(
            &name,
            &format!("{} ({} {}{baseline})", arm.label, arm.version, arm.kernel),
        )?;
    }
    if !listed.presets.is_empty() {
        outln!("\nPresets:")?;
    }
    let widest = listed
        .presets
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0);
    for (name, preset) in &listed.presets {
        let title = match preset.title == experiment.title {
            true => String::new(),
            false => format!("{}; ", preset.title),
        };
        takes(&format!("  {name:widest$}  {title}"), preset)?;
    }
    outln!("\nScenes:")?;
    for scene in &experiment.scenes {
        paragraph(&format!("  {}  ", scene.name), &about_scene(scene))?;
    }
    if !experiment.plan.promises.is_empty() {
        outln!("\nPromises:")?;
    }
    for promise in &experiment.plan.promises {
        paragraph("  ", &about_promise(promise))?;
    }
    Ok(())
}

fn takes(lead: &str, experiment: &Experiment) -> Result<()> {
    let (usual, most) = estimate(experiment, host::jobs());
    let (usual, most) = (duration(usual), duration(most));
    match usual == most {
        true => paragraph(lead, &format!("takes about {usual}")),
        false => paragraph(lead, &format!("takes about {usual}, at most {most}")),
    }
}

fn about_scene(scene: &Scene) -> String {
    let until = match scene.until {
        None => String::new(),
        Some(Until::OomKill) => ", until an OOM kill".into(),
        Some(Until::Killed) => format!(", until {} were killed", scene.kills),
        Some(_) => ", until an event".into(),
    };
    let length = match until.is_empty() {
        true => format!("{} s", scene.seconds),
        false => format!("{} s at most{until}", scene.seconds),
    };
    match scene.run.is_empty() {
        true => length,
        false => format!("{length}: {}", scene.run.join(", ")),
    }
}

fn about_promise(promise: &Promise) -> String {
    let least = promise.at_least.map(|bound| format!("at least {bound}"));
    let most = promise.at_most.map(|bound| format!("at most {bound}"));
    let bounds: Vec<String> = least.into_iter().chain(most).collect();
    let bounds = match (bounds.is_empty(), promise.monotonic) {
        (true, _) => "rises".to_string(),
        (false, _) => bounds.join(", "),
    };
    let relative = match &promise.relative_to {
        Relative::Nothing => String::new(),
        Relative::Baseline => " of the baseline's".into(),
        Relative::Scene(scene) => format!(" of scene {scene}'s"),
        Relative::Series(series) => format!(" of series {series}'s"),
    };
    let of = [promise.arms.as_slice(), &promise.series]
        .concat()
        .join(", ");
    format!(
        "{}: {} in {} {bounds}{relative} ({of})",
        promise.title, promise.metric, promise.scene
    )
}

/// Text behind a lead, on lines that fit the terminal. Lines after the first begin below the text.
fn paragraph(lead: &str, text: &str) -> Result<()> {
    let indent = lead.chars().count();
    let room = host::terminal_width().saturating_sub(indent).max(20);
    let text = escaped(text).replace('\n', " ");
    for (place, line) in wrap(&text, room).iter().enumerate() {
        match place {
            0 => outln!("{lead}{line}")?,
            _ => outln!("{:indent$}{line}", "")?,
        }
    }
    Ok(())
}
