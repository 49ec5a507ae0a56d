//! `hotset sim curve`
use super::args::{choices, sizes, ShowArgs, Sizes, TraceArgs};
use super::outputs::OutputArgs;
use super::sweep;
use crate::shell::usage;
use anyhow::{Context, Result};
use clap::Args;
use progress::{Delayed, Unit};
use sim::curve::shards::Shards;
use sim::curve::Curve;
use sim::sampling::LEAST_IN_CACHE;
use sim::sweep::results::{Results, Row, TraceId};
use sim::sweep::size::{parse_list, Size};
use sim::sweep::{jobs, Job};
use sim::{Counts, Input};
use std::process::ExitCode;
use trace::Trace;

#[derive(Args)]
pub struct CurveArgs {
    /// Policies between commas. LRU is exact at all sizes in one pass; others run size by size
    #[arg(short, long, value_name = "POLICIES", default_value = "lru")]
    policy: Vec<String>,
    /// Sizes of the cache between commas: objects (4096, 10e3), bytes (64M) or shares of the footprint (1%);
    /// LOW..HIGH:COUNT is that many sizes, each the same factor above the one before [default: 40 sizes from
    /// one object to the footprint]
    #[arg(short, long, value_name = "SIZES", value_parser = sizes)]
    size: Option<Sizes>,
    /// Estimate LRU from a sample of this share of the objects (SHARDS), which is faster. Estimates have
    /// their 95% intervals
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "memory")]
    sample: Option<f64>,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

fn share(text: &str) -> Result<f64, String> {
    match Size::parse(text) {
        Ok(Size::Share(share)) if share <= 1.0 => Ok(share),
        _ => Err(format!(
            "{text:?}: expected a share of the objects, such as 1%"
        )),
    }
}

/// The sizes in objects, each once, smallest first.
fn chosen(trace: &Trace, args: &CurveArgs) -> Result<Vec<u64>> {
    let mut sizes = match &args.size {
        Some(sizes) => args.trace.sizes(&sizes.0, trace),
        None => {
            let one_in = trace.sample.map_or(1, |sample| sample.one_in);
            let all = format!("1..{}:40", (u64::from(trace.objects) * one_in).max(2));
            let sizes = parse_list(&all).map_err(|problem| anyhow::anyhow!(problem))?;
            args.trace.sizes(&sizes, trace)
        }
    };
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// The cure where the smallest size is too small for the sample.
fn larger_sample(smallest: u64) -> String {
    let percent = (LEAST_IN_CACHE as f64 / smallest as f64 * 1e4).ceil() / 100.0;
    match percent < 100.0 {
        true => format!("--sample {percent}% is enough for all sizes"),
        false => "without --sample all sizes are exact".to_string(),
    }
}

/// LRU at all sizes at once.
fn of_lru(input: &Input, jobs: &[Job], sample: Option<f64>) -> Vec<Row> {
    let requests = input.ids().len() as u64;
    if let Some(share) = sample {
        let shards = Shards::new(input, share, 0);
        let row = |job: &Job| Row::estimated(job, requests, shards.miss_ratio(job.size));
        return jobs.iter().map(row).collect();
    }
    let late = Delayed::new("LRU at all sizes", Some(requests), Unit::Steps);
    let mut done = 0;
    let curve = Curve::lru(input, &mut |requests| {
        done += requests;
        late.advance(done);
    });
    let row = |job: &Job| {
        let counts = Counts {
            requests,
            misses: curve.misses(job.size),
            ..Counts::default()
        };
        Row::new(job, &counts)
    };
    jobs.iter().map(row).collect()
}

/// # Errors
/// Options that contradict each other, and the files'.
pub fn run(args: &CurveArgs) -> Result<ExitCode> {
    let choices = choices(&args.policy)?;
    let lru = matches!(&choices[..], [only] if only.to_string() == "lru");
    if args.sample.is_some() && !lru {
        return Err(usage!(
            "--sample estimates LRU alone; --memory estimates other policies"
        ));
    }
    let outputs = args.outputs.open(&[&args.trace.trace])?;
    let asked = args.size.as_ref().map_or(&[][..], |sizes| &sizes.0);
    let trace = args.trace.load(!lru, asked)?;
    let jobs = jobs(&choices, &chosen(&trace, args)?);
    let results = match lru && trace.sample.is_none() {
        true => {
            let input = Input::of(&trace).with_context(|| trace.name.clone())?;
            let mut id = TraceId::of(&trace.name, &input).without(&trace.skipped);
            id.sampled_share = args.sample;
            let rows = of_lru(&input, &jobs, args.sample);
            Results::new(id, jobs.len(), None, rows)
        }
        false => sweep::results((&args.trace, asked), &trace, &jobs, None)?,
    };
    let cure = match args.sample {
        Some(_) => jobs.iter().map(|job| job.size).min().map(larger_sample),
        None => args.trace.cure(asked, &trace),
    };
    sweep::shown(
        &results,
        "sim.curve",
        (&args.trace, &trace),
        (&args.show, cure),
        outputs,
    )
}
