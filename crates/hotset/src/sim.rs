//! `hotset sim`: command line in, calls to the sim crate out.
use anyhow::{Context, Result};
use clap::Subcommand;
use std::process::ExitCode;

mod args;
mod curve;
mod kernel;
mod merge;
mod page;
mod plot;
mod policies;
mod reproduce;
mod show;
mod sweep;

#[derive(Subcommand)]
pub enum Command {
    /// List the policies, their parameters and papers
    Policies(policies::PoliciesArgs),
    /// One policy at one size
    #[command(after_help = "Examples:\n  \
        hotset sim run cloudPhysicsIO.oracleGeneral.bin.zst --policy arc --size 1%\n  \
        hotset sim run blocks.trace.zst --skip-bad --policy lirs:history=2 --size 600 --json")]
    Run(sweep::RunArgs),
    /// Policies times sizes, in parallel; a part of them with --shard
    #[command(
        after_help = "Sizes: objects (4096, 10k), bytes (64MiB, of --object-size each) or a share of the\n\
        footprint (1%); LOW..HIGH:COUNT stands for so many, each the same factor above the one before.\n\n\
        Examples:\n  \
        hotset sim sweep t.zst --policy lru,arc,s3-fifo --size 0.1%..50%:12 --plot curves.svg\n  \
        hotset sim sweep t.zst --policy all --size 1%,10% --csv > misses.csv\n  \
        hotset sim sweep huge.zst --policy lru,arc --size 1%,10% --memory 512Mi\n  \
        hotset sim sweep t.zst --policy all --size 1%..50%:32 --shard 3/8 --json > part3.json\n  \
        hotset sim merge part*.json --csv"
    )]
    Sweep(sweep::SweepArgs),
    /// All policies at one size, best first, with how far each comes from LRU to OPT
    #[command(after_help = "Examples:\n  \
        hotset sim compare cloudPhysicsIO.oracleGeneral.bin.zst --size 10%\n  \
        hotset sim compare t.zst --size 64MiB --policy lru,clock,linux-two-list,mglru --json")]
    Compare(sweep::CompareArgs),
    /// Miss ratios at many sizes: exact LRU at all of them in one pass, or estimated from a sample
    #[command(after_help = "Examples:\n  \
        hotset sim curve t.zst --plot lru.svg\n  \
        hotset sim curve t.zst --size 100..1M:200 --csv > lru.csv\n  \
        hotset sim curve t.zst --policy opt,lru,sieve --size 1%..100%:16 --plot all.svg\n  \
        hotset sim curve huge.zst --sample 1%")]
    Curve(curve::CurveArgs),
    /// Put the parts of a sweep together, exactly
    #[command(after_help = "Example:\n  hotset sim merge part1.json part2.json --plot all.svg")]
    Merge(merge::MergeArgs),
    /// The models of Linux beside what guests' kernels really missed, for a lab run with `access` workers
    #[command(after_help = "Examples:\n  \
        hotset lab run model-held --out held && hotset sim kernel held\n  \
        hotset sim kernel results/indexed-db --beside opt,lru,lru-k,arc,clock-pro --json")]
    Kernel(kernel::KernelArgs),
    /// A paper's tables run again: its value, ours and the difference
    #[command(after_help = "Example:\n  hotset sim reproduce lru-k --runs 1000")]
    Reproduce(reproduce::ReproduceArgs),
}

/// # Errors
/// The files', and what is wrong with what was asked, in words.
pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Policies(args) => policies::run(&args),
        Command::Run(args) => sweep::run_one(&args),
        Command::Sweep(args) => sweep::run_sweep(&args),
        Command::Compare(args) => sweep::compare(&args),
        Command::Curve(args) => curve::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Kernel(args) => kernel::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    }
}

/// Writes a file that was asked for.
fn write(path: &std::path::Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
