//! `hotset lab run`: an experiment from its name to its report.
mod on_cluster;

use super::command::command;
use super::duration::{counted, duration};
use super::found::{broken, find};
use super::output::{default_output, typed};
use super::report::told;
use super::run_args::RunArgs;
use crate::kernel;
use crate::shell::{error, note, outln, usage, verbose};
use anyhow::Result;
use lab::experiment::{Changes, Experiment};
use lab::host;
use lab::run::{self as runner, estimate, Options, Summary};
use names::{quoted, shown};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Runs the experiment and shows its report.
///
/// # Errors
/// The command line names nothing that there is, or the run itself fails.
pub fn run_experiment(args: &RunArgs) -> Result<ExitCode> {
    let experiment = experiment(args)?;
    let usual = || match args.on {
        // What its hosts have is not known here.
        Some(_) => 1,
        None => host::jobs(),
    };
    let jobs = args.guests.jobs.unwrap_or_else(usual);
    let options = Options {
        jobs,
        out: { args.output.clone() }.unwrap_or_else(|| default_output(&experiment.name)),
        tree: args.guests.tree.clone(),
        only: args.only_repetition,
        resume: args.guests.resume,
        force: args.guests.force,
        keep_going: args.guests.keep_going,
        quiet: args.guests.json && !std::io::stderr().is_terminal(),
        command: command(args, &lab::run::environment(), experiment.seed, jobs),
    };
    // An element of a cluster's array makes a part of what was announced.
    if args.only_repetition.is_none() {
        announce(&experiment, &options, args);
    }
    if args.dry_run {
        let checked = match args.on {
            Some(_) => lab::cluster::check(&experiment, &options),
            None => runner::check(&experiment, &options),
        };
        checked.map_err(typed)?;
        return planned(&experiment);
    }
    if args.on.is_some() {
        return on_cluster::run(args, &experiment, &options);
    }
    let summary = runner::run(&experiment, &options).map_err(typed)?;
    if let Some(signal) = summary.interrupted {
        interrupted(&summary);
        return Ok(ExitCode::from(128 + signal));
    }
    let well = told(&summary, args.guests.json)?;
    if summary.trials.len() < summary.planned {
        let (made, planned) = (summary.trials.len(), summary.planned);
        error(format!(
            "stopped after {made} of {planned} trials because a guest failed; --keep-going runs the rest"
        ));
    }
    // Promises are of all repetitions.
    let well = match args.only_repetition {
        Some(_) => summary.all_ok(),
        None => well,
    };
    Ok(ExitCode::from(u8::from(!well)))
}

/// Says what will be run.
fn announce(experiment: &Experiment, options: &Options, args: &RunArgs) {
    let trials = experiment.arms.len() * experiment.repetitions as usize;
    let what = counted(trials, "trial");
    let out = shown(&options.out);
    match args.on {
        None => {
            let (usual, most) = estimate(experiment, options.jobs);
            let (usual, most) = (duration(usual), duration(most));
            note(format!(
                "{what}, about {usual}, at most {most}; results in {out}"
            ));
        }
        // How many hosts there are, the scheduler knows.
        Some(_) => note(format!(
            "{what} in {} of Slurm's; results in {out}",
            counted(experiment.repetitions as usize, "task")
        )),
    }
    for found in &experiment.notes {
        note(format!("note: {found}"));
    }
}

/// Prints the trials that a run would have.
fn planned(experiment: &Experiment) -> Result<ExitCode> {
    for arm in &experiment.arms {
        let trials = counted(experiment.repetitions as usize, "trial");
        outln!("{}: {trials}", arm.name)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The experiment that the arguments describe.
fn experiment(args: &RunArgs) -> Result<Experiment> {
    if let Some(line) = args.kernel {
        kernel::known(line, args.guests.tree.as_deref())?;
    }
    let path = find(&args.experiment)?;
    verbose(format!("experiment: {}", shown(&path)));
    let mut set = args.set.clone();
    set.extend(args.repetitions.map(|n| format!("repetitions={n}")));
    set.extend(args.guests.seed.map(|seed| format!("seed={seed}")));
    let bed = args.bed.as_ref();
    set.extend(bed.map(|bed| format!("machine.bed=\"{bed}\"")));
    let changes = Changes {
        preset: args.preset.clone(),
        set,
    };
    let mut experiment = Experiment::load(&path, &changes).map_err(broken)?;
    if !args.arms.is_empty() {
        let only = experiment.only(&args.arms);
        for lost in only.map_err(|error| usage!("--arm: {error:#}"))? {
            note(format!("note: --arm: {lost}"));
        }
    }
    if let Some(line) = args.kernel {
        experiment.on_line(line);
    }
    Ok(experiment)
}

fn interrupted(summary: &Summary) {
    let (made, dir) = (summary.trials.len(), shown(&summary.dir));
    error(format!(
        "interrupted; {made} of {} trials are in {dir}",
        summary.planned
    ));
    if made > 0 {
        let dir = quoted(&dir.to_string());
        note(format!(
            "`hotset lab report {dir}` reports on these; the same command with --resume --output {dir} makes \
             the rest"
        ));
    }
}
