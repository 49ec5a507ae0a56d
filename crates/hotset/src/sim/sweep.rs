//! `hotset sim run`, `sweep` and `compare`
use super::args::{choices, sizes, ShowArgs, Sizes, TraceArgs};
use super::outputs::{OutputArgs, Outputs};
use super::{page, plot, show};
use crate::shell::usage;
use crate::trace::page::about;
use anyhow::{Context, Result};
use clap::Args;
use progress::{Delayed, Unit};
use sim::registry::Choice;
use sim::sweep::results::{Results, TraceId};
use sim::sweep::sampled::Sampled;
use sim::sweep::size::Size;
use sim::sweep::{jobs, sweep, sweep_sampled, Job, Shard};
use sim::Input;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use trace::Trace;

#[derive(Args)]
pub struct RunArgs {
    /// NAME or NAME:PARAMETER=VALUE,...
    #[arg(short, long, value_name = "POLICY", default_value = "lru")]
    policy: String,
    /// Sizes of the cache between commas: objects (4096, 10e3), bytes (64M) or shares of the footprint (1%);
    /// LOW..HIGH:COUNT is that many sizes, each the same factor above the one before
    #[arg(short, long, value_name = "SIZES", value_parser = sizes)]
    size: Sizes,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

#[derive(Args)]
pub struct SweepArgs {
    /// Policies between commas, or all
    #[arg(short, long, value_name = "POLICIES", default_value = "all")]
    policy: Vec<String>,
    /// Sizes of the cache between commas: objects (4096, 10e3), bytes (64M) or shares of the footprint (1%);
    /// LOW..HIGH:COUNT is that many sizes, each the same factor above the one before
    #[arg(short, long, value_name = "SIZES", value_parser = sizes)]
    size: Sizes,
    /// Run only part I of N; `hotset sim merge` merges the --json of all parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

#[derive(Args)]
pub struct CompareArgs {
    /// Policies between commas, or all; LRU and OPT are always run
    #[arg(short, long, value_name = "POLICIES", default_value = "all")]
    policy: Vec<String>,
    /// Sizes of the cache between commas: objects (4096, 10e3), bytes (64M) or shares of the footprint (1%);
    /// LOW..HIGH:COUNT is that many sizes, each the same factor above the one before
    #[arg(short, long, value_name = "SIZES", value_parser = sizes, default_value = "10%")]
    size: Sizes,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

/// Runs a part of the jobs, with progress. `asked` are the sizes as they were written.
///
/// # Errors
/// `--memory` has room for no estimate, or a policy cannot be built.
pub fn results(
    (args, asked): (&TraceArgs, &[Size]),
    trace: &Trace,
    all: &[Job],
    shard: Option<Shard>,
) -> Result<Results> {
    let input = Input::of(trace).with_context(|| trace.name.clone())?;
    let sampled = Sampled::of(trace).with_context(|| trace.name.clone())?;
    if let (Some(sampled), Some(extent)) = (&sampled, &trace.extent) {
        if sampled.is_too_small(all) {
            return Err(args.too_small(asked, extent, args.memory.unwrap_or_default()));
        }
    }
    let threads = args.jobs();
    let mine: Vec<Job> = all
        .iter()
        .filter(|job| shard.is_none_or(|shard| shard.has(job.number)))
        .cloned()
        .collect();
    let each = match &sampled {
        Some(sampled) => sampled.work(),
        None => trace.len() as u64,
    };
    let title = format!("Simulating {} jobs of {} requests", mine.len(), trace.len());
    let late = Delayed::new(title, Some(mine.len() as u64 * each), Unit::Steps);
    let done = AtomicU64::new(0);
    let progress = |requests| {
        late.advance(done.fetch_add(requests, Ordering::Relaxed) + requests);
    };
    let rows = match &sampled {
        Some(sampled) => sweep_sampled(sampled, &mine, threads, &progress),
        None => sweep(&input, &mine, threads, &progress),
    };
    // A parameter has a value that its policy cannot take.
    let rows = rows.map_err(|error| usage!("--policy: {error}"))?;
    let id = TraceId::of(&trace.name, &input);
    let id = id.sampled(trace.sample).without(&trace.skipped);
    Ok(Results::new(id, all.len(), shard, rows))
}

pub fn run_one(args: &RunArgs) -> Result<ExitCode> {
    let choices = choices(std::slice::from_ref(&args.policy))?;
    let outputs = args.outputs.open(&[&args.trace.trace])?;
    let trace = args.trace.load(true, &args.size.0)?;
    let jobs = jobs(&choices, &args.trace.sizes(&args.size.0, &trace));
    let results = results((&args.trace, &args.size.0), &trace, &jobs, None)?;
    shown(
        &results,
        "sim.run",
        (&args.trace, &trace),
        (&args.show, args.trace.cure(&args.size.0, &trace)),
        outputs,
    )
}

pub fn run_sweep(args: &SweepArgs) -> Result<ExitCode> {
    let choices = choices(&args.policy)?;
    let outputs = args.outputs.open(&[&args.trace.trace])?;
    let trace = args.trace.load(true, &args.size.0)?;
    let jobs = jobs(&choices, &args.trace.sizes(&args.size.0, &trace));
    let results = results((&args.trace, &args.size.0), &trace, &jobs, args.shard)?;
    shown(
        &results,
        "sim.sweep",
        (&args.trace, &trace),
        (&args.show, args.trace.cure(&args.size.0, &trace)),
        outputs,
    )
}

/// Prints results, with the cure for sizes that are too small for a sample, then writes the chart and the page: a full disk does not cost the table.
///
/// # Errors
/// Standard output or a file cannot be written, or the trace cannot be read again for its checksum.
pub fn shown(
    results: &Results,
    command: &str,
    (args, trace): (&TraceArgs, &Trace),
    (show, cure): (&ShowArgs, Option<String>),
    outputs: Outputs,
) -> Result<ExitCode> {
    let printed = show::rows(results, command, show, cure.as_deref());
    outputs.write(
        || plot::sweep(results),
        || Ok(page::sweep(results, about(&args.trace, trace)?)),
    )?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

pub fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let mut choices = choices(&args.policy)?;
    for yardstick in ["lru", "opt"] {
        if !choices.iter().any(|choice| choice.to_string() == yardstick) {
            choices.push(Choice::parse(yardstick)?);
        }
    }
    let outputs = args.outputs.open(&[&args.trace.trace])?;
    let trace = args.trace.load(true, &args.size.0)?;
    let jobs = jobs(&choices, &args.trace.sizes(&args.size.0, &trace));
    let results = results((&args.trace, &args.size.0), &trace, &jobs, None)?;
    let cure = args.trace.cure(&args.size.0, &trace);
    let printed = show::comparison(&results, &args.show, cure.as_deref());
    outputs.write(
        || plot::sweep(&results),
        || {
            Ok(page::comparison(
                &results,
                about(&args.trace.trace, &trace)?,
            ))
        },
    )?;
    printed?;
    Ok(ExitCode::SUCCESS)
}
