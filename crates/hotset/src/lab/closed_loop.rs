//! `hotset lab loop`: prints one row for each pair of a demand trace and a controller.
use super::demand::generated;
use crate::replay::describe;
use crate::shell::{self, folder, line, outln, usage, verbose, Force};
use anyhow::Result;
use lab::model::kernel::AskedRate;
use lab::model::{run, Controller, Row, Settings, Trace};
use names::{escaped, shown};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// A kernel model of one node answers each trace's demand while the controller sets its knobs. The
/// controller `hotset` is the daemon's own policy. The model ranks controllers; it is no absolute
/// claim about a machine. docs/design/predict.md explains the columns.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    hotset lab loop --demand traces/*.csv.zst \\\n      --controller static:10,static:300,hotset\n  \
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
    #[arg(long, value_name = "FOLDER", value_parser = folder())]
    generate: Option<PathBuf>,
    /// Seed of the fresh traces
    #[arg(long, value_name = "N", default_value_t = 1, requires = "generate")]
    seed: u64,
    #[command(flatten)]
    force: Force,
    /// Model a kernel without a file for reclaiming a node: hotset has vm.watermark_scale_factor alone
    #[arg(long)]
    no_node_reclaim: bool,
    /// Reclaim a node at the rate that direct reclaim leaves over, not at kswapd's rate
    #[arg(long)]
    slow_node_reclaim: bool,
    /// Write each action of hotset and its reason to standard error
    #[arg(long)]
    explain: bool,
    #[arg(long, help = shell::JSON_LINES)]
    json: bool,
}

/// Runs each trace under each controller.
///
/// # Errors
/// No trace is given, one cannot be read, or a fresh one cannot be written. All are read before any runs.
pub fn run_loop(args: Args) -> Result<ExitCode> {
    let read = args.demand.iter().map(|path| {
        verbose(format!("demand: {}", shown(path)));
        Trace::read(path)
    });
    let mut traces = read.collect::<Result<Vec<Trace>>>()?;
    if let Some(folder) = &args.generate {
        traces.extend(generated(folder, args.seed, &args.force)?);
    }
    if traces.is_empty() {
        return Err(usage!(
            "no traces: give --demand FILE... or --generate FOLDER"
        ));
    }
    let settings = Settings {
        node_reclaim: !args.no_node_reclaim,
        asked_rate: match args.slow_node_reclaim {
            true => AskedRate::Direct,
            false => AskedRate::Kswapd,
        },
    };
    if !args.json {
        outln!("{HEAD}")?;
    }
    for trace in &traces {
        if !args.json {
            outln!("{}", escaped(&trace.name))?;
        }
        for controller in &args.controller {
            let mut explain = |at_s: f64, action: policy::Action, reason: &str| {
                if args.explain {
                    let action = describe(action);
                    let (trace, mut to) = (escaped(&trace.name), std::io::stderr());
                    // Where standard error cannot be written, nobody can be told.
                    let _ = writeln!(to, "{trace} {controller} {at_s:.2} s: {action}: {reason}");
                }
            };
            let row = run(trace, *controller, &settings, &mut explain);
            match args.json {
                true => outln!("{}", line("lab.loop", 1, &row)?)?,
                false => outln!("{}", cells(&row))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The heads of the columns that [`cells`] fills. They fit 80 columns.
const HEAD: &str = "\
trace            stall   free  pages kswapd   wsf   wsf  com-   fore- false lead
  controller         s      %  taken   woke writes  max pacts    told     %    s";

fn cells(row: &Row) -> String {
    let mut line = format!(
        "  {:11} {:>8.2} {:>6.2} {:>6} {:>6} {:>6} {:>4} {:>5}",
        row.controller,
        row.stall_s,
        row.free_mean_pct,
        short((row.ksteal + row.dsteal) as f64),
        row.wakes,
        row.wsf_writes,
        row.wsf_max,
        row.compacts
    );
    if let Some(score) = &row.score {
        let told = format!("{}/{}", score.predicted, score.reclaim_episodes);
        let lead = score
            .lead_s_median
            .map_or(String::new(), |lead| format!("{lead:.0}"));
        line += &format!(" {told:>6} {:>5.2} {lead:>4}", score.false_positive_pct);
    }
    line.trim_end().to_string()
}

/// A count in four digits: 134998500 as 135M. JSON has all digits.
fn short(count: f64) -> String {
    match count {
        small if small < 1e5 => format!("{small:.0}"),
        mid if mid < 1e8 => format!("{:.2}M", mid / 1e6),
        large if large < 1e9 => format!("{:.0}M", large / 1e6),
        large if large < 1e11 => format!("{:.2}G", large / 1e9),
        huge => format!("{:.0}G", huge / 1e9),
    }
}
