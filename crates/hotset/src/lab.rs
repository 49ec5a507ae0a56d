//! `hotset lab`: command line in, calls to lab and report, tables or JSON out.
use anyhow::Result;
use clap::{Args, Subcommand};
use lab::experiment::{self, Changes, Experiment};
use lab::runner::{self, Options, Summary};
use lab::{host, progress};
use raw::record::Outcome;
use report::Written;
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a shell expects of a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

#[derive(Subcommand)]
pub enum Command {
    /// List the experiments that there are
    ///
    /// Experiments are looked for in ./experiments, in the source tree that this program was built
    /// in, and in /usr/share/hotset/experiments. Each file is checked, with each of its presets.
    List {
        /// Write JSON to standard output
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment and report what it measured
    ///
    /// Builds the kernels that the arms name (once), boots each arm as often as there are
    /// repetitions, in shuffled order, and writes raw results, report.html and report.md to the
    /// output folder.
    ///
    /// Guests are User-Mode Linux: processes of this host. Guests above 256 MB need a higher
    /// vm.max_map_count on the host: root raises it for the run, and it is put back. With --bed
    /// qemu they are x86-64 machines, with KVM where it works, else emulated and 10 to 20 times
    /// slower: Debian's package qemu-system-x86.
    ///
    /// Exit status: 0 when all went well; 1 when a promise of the experiment is broken or a guest
    /// did not end well; 2 when the run itself failed; 130 after Ctrl-C.
    #[command(after_help = "Examples:\n  \
        hotset lab run three-workers --preset demo\n  \
        hotset lab run three-workers --bed qemu --preset qemu\n  \
        hotset lab run three-workers --arm classic-vanilla,classic-on --repetitions 2\n  \
        hotset lab run three-workers --set machine.memory_mb=256 --set files.probe=14%")]
    Run(RunArgs),
    /// Run a controller of free memory against a model of the kernel, on demand traces
    Loop(crate::lab_loop::Args),
    /// Write the report of finished runs again, from their raw results
    Report {
        /// Folders that `hotset lab run` wrote
        #[arg(required = true)]
        dirs: Vec<PathBuf>,
        /// Write JSON to standard output
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct RunArgs {
    /// Name of an experiment (see `hotset lab list`), or the path of its file
    experiment: String,
    /// Use a preset of the experiment: a table of its file, merged over the rest
    #[arg(long)]
    preset: Option<String>,
    /// What guests run on, whatever the experiment says: uml or qemu
    #[arg(long, value_name = "BED", value_parser = ["uml", "qemu"])]
    bed: Option<String>,
    /// Line of kernels that all arms boot, whatever the experiment says: 7.3 or 6.12
    #[arg(long, value_name = "VERSION")]
    kernel: Option<kbuild::Line>,
    /// Only these arms, or arms of these series
    #[arg(long = "arm", value_name = "ARM", value_delimiter = ',')]
    arms: Vec<String>,
    /// Boots of each arm
    #[arg(long, value_name = "N")]
    repetitions: Option<u32>,
    /// Seed of all that is random: the order of arms, and the guests' work
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Change a field of the experiment, `machine.memory_mb=256` for instance
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// Guests to run at once [default: half of the CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: Option<u32>,
    /// Folder to write to [default: results/EXPERIMENT-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the interrupted run in --out; finished trials are not made again
    #[arg(long, requires = "out")]
    resume: bool,
    /// Kernel source to use instead of Debian's
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Write JSON to standard output
    #[arg(long)]
    json: bool,
    /// Go on with other trials after a guest failed on its own account
    #[arg(long)]
    keep_going: bool,
}

pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::List { json } => list(json),
        Command::Loop(args) => crate::lab_loop::run_loop(args),
        Command::Run(args) => run_experiment(&args),
        Command::Report { dirs, json } => {
            for dir in &dirs {
                show(dir, &report::write(dir)?, None, json)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn list(json: bool) -> Result<ExitCode> {
    let mut broken = false;
    let mut rows = Vec::new();
    for experiment in experiment::list()? {
        let experiment = match experiment {
            Ok(experiment) => experiment,
            Err(error) => {
                eprintln!("hotset: {error}");
                broken = true;
                continue;
            }
        };
        let arms: Vec<&str> = experiment
            .arms
            .iter()
            .map(|arm| arm.name.as_str())
            .collect();
        let (usual, most) = runner::estimate(&experiment, host::jobs());
        let (usual, most) = (minutes(usual), minutes(most));
        if json {
            rows.push(json!({
                "name": experiment.name, "title": experiment.title, "path": experiment.path,
                "arms": arms, "presets": experiment.presets,
                "minutes": usual, "minutes_at_most": most,
            }));
            continue;
        }
        println!("{}", experiment.name);
        println!("    {}", experiment.title);
        println!("    arms: {}", arms.join(", "));
        if !experiment.presets.is_empty() {
            println!("    presets: {}", experiment.presets.join(", "));
        }
        let jobs = host::jobs();
        println!("    takes about {usual} minutes, at most {most}; guests at once: {jobs}");
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    }
    Ok(if broken {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    })
}

fn run_experiment(args: &RunArgs) -> Result<ExitCode> {
    let path = experiment::find(&args.experiment)?;
    let mut set = args.set.clone();
    set.extend(args.repetitions.map(|n| format!("repetitions={n}")));
    set.extend(args.seed.map(|seed| format!("seed={seed}")));
    let bed = args.bed.as_ref();
    set.extend(bed.map(|bed| format!("machine.bed=\"{bed}\"")));
    let changes = Changes {
        preset: args.preset.clone(),
        set,
    };
    let mut experiment = Experiment::load(&path, &changes)?;
    if !args.arms.is_empty() {
        experiment.only(&args.arms)?;
    }
    if let Some(line) = args.kernel {
        experiment.on_line(line);
    }
    let options = Options {
        jobs: args.jobs.unwrap_or_else(host::jobs),
        out: args
            .out
            .clone()
            .unwrap_or_else(|| default_out(&experiment.name)),
        tree: args.tree.clone(),
        resume: args.resume,
        keep_going: args.keep_going,
        quiet: args.json && !std::io::stderr().is_terminal(),
        command: command(args),
    };
    let summary = runner::run(&experiment, &options)?;
    let dir = &summary.dir;
    if summary.interrupted {
        let (made, dir) = (summary.trials.len(), dir.display());
        eprintln!(
            "hotset: interrupted; {made} of {} trials are in {dir}",
            summary.planned
        );
        if made > 0 {
            eprintln!(
                "hotset: `hotset lab report {dir}` reports on these; the same command with \
                 --resume --out {dir} makes the rest"
            );
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let written = report::write(dir)?;
    show(dir, &written, Some(&summary), args.json)?;
    for (arm, repetition, outcome) in &summary.trials {
        if *outcome != Outcome::Ok {
            eprintln!(
                "hotset: {arm} {}: {}",
                repetition + 1,
                progress::in_words(outcome)
            );
        }
    }
    if summary.trials.len() < summary.planned {
        let (made, planned) = (summary.trials.len(), summary.planned);
        eprintln!("hotset: given up after {made} of {planned} trials; --keep-going goes on");
    }
    let promises = written.study.promises.iter().all(|promise| promise.holds);
    Ok(ExitCode::from(u8::from(!promises || !summary.all_ok())))
}

fn minutes(seconds: f64) -> u64 {
    (seconds / 60.0).ceil() as u64
}

/// The table or the JSON of a report.
fn show(dir: &Path, written: &Written, summary: Option<&Summary>, json: bool) -> Result<()> {
    if json {
        let trials: Option<Vec<_>> = summary.map(|summary| {
            let trials = summary.trials.iter();
            let row = |(arm, repetition, outcome): &(String, u32, Outcome)| {
                json!({ "arm": arm, "repetition": repetition, "outcome": outcome })
            };
            trials.map(row).collect()
        });
        let whole = json!({
            "dir": dir, "html": written.html, "markdown": written.markdown,
            "planned": summary.map(|summary| summary.planned), "trials": trials,
            "promises": written.study.promises,
        });
        println!("{}", serde_json::to_string_pretty(&whole)?);
        return Ok(());
    }
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    print!(
        "{}",
        report::terminal(&written.study, host::terminal_width(), color)
    );
    println!("{}", written.html.display());
    Ok(())
}

fn default_out(name: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    PathBuf::from("results").join(format!("{name}-{}", report::stamp(now)))
}

/// The command line that makes this run again, without the folder it went to.
fn command(args: &RunArgs) -> String {
    let mut words = vec!["hotset lab run".to_string(), word(&args.experiment)];
    let mut option = |name: &str, value: String| words.push(format!("--{name} {}", word(&value)));
    if let Some(preset) = &args.preset {
        option("preset", preset.clone());
    }
    if let Some(bed) = &args.bed {
        option("bed", bed.clone());
    }
    if let Some(line) = args.kernel {
        option("kernel", line.to_string());
    }
    if !args.arms.is_empty() {
        option("arm", args.arms.join(","));
    }
    if let Some(repetitions) = args.repetitions {
        option("repetitions", repetitions.to_string());
    }
    if let Some(seed) = args.seed {
        option("seed", seed.to_string());
    }
    for set in &args.set {
        option("set", set.clone());
    }
    if let Some(tree) = &args.tree {
        option("tree", tree.display().to_string());
    }
    words.join(" ")
}

/// A word of a shell's command line.
fn word(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./=,%:+@".contains(c);
    if !text.is_empty() && text.chars().all(safe) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
