//! `hotset sim campaign run` and `merge`
use super::on::OnArgs;
use crate::shell::{document, error, folder, note, outln};
use anyhow::Result;
use campaign::merge::Merged;
use campaign::run::Outcome;
use campaign::{Folder, Plan};
use clap::Args;
use names::shown;
use progress::{duration, Delayed, Unit};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Args)]
pub struct RunArgs {
    /// The campaign: traces, policies, sizes
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// The campaign's folder. With results of the same campaign in it, the run goes on
    #[arg(short, long, value_name = "FOLDER", value_parser = folder())]
    output: PathBuf,
    #[command(flatten)]
    on: OnArgs,
    /// Say what would be run, and what it would need
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct MergeArgs {
    /// The campaign's folder
    folder: PathBuf,
}

pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let late = Delayed::new("Looking at traces", None, Unit::Of("traces"));
    let looked = |done| late.advance(done);
    if args.dry_run {
        return planned(&Plan::of(&args.file, &looked)?, args);
    }
    let engine = args.on.engine()?;
    let folder = Folder::begin(&args.output, &args.file, &looked)?;
    drop(late);
    let begun = Instant::now();
    let tasks = folder.plan.tasks.len();
    let title = format!("Running {tasks} tasks");
    let late = Delayed::new(title, Some(tasks as u64), Unit::Steps);
    let outcome = campaign::run::run(&folder, engine.as_ref(), &|done| late.advance(done))?;
    drop(late);
    let seconds = begun.elapsed().as_secs_f64();
    let merged = merged(&folder)?;
    told(args, &folder, &outcome, &merged, seconds)
}

fn planned(plan: &Plan, args: &RunArgs) -> Result<ExitCode> {
    let seconds: f64 = plan.tasks.iter().map(campaign::plan::Task::seconds).sum();
    let memory = plan.tasks.iter().map(|task| task.memory).max();
    let memory = memory.unwrap_or(0);
    if args.json {
        let whole = json!({
            "traces": plan.traces.len(), "policies": plan.policies, "sizes": plan.sizes,
            "tasks": plan.tasks.len(), "cpu_seconds": seconds, "memory": memory,
        });
        outln!("{}", document("sim.campaign.plan", 1, &whole)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    outln!(
        "{} traces, {} policies, {} sizes: {} tasks",
        plan.traces.len(),
        plan.policies.len(),
        plan.sizes.len(),
        plan.tasks.len()
    )?;
    outln!(
        "predicted: {} of one processor, {} for the largest task",
        duration(seconds.ceil() as u64),
        units::format_bytes(memory as f64)
    )?;
    Ok(ExitCode::SUCCESS)
}

fn merged(folder: &Folder) -> Result<Merged> {
    let tasks = folder.plan.tasks.len() as u64;
    let late = Delayed::new("Merging", Some(tasks), Unit::Steps);
    campaign::merge::merge(folder, &|done| late.advance(done))
}

/// Says what became of a run. The failed tasks decide the exit status.
fn told(
    args: &RunArgs,
    folder: &Folder,
    outcome: &Outcome,
    merged: &Merged,
    seconds: f64,
) -> Result<ExitCode> {
    for failure in &outcome.failed {
        error(format!(
            "task {}, {}: {}",
            failure.task, failure.name, failure.reason
        ));
    }
    let results = folder.results();
    if args.json {
        let whole = json!({
            "results": results.to_string_lossy(), "rows": merged.rows, "traces": merged.traces,
            "traces_missing": merged.missing, "tasks": folder.plan.tasks.len(), "done_before": outcome.before,
            "done": outcome.done, "tried_again": outcome.again, "failed": outcome.failed, "seconds": seconds,
        });
        outln!("{}", document("sim.campaign.run", 1, &whole)?)?;
    } else {
        let before = match outcome.before {
            0 => String::new(),
            before => format!(", {before} done before"),
        };
        let again = match outcome.again {
            0 => String::new(),
            again => format!(", {again} tried twice"),
        };
        note(format!(
            "{} tasks done in {}{before}{again}, {} failed",
            outcome.done,
            duration(seconds.ceil() as u64),
            outcome.failed.len()
        ));
        note(format!(
            "{}: {} rows of {} traces",
            shown(&results),
            merged.rows,
            merged.traces
        ));
    }
    Ok(match outcome.failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

pub fn merge(args: &MergeArgs) -> Result<ExitCode> {
    let folder = Folder::open(&args.folder)?;
    let merged = merged(&folder)?;
    let results = folder.results();
    note(format!(
        "{}: {} rows of {} traces",
        shown(&results),
        merged.rows,
        merged.traces
    ));
    for name in &merged.missing {
        error(format!(
            "{name}: a task has no result; `hotset sim campaign run` goes on"
        ));
    }
    Ok(match merged.missing.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
