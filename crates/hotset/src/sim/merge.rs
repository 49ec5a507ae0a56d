//! `hotset sim merge`
use super::args::ShowArgs;
use super::{page, plot, show};
use anyhow::{anyhow, Context, Result};
use clap::Args;
use sim::results::Results;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct MergeArgs {
    /// What `hotset sim sweep --shard I/N --json` wrote, for each I
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// Write the miss ratios as a chart
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Also write a page: the table, the chart, counters, the trace and the command. It needs no network
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    show: ShowArgs,
}

pub fn run(args: &MergeArgs) -> Result<ExitCode> {
    let mut parts = Vec::new();
    for path in &args.parts {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let part: Results = serde_json::from_str(&text)
            .with_context(|| format!("{name} is not what `hotset sim sweep --json` writes"))?;
        parts.push((name, part));
    }
    let results = Results::merge(parts).map_err(|problem| anyhow!(problem))?;
    if let Some(path) = &args.plot {
        super::write(path, &plot::sweep(&results).svg())?;
    }
    if let Some(path) = &args.report {
        super::write(path, &page::sweep(&results, Vec::new()))?;
    }
    show::rows(&results, &args.show)?;
    Ok(ExitCode::SUCCESS)
}
