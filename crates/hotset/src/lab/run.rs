//! `hotset lab run`: an experiment from its name to its report.
use super::command::command;
use super::duration::{counted, duration};
use super::found::{broken, find};
use super::output::{default_output, typed};
use super::report::of_run;
use super::run_args::RunArgs;
use crate::kernel;
use crate::shell::{error, note, outln, usage, verbose};
use anyhow::Result;
use lab::experiment::{Changes, Experiment};
use lab::host;
use lab::run::display;
use lab::run::{self as runner, estimate, Options, Summary};
use names::{quoted, shown};
use protocol::record::Outcome;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Runs the experiment and shows its report.
///
/// # Errors
/// The command line names nothing that there is, or the run itself fails.
pub fn run_experiment(args: &RunArgs) -> Result<ExitCode> {
    let experiment = experiment(args)?;
    let jobs = args.guests.jobs.unwrap_or_else(host::jobs);
    let options = Options {
        jobs,
        out: { args.output.clone() }.unwrap_or_else(|| default_output(&experiment.name)),
        tree: args.guests.tree.clone(),
        resume: args.guests.resume,
        force: args.guests.force,
        keep_going: args.guests.keep_going,
        quiet: args.guests.json && !std::io::stderr().is_terminal(),
        command: command(args, &lab::run::environment(), experiment.seed, jobs),
    };
    let (usual, most) = estimate(&experiment, options.jobs);
    let trials = experiment.arms.len() * experiment.repetitions as usize;
    note(format!(
        "{}, about {}, at most {}; results in {}",
        counted(trials, "trial"),
        duration(usual),
        duration(most),
        shown(&options.out)
    ));
    for found in &experiment.notes {
        note(format!("note: {found}"));
    }
    if args.dry_run {
        runner::check(&experiment, &options).map_err(typed)?;
        return planned(&experiment);
    }
    let summary = runner::run(&experiment, &options).map_err(typed)?;
    if let Some(signal) = summary.interrupted {
        interrupted(&summary);
        return Ok(ExitCode::from(128 + signal));
    }
    let written = report::write(&summary.dir)?;
    of_run(&written, &summary, args.guests.json)?;
    for (arm, repetition, outcome) in &summary.trials {
        if *outcome != Outcome::Ok {
            let message = display::message(outcome);
            error(format!("{arm}-{repetition}: {message}"));
        }
    }
    if summary.trials.len() < summary.planned {
        let (made, planned) = (summary.trials.len(), summary.planned);
        error(format!(
            "stopped after {made} of {planned} trials because a guest failed; --keep-going runs the rest"
        ));
    }
    let promises = written.study.promises.iter().all(|promise| promise.holds);
    Ok(ExitCode::from(u8::from(!promises || !summary.all_ok())))
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
