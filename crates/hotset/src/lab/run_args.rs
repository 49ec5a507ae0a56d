//! The options of `hotset lab run`.
use crate::shell::{self, folder};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The options of `hotset lab run`.
#[derive(Args)]
pub struct RunArgs {
    /// Name of an experiment (see `hotset lab list`), or the path of its file
    pub experiment: String,
    /// Use a preset of the experiment: a table of its file, merged over the rest
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The bed that guests run on, instead of the experiment's: uml or qemu
    #[arg(long, value_name = "BED", value_parser = ["uml", "qemu"])]
    pub bed: Option<String>,
    /// Line of kernels that all arms boot, instead of the experiment's: 7.3 or 6.12,
    /// or 6.18 with --tree
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<kbuild::Line>,
    /// Only these arms; the name of a sweep stands for its arms
    #[arg(long = "arm", value_name = "ARM", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Boots of each arm
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// Change a field of the experiment, `machine.memory_mb=256` for instance
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Folder to write to [default: results/EXPERIMENT-TIME]
    #[arg(short, long, value_name = "FOLDER", value_parser = folder())]
    pub output: Option<PathBuf>,
    /// Check experiment, output, kernels and traces, and name the trials; build and boot nothing
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    /// Have a cluster's scheduler run each repetition, on a host of its own, one guest at a time unless --jobs
    /// says otherwise
    #[arg(long, value_name = "ENGINE", value_enum, requires = "output")]
    pub on: Option<On>,
    /// An option for sbatch; may be given several times
    #[arg(
        long,
        value_name = "OPTION",
        allow_hyphen_values = true,
        requires = "on"
    )]
    pub with: Vec<String>,
    /// Make this repetition alone, from 0
    #[arg(long, value_name = "N", hide = true, conflicts_with = "on")]
    pub only_repetition: Option<u32>,
    #[command(flatten)]
    pub guests: GuestArgs,
}

/// What runs repetitions.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// Slurm, as a job array: sbatch, squeue, scontrol
    Slurm,
}

/// The options of every command that boots the guests of experiments. The command has an `--output`.
#[derive(Args)]
pub struct GuestArgs {
    /// Seed of every random choice: the order of trials, and the guests' work
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Guests to run at once [default: half of the CPUs]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: Option<u32>,
    /// Continue what was interrupted in --output; finished trials are not run again
    #[arg(long, requires = "output", conflicts_with = "force")]
    pub resume: bool,
    /// Where --output has files, rename it to FOLDER.1 first
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Kernel source to use instead of Debian's
    #[arg(long, value_name = "FOLDER")]
    pub tree: Option<PathBuf>,
    #[arg(long, help = shell::JSON)]
    pub json: bool,
    /// Continue with other trials after a guest has failed
    #[arg(long)]
    pub keep_going: bool,
}
