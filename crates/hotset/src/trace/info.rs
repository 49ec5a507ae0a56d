//! `hotset trace info`.
use super::read_args::{read, ReadArgs};
use super::{info_text, page, plots};
use crate::late::Late;
use anyhow::{Context, Result};
use clap::Args;
use kbuild::progress::Unit;
use serde_json::{json, Value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trace::stats::{Histogram, Stats};
use trace::Trace;

#[derive(Args)]
pub struct InfoArgs {
    /// The trace; - is standard input
    trace: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Also draw popularity, reuse times and the LRU curve as SVG into this folder
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Also write a page: the figures, the charts, the file and the command. It needs no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

/// Quantiles that are told.
pub const QUANTILES: [f64; 7] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// Parts of the objects whose share of the requests is told.
pub const TOPS: [f64; 5] = [0.001, 0.01, 0.1, 0.2, 0.5];

/// # Errors
/// The trace's, and the plots' folder's.
pub fn run(args: &InfoArgs) -> Result<ExitCode> {
    let mut options = args.read.options();
    options.flags = true;
    let trace = read(&args.trace, options)?;
    let what = format!("Measuring {}", trace.name);
    let late = Late::new(what, Some(trace.len() as u64), Unit::Steps);
    let stats = Stats::of(&trace, |done| late.advance(done));
    drop(late);
    let mut out = std::io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", as_json(&trace, &stats))?,
        false => write!(out, "{}", info_text::of(&trace, &stats))?,
    }
    if let Some(folder) = &args.plots {
        draw(folder, &trace, &stats)?;
    }
    if let Some(path) = &args.report {
        let html = page::page(&args.trace, &trace, &stats)?;
        std::fs::write(path, html).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn draw(folder: &Path, trace: &Trace, stats: &Stats) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    for (name, chart) in plots::all(&trace.name, stats) {
        let path = folder.join(format!("{}-{name}.svg", trace.name));
        std::fs::write(&path, chart.svg())
            .with_context(|| format!("writing {}", path.display()))?;
        eprintln!("{}", path.display());
    }
    Ok(())
}

/// How many objects a part of them is, one at least.
pub fn part_of(objects: u32, part: f64) -> usize {
    ((f64::from(objects) * part).round() as usize).max(1)
}

fn as_json(trace: &Trace, stats: &Stats) -> Value {
    let popularity = &stats.popularity;
    let histogram = |h: &Histogram| {
        let quantiles = QUANTILES.map(|q| (q.to_string(), h.quantile(q)));
        let quantiles: serde_json::Map<String, Value> =
            quantiles.into_iter().map(|(q, v)| (q, json!(v))).collect();
        json!({ "count": h.total(), "quantiles": quantiles, "doublings": h.doublings() })
    };
    let tops = TOPS.map(|part| {
        let objects = part_of(stats.objects, part);
        json!({ "part": part, "objects": objects, "share": popularity.share_of_top(objects) })
    });
    let lru = TOPS.map(|part| {
        let objects = part_of(stats.objects, part);
        json!({ "part": part, "objects": objects, "misses": stats.lru_misses(objects), "miss_ratio": stats.lru_miss_ratio(objects) })
    });
    json!({
        "name": trace.name,
        "requests": stats.requests,
        "objects": stats.objects,
        "compulsory_miss_ratio": stats.compulsory_miss_ratio,
        "skipped": {
            "malformed": trace.skipped.malformed,
            "first": trace.skipped.first,
            "writes": trace.skipped.writes,
        },
        "popularity": {
            "most": popularity.counts.first(),
            "median": popularity.median(),
            "one_hit_wonders": popularity.one_hit_wonders,
            "top": tops,
            "zipf": popularity.zipf.map(|z| json!({ "alpha": z.alpha, "ranks": z.ranks, "distance": z.distance })),
        },
        "reuse_time": histogram(&stats.reuse_time),
        "reuse_distance": histogram(&stats.reuse_distance),
        "lru": lru,
        "kinds": stats.kinds.map(|k| json!({
            "writes": k.writes, "anon": k.anon, "mapped": k.mapped, "exec": k.exec
        })),
    })
}
