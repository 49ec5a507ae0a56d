//! The `hotset` command: reads the command line and calls the crate that does the work.
use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod kernel;
mod lab;
mod lab_loop;
mod late;
mod provenance;
mod record;
mod replay;
mod sim;
mod status;
mod status_protect;
mod trace;
mod zst;

/// Keeps a Linux machine's working set in memory, and proves it.
#[derive(Parser)]
#[command(name = "hotset", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Fetch, build and check the kernels that the lab boots
    #[command(subcommand)]
    Kernel(kernel::Command),
    /// Run experiments on real kernels, and report what they measured
    #[command(subcommand)]
    Lab(lab::Command),
    /// Record samples of this machine's memory, for `hotset replay`
    Record(record::RecordArgs),
    /// What the daemon would have done, and why, over recorded samples
    Replay(replay::ReplayArgs),
    /// Replacement policies on traces, Linux's own among them: exact miss counts and curves
    #[command(subcommand)]
    Sim(sim::Command),
    /// What the daemon measures, forecasts, has done, and why
    Status(status::StatusArgs),
    /// What request traces are like; convert and generate them
    #[command(subcommand)]
    Trace(trace::Command),
}

fn main() -> ExitCode {
    // Rust ignores SIGPIPE, and then `hotset ... | head` ends in a panic.
    // SAFETY: nothing else runs yet, and the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let result = match Cli::parse().command {
        Command::Kernel(command) => kernel::run(command),
        Command::Lab(command) => lab::run(command),
        Command::Record(args) => record::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Sim(command) => sim::run(command),
        Command::Status(args) => status::run(&args),
        Command::Trace(command) => trace::run(command),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("hotset: {error:#}");
            ExitCode::from(2)
        }
    }
}
