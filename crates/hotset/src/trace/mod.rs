//! `hotset trace`: turns the command line into calls of the trace crate.
use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

mod convert;
mod generate;
mod info;
mod info_text;
mod near;
pub mod page;
mod plots;
pub mod read_args;
pub mod reading;
mod record;
mod summary;

#[derive(Subcommand)]
pub enum Command {
    /// Show the statistics of a trace: footprint, popularity, reuse
    #[command(after_help = "Examples:\n  \
        hotset trace info cloudPhysicsIO.oracleGeneral.bin.zst\n  \
        hotset trace info Financial1.spc --drop-writes --plot plots/\n  \
        hotset trace info requests.csv --id-column block --json\n  \
        valgrind --tool=lackey --trace-mem=yes --log-fd=9 ls 9>&1 >&2 \\\n      | hotset trace info -")]
    Info(info::InfoArgs),
    /// Write a trace in another format
    #[command(
        after_help = "Formats written: oracleGeneral, spc, csv, text and lackey; each also packed as .zst or .gz.\n\n\
        Examples:\n  \
        hotset trace convert WebSearch1.spc \\\n      websearch.oracleGeneral.bin.zst --drop-writes\n  \
        hotset trace convert cloudPhysicsIO.oracleGeneral.bin.zst - --to text | head\n  \
        hotset trace convert big.csv small.csv.gz --count 1e6 --skip-bad\n  \
        hotset trace convert recorded.csv.zst short.csv.zst --near 128"
    )]
    Convert(convert::ConvertArgs),
    /// Record every memory access of a command with valgrind's lackey
    #[command(after_help = "Examples:\n  \
        hotset trace record ls.oracleGeneral.bin.zst -- ls -l /usr/bin\n  \
        hotset trace record sort.csv.gz --count 100e6 -- sort /etc/passwd")]
    Record(record::RecordArgs),
    /// A part of record
    #[command(hide = true)]
    RecordGuard(record::guard::GuardArgs),
    /// Generate a trace by a rule and a seed
    #[command(subcommand)]
    Generate(generate::Rule),
}

/// # Errors
/// A file cannot be read or written; the error names it.
pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Record(args) => record::run(&args),
        Command::RecordGuard(args) => record::guard::run(&args),
        Command::Generate(rule) => generate::run(&rule),
    }
}
