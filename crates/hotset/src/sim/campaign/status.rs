//! `hotset sim campaign status`
use crate::shell::{document, outln};
use anyhow::Result;
use campaign::{status, Folder};
use clap::Args;
use progress::duration;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct StatusArgs {
    /// The campaign's folder
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let found = status::status(&Folder::open(&args.folder)?)?;
    if args.json {
        outln!("{}", document("sim.campaign.status", 1, &found)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    outln!(
        "{} traces, {} policies, {} sizes: {} tasks",
        found.traces,
        found.policies,
        found.sizes,
        found.tasks
    )?;
    outln!("done      {:>7}", found.done)?;
    outln!("begun     {:>7}", found.begun)?;
    outln!("waiting   {:>7}", found.waiting)?;
    outln!("failed    {:>7}", found.failed.len())?;
    for failure in &found.failed {
        outln!(
            "  task {}, {}: {}",
            failure.task,
            failure.name,
            failure.reason
        )?;
    }
    for (host, tasks) in &found.hosts {
        outln!("on {host}: {tasks} done")?;
    }
    outln!(
        "time of processors: {} taken, about {} left",
        duration(found.cpu_seconds.ceil() as u64),
        duration(found.cpu_seconds_left.ceil() as u64)
    )?;
    Ok(ExitCode::SUCCESS)
}
