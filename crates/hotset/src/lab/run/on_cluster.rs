//! `hotset lab run --on slurm`: repetitions on hosts of a cluster.
use crate::lab::command::command;
use crate::lab::output::typed;
use crate::lab::report::told;
use crate::lab::run_args::RunArgs;
use crate::shell::{error, note};
use anyhow::{Context, Result};
use lab::cluster::{self, Job};
use lab::experiment::Experiment;
use lab::run::Options;
use names::{quoted, shown};
use std::process::ExitCode;

/// Submits the repetitions, waits, and reports.
///
/// # Errors
/// As [`cluster::run`].
pub fn run(args: &RunArgs, experiment: &Experiment, options: &Options) -> Result<ExitCode> {
    let job = Job {
        words: &command(args, &[], experiment.seed, options.jobs),
        program: std::env::current_exe().context("this program's own file")?,
        with: &args.with,
    };
    let ended = cluster::run(experiment, options, &job).map_err(typed)?;
    let summary = &ended.summary;
    if let Some(signal) = summary.interrupted {
        let dir = shown(&summary.dir).to_string();
        error("stopped waiting; what Slurm has goes on");
        note(format!(
            "the same command with --resume --output {} waits for it",
            quoted(&dir)
        ));
        return Ok(ExitCode::from(128 + signal));
    }
    let well = told(summary, args.guests.json)?;
    for log in &ended.lacking {
        let log = shown(log);
        error(format!("trials are missing; the log is {log}"));
    }
    Ok(ExitCode::from(u8::from(!well)))
}
