//! `hotset trace`: command line in, calls to the trace crate out.
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
mod record;

#[derive(Subcommand)]
pub enum Command {
    /// What a trace is like: footprint, popularity, reuse
    #[command(after_help = "Examples:\n  \
        hotset trace info cloudPhysicsIO.oracleGeneral.bin.zst\n  \
        hotset trace info Financial1.spc --drop-writes --plots plots/\n  \
        hotset trace info requests.csv --id-column block --json\n  \
        valgrind --tool=lackey --trace-mem=yes --log-fd=1 ls | hotset trace info - --format lackey")]
    Info(info::InfoArgs),
    /// Write a trace in another format
    #[command(
        after_help = "Formats written: oracleGeneral, spc, csv, text and lackey; each also packed as .zst or .gz.\n\n\
        Examples:\n  \
        hotset trace convert WebSearch1.spc websearch.oracleGeneral.bin.zst --drop-writes\n  \
        hotset trace convert cloudPhysicsIO.oracleGeneral.bin.zst - --to text | head\n  \
        hotset trace convert big.csv small.csv.gz --limit 1M --skip-bad\n  \
        hotset trace convert recorded.csv.zst short.csv.zst --near 128"
    )]
    Convert(convert::ConvertArgs),
    /// Record the accesses of a command, instruction-exact, by valgrind's lackey
    #[command(after_help = "Examples:\n  \
        hotset trace record ls.oracleGeneral.bin.zst -- ls -l /usr/bin\n  \
        hotset trace record sort.csv.gz --limit 100M -- sort /usr/share/dict/words")]
    Record(record::RecordArgs),
    /// Make a trace by rule and seed
    #[command(subcommand)]
    Generate(generate::Rule),
}

/// # Errors
/// The files', in words, with their names.
pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Generate(rule) => generate::run(&rule),
    }
}

/// `10k`, `1M` and their like.
pub fn count(text: &str) -> Result<u64, String> {
    trace::parse_count(text)
}
