//! Runs an experiment on a cluster, by its own scheduler: each repetition is an element of a job array and has a host
//! to itself, so that all arms of a repetition are measured on one host.
//!
//! Each element runs `hotset lab run` with one repetition. [`parts`] has the folders of these runs, and makes one run
//! of them.
mod asked;
mod parts;
mod script;

use crate::experiment::Experiment;
use crate::host::stop::Stop;
use crate::inputs::recorded::Recorded;
use crate::results::{resume, Results};
use crate::run::{obtain, preflight, Options, Summary};
use anyhow::{bail, Context, Result};
use asked::Asked;
use cluster::{refused, slurm};
use names::shown;
use parts::Parts;
use progress::{Delayed, Unit};
pub use script::Job;
use std::path::PathBuf;

/// The end of a run on a cluster.
pub struct Ended {
    pub summary: Summary,
    /// Logs of the repetitions that lack trials.
    pub lacking: Vec<PathBuf>,
}

/// The wait was ended by a signal; what was submitted goes on.
#[derive(Debug, thiserror::Error)]
#[error("stopped waiting")]
struct Interrupted;

/// Checks everything that needs neither a build nor a host.
///
/// # Errors
/// As [`crate::run::check`], or Slurm cannot be used, or jobs of a run that would be moved aside are still queued.
pub fn check(experiment: &Experiment, options: &Options) -> Result<()> {
    let longest = slurm::longest_array()?;
    if experiment.repetitions as usize > longest {
        let repetitions = experiment.repetitions;
        return Err(refused!(
            "--repetitions {repetitions}: Slurm's arrays have {longest} elements at most here (MaxArraySize)"
        ));
    }
    let out = &options.out;
    match Asked::of(out)? {
        None if options.resume => return Err(asked::nothing(options)),
        Some(asked) if options.resume => asked.check(experiment, options)?,
        Some(asked) if options.force && slurm::has_any(&|name| name == asked.name)? => {
            let name = asked.name;
            return Err(refused!(
                "--force: {} has jobs in Slurm; `scancel --name={name}` ends them, --resume waits for them",
                shown(out)
            ));
        }
        _ if options.force => {}
        _ => Results::vacant(out)?,
    }
    preflight::obtainable(experiment, options)
}

/// Submits the repetitions that have not been made, waits for them, and puts their trials together.
///
/// # Errors
/// As [`crate::run::run`], for what is checked before a guest boots; the scheduler refuses or does not answer; parts are
/// of different runs.
pub fn run(experiment: &Experiment, options: &Options, job: &Job<'_>) -> Result<Ended> {
    check(experiment, options)?;
    // Into the cache, which hosts share on most clusters: two of them would build the same kernel at once.
    obtain(experiment, options)?;
    let parts = Parts::begin(experiment, options)?;
    Recorded::of(experiment)?.keep(&options.out)?;
    let signals = Stop::on_signals()?;
    let planned = experiment.arms.len() * experiment.repetitions as usize;
    let progress = Delayed::new(
        "Trials on the cluster",
        Some(planned as u64),
        Unit::Of("trials"),
    );
    let watch = || -> Result<()> {
        progress.advance(parts.trials()? as u64);
        match signals.asked() {
            true => bail!(Interrupted),
            false => Ok(()),
        }
    };
    let done = submitted(experiment, &parts, job, &watch);
    drop(progress);
    let summary = |trials, interrupted| Summary {
        dir: options.out.clone(),
        trials,
        planned,
        interrupted,
    };
    if let Err(error) = done {
        if !error.is::<Interrupted>() {
            return Err(error);
        }
        return Ok(Ended {
            summary: summary(Vec::new(), signals.signal()),
            lacking: Vec::new(),
        });
    }
    let lacking = parts.open()?;
    let Some(run) = parts.gather()? else {
        bail!(
            "no repetition has begun; Slurm's logs, if there are any, are {}/*.log",
            shown(parts.dir())
        );
    };
    Ok(Ended {
        summary: summary(resume::made(&options.out, &run)?, None),
        lacking: lacking.into_iter().map(|part| parts.log(part)).collect(),
    })
}

/// Waits for what an earlier command submitted, submits what is left, and waits for it.
fn submitted(
    experiment: &Experiment,
    parts: &Parts<'_>,
    job: &Job<'_>,
    watch: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let name = parts.name();
    let is_ours = |queued: &str| queued == name;
    slurm::wait(&is_ours, false, watch)?;
    let open = parts.open()?;
    if open.is_empty() {
        return Ok(());
    }
    let script = script::write(job, parts)?;
    let numbers: Vec<String> = open.iter().map(u32::to_string).collect();
    let mut options = vec![
        "--nodes=1".to_string(),
        "--exclusive".to_string(),
        // All of the host's.
        "--mem=0".to_string(),
    ];
    options.extend(job.with.iter().cloned());
    let array = slurm::Array {
        name,
        elements: numbers.join(","),
        script: &script,
        dir: parts.dir(),
        output: parts.log_pattern(),
        options,
    };
    let submitted = array.submit();
    submitted.with_context(|| format!("submitting {}", experiment.name))?;
    slurm::wait(&is_ours, true, watch)
}
