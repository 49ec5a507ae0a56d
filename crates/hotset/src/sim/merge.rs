//! `hotset sim merge`
use super::args::ShowArgs;
use super::outputs::OutputArgs;
use super::{page, plot, show};
use crate::shell::usage;
use anyhow::{anyhow, bail, Context, Result};
use clap::Args;
use names::shown;
use sim::sweep::results::Results;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct MergeArgs {
    /// The outputs of `hotset sim sweep --shard I/N --json`, for each I
    #[arg(required = true, value_name = "FILE")]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    show: ShowArgs,
}

pub fn run(args: &MergeArgs) -> Result<ExitCode> {
    let inputs: Vec<&Path> = args.parts.iter().map(PathBuf::as_path).collect();
    let outputs = args.outputs.open(&inputs)?;
    let mut parts = Vec::new();
    for path in &args.parts {
        let name = shown(path).to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        parts.push((name.clone(), part(&name, &text)?));
    }
    let results = Results::merge(parts).map_err(|problem| usage!("{problem}"))?;
    let printed = show::rows(&results, "sim.merge", &args.show, None);
    outputs.write(
        || plot::sweep(&results),
        || Ok(page::sweep(&results, Vec::new())),
    )?;
    printed?;
    Ok(ExitCode::SUCCESS)
}

fn part(name: &str, text: &str) -> Result<Results> {
    if text.trim().is_empty() {
        bail!("{name} is empty: run that part again");
    }
    serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => anyhow!("{name} is cut off: run that part again"),
        false => anyhow!("{name} is no output of `hotset sim sweep --json`: {error}"),
    })
}
