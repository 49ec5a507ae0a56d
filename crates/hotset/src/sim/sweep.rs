//! `hotset sim run`, `sweep` and `compare`
use super::args::{choices, sizes, threads, ShowArgs, Sizes, TraceArgs};
use super::{page, plot, show};
use crate::late::Late;
use crate::trace::page::about;
use anyhow::{Context, Result};
use clap::Args;
use kbuild::progress::Unit;
use sim::registry::Choice;
use sim::results::{Results, TraceId};
use sim::sampled::Sampled;
use sim::sweep::{jobs, sweep, sweep_sampled, Job, Shard};
use sim::Input;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use trace::Trace;

#[derive(Args)]
pub struct RunArgs {
    /// NAME or NAME:PARAMETER=VALUE,...
    #[arg(short, long, value_name = "POLICY", default_value = "lru")]
    policy: String,
    /// Objects, bytes or a share of the footprint
    #[arg(short, long, value_name = "SIZE", value_parser = sizes)]
    size: Sizes,
    /// Also write a page: the table, the chart, counters, the trace and the command. It needs no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
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
    /// Sizes between commas
    #[arg(short, long, value_name = "SIZES", value_parser = sizes)]
    size: Sizes,
    /// Only part I of N; `hotset sim merge` puts the parts' --json together
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Jobs at a time; as many as there are processors by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the miss ratios as a chart
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Also write a page: the table, the chart, counters, the trace and the command. It needs no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

#[derive(Args)]
pub struct CompareArgs {
    /// Policies between commas, or all; LRU and OPT are run in any case
    #[arg(short, long, value_name = "POLICIES", default_value = "all")]
    policy: Vec<String>,
    /// Objects, bytes or a share of the footprint
    #[arg(short, long, value_name = "SIZE", value_parser = sizes, default_value = "10%")]
    size: Sizes,
    /// Also write a page: the table, the chart, counters, the trace and the command. It needs no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

/// Runs a part of the jobs, with progress.
pub fn results(
    trace: &Trace,
    all: &[Job],
    shard: Option<Shard>,
    threads: usize,
) -> Result<Results> {
    let input = Input::of(trace).with_context(|| trace.name.clone())?;
    let sampled = Sampled::of(trace).with_context(|| trace.name.clone())?;
    let mine: Vec<Job> = all
        .iter()
        .filter(|job| shard.is_none_or(|shard| shard.has(job.number)))
        .cloned()
        .collect();
    let each = match &sampled {
        Some(sampled) => sampled.work(),
        None => trace.len() as u64,
    };
    let what = format!("Simulating {} jobs of {} requests", mine.len(), trace.len());
    let late = Late::new(what, Some(mine.len() as u64 * each), Unit::Steps);
    let done = AtomicU64::new(0);
    let progress = |requests| {
        late.advance(done.fetch_add(requests, Ordering::Relaxed) + requests);
    };
    let rows = match &sampled {
        Some(sampled) => sweep_sampled(sampled, &mine, threads, &progress)?,
        None => sweep(&input, &mine, threads, &progress)?,
    };
    let id = TraceId::of(&trace.name, &input);
    let id = id.sampled(trace.sample).without(&trace.skipped);
    Ok(Results::new(id, all.len(), shard, rows))
}

pub fn run_one(args: &RunArgs) -> Result<ExitCode> {
    let choices = choices(std::slice::from_ref(&args.policy))?;
    let trace = args.trace.load(true, 1)?;
    let jobs = jobs(&choices, &args.trace.sizes(&args.size.0, &trace));
    let results = results(&trace, &jobs, None, threads(None))?;
    if let Some(path) = &args.report {
        let about = about(&args.trace.trace, &trace)?;
        super::write(path, &page::sweep(&results, about))?;
    }
    show::rows(&results, &args.show)?;
    Ok(ExitCode::SUCCESS)
}

pub fn run_sweep(args: &SweepArgs) -> Result<ExitCode> {
    let choices = choices(&args.policy)?;
    let threads = threads(args.threads.map(usize::from));
    let trace = args.trace.load(true, threads)?;
    let jobs = jobs(&choices, &args.trace.sizes(&args.size.0, &trace));
    let results = results(&trace, &jobs, args.shard, threads)?;
    if let Some(path) = &args.plot {
        super::write(path, &plot::sweep(&results).svg())?;
    }
    if let Some(path) = &args.report {
        let about = about(&args.trace.trace, &trace)?;
        super::write(path, &page::sweep(&results, about))?;
    }
    show::rows(&results, &args.show)?;
    Ok(ExitCode::SUCCESS)
}

pub fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let mut choices = choices(&args.policy)?;
    for yardstick in ["lru", "opt"] {
        if !choices.iter().any(|choice| choice.to_string() == yardstick) {
            choices.push(Choice::parse(yardstick)?);
        }
    }
    let trace = args.trace.load(true, threads(None))?;
    let jobs = jobs(&choices, &args.trace.sizes(&args.size.0, &trace));
    let results = results(&trace, &jobs, None, threads(None))?;
    if let Some(path) = &args.report {
        let about = about(&args.trace.trace, &trace)?;
        super::write(path, &page::comparison(&results, about))?;
    }
    show::comparison(&results, &args.show)?;
    Ok(ExitCode::SUCCESS)
}
