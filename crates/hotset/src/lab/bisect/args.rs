//! The options of `hotset lab bisect`.
use crate::shell::{self, folder};
use clap::Args;
use std::path::PathBuf;

/// The options of `hotset lab bisect`.
#[derive(Args)]
pub struct BisectArgs {
    /// The candidates: numbers of patches with --series, 0..9; revisions of git with --tree, v7.3..HEAD
    #[arg(value_name = "GOOD..BAD")]
    pub range: String,
    /// The promise that GOOD keeps and BAD breaks: an experiment, and a part of the promise's title
    #[arg(long, value_name = "EXPERIMENT:PROMISE")]
    pub promise: String,
    /// Folder of NNNN-*.patch files
    #[arg(long, value_name = "FOLDER", value_parser = folder())]
    pub series: Option<PathBuf>,
    /// Use a preset of the experiment
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Only this arm of the promise
    #[arg(long, value_name = "ARM")]
    pub arm: Option<String>,
    /// Boots of each arm for each candidate, at least 4; twice as many where these do not decide
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(4..=1000))]
    pub repetitions: u32,
    /// Change a field of the experiment, `machine.memory_mb=256` for instance
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Folder to write to; a search that has begun there goes on
    #[arg(short, long, value_name = "FOLDER", default_value = "results/bisect", value_parser = folder())]
    pub output: PathBuf,
    /// Seed of every random choice
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Guests to run at once [default: half of the CPUs]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: Option<u32>,
    /// Tree of git that has the commits; with --series, the kernel source to patch instead of Debian's
    #[arg(long, value_name = "FOLDER")]
    pub tree: Option<PathBuf>,
    #[arg(long, help = shell::JSON)]
    pub json: bool,
}
