//! `hotset sim campaign`: turns the command line into calls of the campaign crate.
use crate::shell::usage;
use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

mod on;
mod page;
mod report;
mod run;
mod status;
mod task;

#[derive(Subcommand)]
pub enum Command {
    /// Run a campaign here or on a cluster, or go on with it
    #[command(after_help = "Examples:\n  \
        hotset sim campaign run campaign.toml -o study/\n  \
        hotset sim campaign run campaign.toml -o study/ --dry-run\n  \
        hotset sim campaign run campaign.toml -o study/ --on slurm \\\n      --with=--partition=short\n  \
        hotset sim campaign run campaign.toml -o study/ --on parallel \\\n      --with=--sshlogin=one,two\n  \
        hotset sim campaign run campaign.toml -o /data/study \\\n      --on kubernetes --image registry.example/hotset --volume traces:/data")]
    Run(run::RunArgs),
    /// Run tasks of a campaign: what engines call
    #[command(after_help = "Example:\n  hotset sim campaign task study/ 17")]
    Task(task::TaskArgs),
    /// Show how far a campaign is
    #[command(after_help = "Example:\n  hotset sim campaign status study/")]
    Status(status::StatusArgs),
    /// Write the results of all tasks as one table, which `run` does at its end
    #[command(after_help = "Example:\n  hotset sim campaign merge study/")]
    Merge(run::MergeArgs),
    /// Compare the policies over all traces: percentiles against FIFO and LRU, winners, worst cases
    #[command(after_help = "Examples:\n  \
        hotset sim campaign report study/\n  \
        hotset sim campaign report study/ --report campaign.html")]
    Report(report::ReportArgs),
}

/// # Errors
/// The campaign's file is wrong, or a file cannot be read or written.
pub fn run(command: Command) -> Result<ExitCode> {
    let done = match command {
        Command::Run(args) => run::run(&args),
        Command::Task(args) => task::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Merge(args) => run::merge(&args),
        Command::Report(args) => report::run(&args),
    };
    done.map_err(|error| match error.is::<campaign::Refused>() {
        true => usage!("{error:#}"),
        false => error,
    })
}
