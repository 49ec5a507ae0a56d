//! `hotset lab`: turns the command line into calls of lab and report, and prints tables or JSON.
use crate::shell;
use anyhow::Result;
use clap::Subcommand;
use std::path::PathBuf;
use std::process::ExitCode;

mod bisect;
mod closed_loop;
mod command;
mod demand;
mod duration;
mod found;
mod league;
mod list;
mod one;
mod output;
mod report;
mod run;
mod run_args;

pub use output::typed;

#[derive(Subcommand)]
pub enum Command {
    /// List the experiments, or show one
    ///
    /// Experiments are in ./experiments, in the source tree that this program was built in, and in
    /// /usr/share/hotset/experiments, in folders by subject. Each file is checked with each of its presets.
    /// Durations are those of `hotset lab run` with its usual number of guests at once.
    List {
        /// Show this experiment alone, with its arms, presets, scenes and promises
        #[arg(value_name = "EXPERIMENT")]
        name: Option<String>,
        #[arg(long, help = shell::JSON)]
        json: bool,
    },
    /// Run an experiment and report its results
    ///
    /// Builds the kernels that the arms name (once), and boots each arm once a repetition, in shuffled
    /// order. Writes the results, report.html and report.md to the output folder.
    ///
    /// Guests are User-Mode Linux: processes of this host. Guests above 256 MB need a higher
    /// vm.max_map_count on the host: a run of root raises the value and restores it. With --bed
    /// qemu (Debian's package qemu-system-x86), guests are x86-64 machines. They run with KVM where
    /// it works, else emulated and 10 to 20 times slower.
    ///
    /// With --on slurm each repetition of all arms is a task of Slurm's, and has a host to itself.
    #[command(after_help = "Examples:\n  \
        hotset lab run three-workers --preset demo\n  \
        hotset lab run three-workers --preset qemu\n  \
        hotset lab run three-workers --arm classic-vanilla,classic-on --repetitions 2\n  \
        hotset lab run three-workers --set machine.memory_mb=256 --set files.probe=14%\n  \
        hotset lab run three-workers --on slurm --with=--partition=lab -o /data/run")]
    Run(run_args::RunArgs),
    /// Rank every answer to a machine that stands still
    ///
    /// Runs all challengers (settings, daemons, kernels) through the same scenes: a desktop, a fork storm, a
    /// compile, each with zram, with swap on a disk, and without swap. Ranks them on one page by the seconds
    /// in which a small task stood still. Challengers are tables of a TOML file; --challengers enters yours.
    #[command(after_help = "Examples:\n  \
        hotset lab league --dry-run\n  \
        hotset lab league --preset small --only nothing,min-ttl-1000,hotsetd\n  \
        hotset lab league --scene desktop --swap zram --seconds 20")]
    League(league::LeagueArgs),
    /// Find the patch or the commit that broke a promise of an experiment
    ///
    /// Builds and boots candidates between GOOD, which keeps the promise, and BAD, which breaks it. Each is judged by the
    /// interval of its trials; one that cannot be judged is passed over. Arms that boot the series boot the candidate.
    #[command(after_help = "Examples:\n  \
        hotset lab bisect 0..9 --series my-patches --promise three-workers:95%\n  \
        hotset lab bisect v7.3..HEAD --tree ~/linux --promise three-workers:95%")]
    Bisect(bisect::BisectArgs),
    /// Run a controller of free memory against a model of the kernel, on demand traces
    Loop(closed_loop::Args),
    /// Write the report of finished runs again, from their results
    Report {
        /// Folders that `hotset lab run` wrote
        #[arg(required = true, value_name = "FOLDER")]
        folders: Vec<PathBuf>,
        #[arg(long, help = shell::JSON_LINES)]
        json: bool,
    },
}

pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::List { name: None, json } => list::list(json),
        Command::List {
            name: Some(name),
            json,
        } => one::show(&name, json),
        Command::Bisect(args) => bisect::run(&args),
        Command::League(args) => league::run(&args),
        Command::Loop(args) => closed_loop::run_loop(args),
        Command::Run(args) => run::run_experiment(&args),
        Command::Report { folders, json } => report::again(&folders, json),
    }
}
