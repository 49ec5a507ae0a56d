//! `hotset sim`: turns the command line into calls of the sim crate.
use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

mod args;
mod bytes;
mod campaign;
mod curve;
mod merge;
mod outputs;
mod page;
mod plot;
mod policies;
mod reproduce;
mod show;
mod sweep;
mod validate;

#[derive(Subcommand)]
pub enum Command {
    /// List the policies, their parameters and papers
    Policies(policies::PoliciesArgs),
    /// Simulate one policy at one size
    #[command(after_help = "Examples:\n  \
        hotset sim run cloudPhysicsIO.oracleGeneral.bin.zst \\\n      --policy arc --size 1%\n  \
        hotset sim run blocks.txt.zst --skip-bad \\\n      --policy lirs:history=2 --size 600 --json")]
    Run(sweep::RunArgs),
    /// Simulate policies at many sizes in parallel, or a part of them with --shard
    #[command(after_help = "Examples:\n  \
        hotset sim sweep t.bin.zst --policy lru,arc,s3-fifo --size 0.1%..50%:12 \\\n      --plot curves.svg\n  \
        hotset sim sweep t.bin.zst --policy all --size 1%,10% --csv > misses.csv\n  \
        hotset sim sweep huge.bin.zst --policy lru,arc --size 1%,10% \\\n      --memory 512M\n  \
        hotset sim sweep t.bin.zst --policy all --size 1%..50%:32 \\\n      --shard 3/8 --json > part3.json")]
    Sweep(sweep::SweepArgs),
    /// Compare policies at one size, best first, by how far each comes from LRU to OPT
    #[command(after_help = "Examples:\n  \
        hotset sim compare cloudPhysicsIO.oracleGeneral.bin.zst --size 10%\n  \
        hotset sim compare t.bin.zst --size 64M \\\n      --policy lru,clock,linux-two-list,mglru --json")]
    Compare(sweep::CompareArgs),
    /// Show miss ratios at many sizes: LRU exactly in one pass, or estimated from a sample
    #[command(after_help = "Examples:\n  \
        hotset sim curve t.bin.zst --plot lru.svg\n  \
        hotset sim curve t.bin.zst --size 100..1e6:200 --csv > lru.csv\n  \
        hotset sim curve t.bin.zst --policy opt,lru,sieve --size 1%..100%:16 \\\n      --plot all.svg\n  \
        hotset sim curve huge.bin.zst --sample 1%")]
    Curve(curve::CurveArgs),
    /// Simulate policies on objects of different sizes: miss ratios of requests and of bytes
    #[command(after_help = "Examples:\n  \
        hotset sim bytes cloudPhysicsIO.oracleGeneral.bin.zst --size 1G\n  \
        hotset sim bytes sized.csv --policy lru,s4-fifo:small=0.3 --size 10%,50% --csv")]
    Bytes(bytes::BytesArgs),
    /// Merge the parts of a sweep
    #[command(after_help = "Example:\n  hotset sim merge part1.json part2.json --plot all.svg")]
    Merge(merge::MergeArgs),
    /// Run many policies and sizes on thousands of traces, here or on a cluster
    #[command(subcommand)]
    Campaign(campaign::Command),
    /// Compare the models of Linux with the misses of real kernels in a lab run with `access` workers
    #[command(after_help = "Examples:\n  \
        hotset lab run model-held --output held\n  \
        hotset sim validate held\n  \
        hotset sim validate results/indexed-db \\\n      --beside opt,lru,lru-k,arc,clock-pro --json")]
    Validate(validate::ValidateArgs),
    /// Run the LRU-K paper's tables again; for other papers, check generated traces against a recorded one
    #[command(after_help = "Example:\n  hotset sim reproduce lru-k --repetitions 1000")]
    Reproduce(reproduce::ReproduceArgs),
}

/// # Errors
/// A file cannot be read or written, or an option is wrong; the error names it.
pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Policies(args) => policies::run(&args),
        Command::Run(args) => sweep::run_one(&args),
        Command::Sweep(args) => sweep::run_sweep(&args),
        Command::Compare(args) => sweep::compare(&args),
        Command::Curve(args) => curve::run(&args),
        Command::Bytes(args) => bytes::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Campaign(command) => campaign::run(command),
        Command::Validate(args) => validate::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
    }
}
