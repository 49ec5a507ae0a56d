//! `hotset trace info`.
use super::read_args::ReadArgs;
use super::reading::read;
use super::summary::{part_of, QUANTILES, TOPS};
use super::{info_text, page, plots};
use crate::shell::{self, folder, out, outln, page as page_file, Force};
use anyhow::{Context, Result};
use clap::Args;
use names::shown;
use outfile::OutFile;
use progress::{Delayed, Unit};
use serde_json::{json, Value};
use std::path::PathBuf;
use std::process::ExitCode;
use trace::read::file_name;
use trace::stats::{Histogram, Stats};
use trace::{Format, Trace};

#[derive(Args)]
pub struct InfoArgs {
    /// The trace; - is standard input
    trace: PathBuf,
    #[arg(long, help = shell::JSON)]
    json: bool,
    /// Also draw popularity, reuse times and the LRU curve as SVG files in this folder
    #[arg(long, value_name = "FOLDER", value_parser = folder())]
    plot: Option<PathBuf>,
    /// Also write a page: the figures, the charts, the file and the command. It needs no network
    #[arg(long, value_name = "FILE.html", value_parser = page_file())]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    read: ReadArgs,
}

/// # Errors
/// The trace cannot be read, or a chart or page cannot be written.
pub fn run(args: &InfoArgs) -> Result<ExitCode> {
    let files = Files::create(args)?;
    let mut options = args.read.options();
    options.flags = true;
    let trace = read(&args.trace, &args.read, options)?;
    let title = format!("Measuring {}", trace.name);
    let late = Delayed::new(title, Some(trace.len() as u64), Unit::Steps);
    let stats = Stats::of(&trace, |done| late.advance(done));
    drop(late);
    let from = args.read.format_from(&args.trace);
    match args.json {
        true => outln!(
            "{}",
            shell::line("trace.info", 1, &as_json(&trace, &stats, from))?
        )?,
        false => out!("{}", info_text::of(&trace, &stats, from))?,
    }
    files.write(args, &trace, &stats)?;
    Ok(ExitCode::SUCCESS)
}

/// The files that were asked for, opened before the work begins.
struct Files {
    /// The path and the file of each chart, in the order of [`plots::NAMES`].
    charts: Vec<(PathBuf, OutFile)>,
    page: Option<(PathBuf, OutFile)>,
}

impl Files {
    fn create(args: &InfoArgs) -> Result<Files> {
        let inputs = [args.trace.as_path()];
        let rules = args.force.rules(&inputs);
        let mut charts = Vec::new();
        if let Some(folder) = &args.plot {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{}: cannot create the folder", shown(folder)))?;
            let trace = match args.trace.as_os_str() == "-" {
                true => "standard-input".to_string(),
                false => file_name(&args.trace),
            };
            for name in plots::NAMES {
                let path = folder.join(format!("{trace}-{name}.svg"));
                let file = OutFile::create(&path, rules)?;
                charts.push((path, file));
            }
        }
        let page = match &args.report {
            Some(path) => Some((path.clone(), OutFile::create(path, rules)?)),
            None => None,
        };
        Ok(Files { charts, page })
    }

    fn write(self, args: &InfoArgs, trace: &Trace, stats: &Stats) -> Result<()> {
        let drawn = plots::all(&trace.name, stats);
        for ((path, file), chart) in self.charts.into_iter().zip(drawn) {
            file.whole(&chart.svg())?;
            shell::note(shown(&path).to_string());
        }
        if let Some((path, file)) = self.page {
            file.whole(&page::page(&args.trace, trace, stats)?)?;
            shell::note(shown(&path).to_string());
        }
        Ok(())
    }
}

fn as_json(trace: &Trace, stats: &Stats, from: &str) -> Value {
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
        "format": trace.format.map(Format::name),
        "format_from": from,
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
