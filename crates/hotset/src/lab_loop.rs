//! `hotset lab loop`: demand traces and controllers in, one row for each pair out.
use anyhow::{ensure, Result};
use lab::model::kernel::AskedRate;
use lab::model::sight::Settings;
use lab::model::{generate, run, Controller, Row, Trace};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// A kernel model of one node answers each trace's demand while the controller sets its knobs. The
/// controller `hotset` is the daemon's own policy. The model ranks controllers; it is no absolute
/// claim about a machine. docs/predict.md says what the columns mean.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    hotset lab loop --demand traces/*.csv.zst --controller static:10,static:300,hotset\n  \
    hotset lab loop --demand burst.csv --controller hotset --explain\n  \
    hotset lab loop --generate fresh --seed 7 --controller static:10,hotset --json")]
pub struct Args {
    /// Demand traces: CSV, plain or compressed with zstd
    #[arg(long, value_name = "FILE", num_args = 1..)]
    demand: Vec<PathBuf>,
    /// none, static:WSF (vm.watermark_scale_factor), hotset, or hotset:1 to hotset:3; several
    /// separated by commas
    #[arg(long, value_delimiter = ',', default_value = "hotset", num_args = 1..)]
    controller: Vec<Controller>,
    /// Make fresh traces of every kind instead, and write them to this folder
    #[arg(long, value_name = "DIR")]
    generate: Option<PathBuf>,
    /// Seed of the fresh traces
    #[arg(long, default_value_t = 1, requires = "generate")]
    seed: u64,
    /// The kernel has no file to reclaim a node with: hotset has vm.watermark_scale_factor alone
    #[arg(long)]
    no_node_reclaim: bool,
    /// A node is reclaimed at what direct reclaim has left over, not at kswapd's rate
    #[arg(long)]
    slow_node_reclaim: bool,
    /// Write what hotset did and why to standard error
    #[arg(long)]
    explain: bool,
    /// Write JSON to standard output, one object a line
    #[arg(long)]
    json: bool,
}

pub fn run_loop(args: Args) -> Result<ExitCode> {
    let mut paths = args.demand;
    if let Some(dir) = &args.generate {
        std::fs::create_dir_all(dir)?;
        for trace in generate::all(args.seed) {
            let path = dir.join(format!("{}.csv", trace.name));
            trace.write(&path)?;
            paths.push(path);
        }
    }
    ensure!(
        !paths.is_empty(),
        "no traces: give --demand FILE... or --generate DIR"
    );
    let settings = Settings {
        node_reclaim: !args.no_node_reclaim,
        asked_rate: match args.slow_node_reclaim {
            true => AskedRate::Direct,
            false => AskedRate::Kswapd,
        },
    };
    let mut out = io::stdout().lock();
    if !args.json {
        writeln!(out, "{}", heading())?;
    }
    for path in &paths {
        let trace = Trace::read(path)?;
        for controller in &args.controller {
            let mut told = |at_s: f64, _: policy::Action, reason: &str| {
                if args.explain {
                    eprintln!("{} {at_s:9.2} s  {reason}", trace.name);
                }
            };
            let row = run(&trace, *controller, &settings, &mut told);
            match args.json {
                true => writeln!(out, "{}", serde_json::to_string(&row)?)?,
                false => writeln!(out, "{}", line(&row))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn heading() -> String {
    format!(
        "{:24} {:>10} {:>9} {:>8} {:>13} {:>11} {:>7} {:>6} {:>8} {:>9} {:>9} {:>7}",
        "trace",
        "controller",
        "stall s",
        "free %",
        "reclaimed",
        "kswapd woke",
        "writes",
        "max",
        "compacts",
        "foretold",
        "false %",
        "lead s"
    )
}

fn line(row: &Row) -> String {
    let mut line = format!(
        "{:24} {:>10} {:>9.2} {:>8.2} {:>13} {:>11} {:>7} {:>6} {:>8}",
        row.trace,
        row.controller,
        row.stall_s,
        row.free_mean_pct,
        row.ksteal + row.dsteal,
        row.wakes,
        row.wsf_writes,
        row.wsf_max,
        row.compacts
    );
    if let Some(score) = &row.score {
        let foretold = format!("{} of {}", score.predicted, score.reclaim_episodes);
        let lead = score
            .lead_s_median
            .map_or(String::new(), |lead| format!("{lead:.1}"));
        line += &format!(" {foretold:>9} {:>9.2} {lead:>7}", score.false_positive_pct);
    }
    line
}
