//! `hotset sim curve`
use super::args::{choices, sizes, threads, ShowArgs, Sizes, TraceArgs};
use super::page::{self, Point};
use super::plot;
use crate::late::Late;
use crate::trace::page::about;
use anyhow::{bail, Context, Result};
use clap::Args;
use kbuild::progress::Unit;
use report::format::line_chart::{Line, LineChart};
use serde_json::json;
use sim::curve::shards::Estimate;
use sim::curve::Curve;
use sim::registry::Choice;
use sim::results::TraceId;
use sim::size::{parse_list, Size};
use sim::Input;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct CurveArgs {
    /// Policies between commas: LRU exactly at all sizes in one pass, others size by size
    #[arg(short, long, value_name = "POLICIES", default_value = "lru")]
    policy: Vec<String>,
    /// Sizes between commas; 40 from one object to all by default
    #[arg(short, long, value_name = "SIZES", value_parser = sizes)]
    size: Option<Sizes>,
    /// LRU: look at this share of the objects only (SHARDS): faster, less exact, and it says how much
    #[arg(long, value_name = "SHARE")]
    sample: Option<String>,
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

fn share(text: &str) -> Result<f64> {
    match Size::parse(text) {
        Ok(Size::Share(share)) if share <= 1.0 => Ok(share),
        _ => bail!("--sample {text}: expected a share of the objects, such as 1%"),
    }
}

/// In objects, each once, smallest first.
fn chosen(trace: &trace::Trace, args: &CurveArgs) -> Result<Vec<u64>> {
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

/// Size by size: what has no curve in one pass.
fn swept(trace: &trace::Trace, choices: &[Choice], args: &CurveArgs) -> Result<ExitCode> {
    let jobs = sim::sweep::jobs(choices, &chosen(trace, args)?);
    let results = super::sweep::results(trace, &jobs, None, threads(None))?;
    if let Some(path) = &args.plot {
        super::write(path, &plot::sweep(&results).svg())?;
    }
    if let Some(path) = &args.report {
        let about = about(&args.trace.trace, trace)?;
        super::write(path, &page::sweep(&results, about))?;
    }
    super::show::rows(&results, &args.show)?;
    Ok(ExitCode::SUCCESS)
}

fn points(trace: &trace::Trace, input: &Input, args: &CurveArgs) -> Result<Vec<Point>> {
    let sizes = chosen(trace, args)?;
    if let Some(sample) = &args.sample {
        let estimate = Estimate::lru(input, share(sample)?);
        return Ok(sizes
            .into_iter()
            .map(|size| {
                let (miss_ratio, error) = estimate.miss_ratio(size);
                Point {
                    size,
                    misses: None,
                    miss_ratio,
                    error: Some(error),
                }
            })
            .collect());
    }
    let late = Late::new("LRU at all sizes", Some(trace.len() as u64), Unit::Steps);
    let mut done = 0;
    let curve = Curve::lru(input, &mut |requests| {
        done += requests;
        late.advance(done);
    });
    Ok(sizes
        .into_iter()
        .map(|size| Point {
            size,
            misses: Some(curve.misses(size)),
            miss_ratio: curve.miss_ratio(size),
            error: None,
        })
        .collect())
}

fn drawn(name: &str, points: &[Point]) -> LineChart {
    let line = Line {
        name: "lru".to_string(),
        points: points
            .iter()
            .map(|p| (p.size as f64, p.miss_ratio))
            .collect(),
        errors: points.iter().map(|p| p.error.unwrap_or(0.0)).collect(),
    };
    plot::chart(name, vec![line])
}

pub fn run(args: &CurveArgs) -> Result<ExitCode> {
    if let Some(sample) = &args.sample {
        share(sample)?;
    }
    let choices = choices(&args.policy)?;
    let lru = matches!(&choices[..], [only] if only.to_string() == "lru");
    if args.sample.is_some() && !lru {
        bail!("--sample is for LRU alone; --memory has others estimated");
    }
    let trace = args.trace.load(!lru, threads(None))?;
    if args.sample.is_some() && trace.sample.is_some() {
        bail!(
            "--sample and --memory: {} is a sample already; give one of them",
            trace.name
        );
    }
    if !lru || trace.sample.is_some() {
        return swept(&trace, &choices, args);
    }
    let input = Input::of(&trace).with_context(|| trace.name.clone())?;
    let points = points(&trace, &input, args)?;
    let how = match &args.sample {
        Some(share) => format!("from {share} of the objects, +- is 95%"),
        None => "exact".to_string(),
    };
    if let Some(path) = &args.plot {
        super::write(path, &drawn(&trace.name, &points).svg())?;
    }
    if let Some(path) = &args.report {
        let about = about(&args.trace.trace, &trace)?;
        let id = TraceId::of(&trace.name, &input).without(&trace.skipped);
        let chart = drawn(&trace.name, &points);
        let sample = args.sample.as_deref().unwrap_or("all");
        super::write(path, &page::curve(&id, &points, chart, sample, about))?;
    }
    if args.show.json {
        let all: Vec<_> = points
            .iter()
            .map(|p| match (p.misses, p.error) {
                (Some(misses), _) => {
                    json!({"size": p.size, "misses": misses, "miss_ratio": p.miss_ratio})
                }
                (None, error) => {
                    json!({"size": p.size, "miss_ratio": p.miss_ratio, "error_95": error})
                }
            })
            .collect();
        let all = json!({
            "trace": TraceId::of(&trace.name, &input).without(&trace.skipped), "policy": "lru",
            "sample": args.sample, "points": all,
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    if !args.show.csv {
        println!(
            "{}: {} requests, {} objects; LRU, {how}",
            trace.name,
            trace.len(),
            trace.objects
        );
    }
    let second = if args.sample.is_some() {
        "error_95"
    } else {
        "misses"
    };
    match args.show.csv {
        true => println!("size,miss_ratio,{second}"),
        false => println!(
            "{:>12}  {:>10}  {:>14}",
            "size",
            "miss ratio",
            second.replace("error_95", "+-")
        ),
    }
    for p in &points {
        let second = match (p.misses, p.error) {
            (Some(misses), _) => misses.to_string(),
            (None, error) => format!("{:.6}", error.unwrap_or(0.0)),
        };
        match args.show.csv {
            true => println!("{},{:.6},{second}", p.size, p.miss_ratio),
            false => println!("{:>12}  {:>10.6}  {second:>14}", p.size, p.miss_ratio),
        }
    }
    Ok(ExitCode::SUCCESS)
}
