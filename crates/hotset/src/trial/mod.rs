//! `hotset trial`: a command by turns under two settings of this machine.
mod report;

use crate::shell::{self, note, outln, usage};
use anyhow::{Context, Result};
use clap::Args;
use kernfs::Root;
use lab::host::{self, stop::Stop};
use lab::results::{resume::Another, Occupied, Results};
use names::{quoted, shown};
use processes::program::{self, Unusable};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trial::run::{Options, Refused, Summary};
use trial::setting::{self, Setting};

/// Runs a command by turns under two settings, A and B, and says the ratio of B to A with its interval.
#[derive(Args)]
#[command(after_help = "\
A setting is one of these, or several with commas:\n  \
    none                                     the machine as it is\n  \
    hotsetd                                  hotsetd runs, with its configuration\n  \
    watermark:300                            vm.watermark_scale_factor\n  \
    vm.swappiness=10                         a sysctl\n  \
    protect.clean_min_ratio=15               hotsetd runs, with this setting of hotsetd.conf(5)\n\n\
Every changed setting is given back, whatever ends the trial. docs/guide/trial.md says how.\n\n\
Examples:\n  \
    hotset trial -- make -j4\n  \
    hotset trial --b watermark:300 --beside 'cat /srv/big >/dev/null' -- make -j4\n  \
    hotset trial --b vm.swappiness=10 --json -- sort data.csv -o /dev/null")]
pub struct TrialArgs {
    /// The setting that is compared with
    #[arg(long, value_name = "SETTING", default_value = "none")]
    a: String,
    /// The setting that is tried
    #[arg(long, value_name = "SETTING", default_value = "hotsetd")]
    b: String,
    /// A line of the shell to run beside the command; started again when it ends. May be given several times
    #[arg(long, value_name = "LINE")]
    beside: Vec<String>,
    /// Pairs of runs
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Seed of the order in each pair [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Drop the page cache before each run, and make no warm-up run
    #[arg(long)]
    cold: bool,
    /// Seconds from the start of the setting and of what runs beside to that of the command
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    lead: Duration,
    /// Run what may exhaust memory, and do not end the trial when memory runs out
    #[arg(long)]
    allow_oom: bool,
    /// Folder to write to [default: results/trial-TIME]
    #[arg(short, long, value_name = "FOLDER", value_parser = crate::shell::folder())]
    output: Option<PathBuf>,
    /// Continue the interrupted trial in --output
    #[arg(long, requires = "output", conflicts_with = "force")]
    resume: bool,
    /// Where --output has files, rename it to FOLDER.1 first
    #[arg(long, requires = "output")]
    force: bool,
    #[arg(long, help = crate::shell::JSON)]
    json: bool,
    /// Give back what a killed trial left in the kernel's settings, and end
    #[arg(long)]
    restore: bool,
    /// Folder that stands for /
    #[arg(long, value_name = "FOLDER", default_value = "/", hide = true)]
    root: PathBuf,
    /// The command and its arguments
    #[arg(required_unless_present = "restore", last = true)]
    command: Vec<OsString>,
}

#[derive(Args)]
pub struct KeeperArgs {
    #[arg(long)]
    root: PathBuf,
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// The keeper of a trial, which alone changes the machine.
///
/// # Errors
/// Something cannot be undone.
pub fn keeper(args: &KeeperArgs) -> Result<ExitCode> {
    trial::keeper::serve(&args.root, args.folder.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Makes a trial, and shows its report.
///
/// # Errors
/// The trial cannot begin, the command fails, or a file cannot be written.
pub fn run(args: &TrialArgs) -> Result<ExitCode> {
    let root = Root::new(&args.root);
    if args.restore {
        return restore(&root);
    }
    let mut options = options(args, root)?;
    if options.resume {
        options.seed = args
            .seed
            .map_or_else(|| report::seed_of(&options.output), Ok)?;
    } else if !options.force {
        Results::vacant(&options.output).map_err(typed)?;
    }
    trial::run::check(&options).map_err(typed)?;
    // A full disk, or the limit of a file's size, is an error and not the end. A trial that Ctrl-Z stops would not watch
    // memory.
    for signal in [libc::SIGXFSZ, libc::SIGTSTP] {
        // SAFETY: to ignore a signal needs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let stop = Stop::on_signals()?;
    options.warnings = trial::machine::surroundings::warnings(&options.root, host::cpus());
    for warning in &options.warnings {
        note(format!("warning: {warning}"));
    }
    let [a, b] = options.labels();
    let first = match options.cold {
        true => "",
        false => " and a first run to warm up",
    };
    note(format!(
        "{} of runs{first}; A: {a}, B: {b}; seed {}; results in {}",
        match options.pairs {
            1 => "1 pair".to_string(),
            pairs => format!("{pairs} pairs"),
        },
        options.seed,
        shown(&options.output)
    ));
    let quiet = args.json && !std::io::stderr().is_terminal();
    let program = keeper_command(&options)?;
    let summary = trial::run::run(&options, program, &stop, quiet);
    ended(args, &summary.map_err(typed)?)
}

fn restore(root: &Root) -> Result<ExitCode> {
    let notes = trial::keeper::restore(root.directory(), &root.path(trial::FOLDER))?;
    for text in &notes {
        outln!("{text}")?;
    }
    if notes.is_empty() {
        outln!("no trial has left anything")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The trial that the arguments describe.
fn options(args: &TrialArgs, root: Root) -> Result<Options> {
    let read = |option: &str, text: &str| -> Result<Setting> {
        setting::parse(text, &root).map_err(|why| usage!("{option}: {why}"))
    };
    let settings = [read("--a", &args.a)?, read("--b", &args.b)?];
    if let Err(unusable) = program::find(&args.command[0]) {
        let name = args.command[0].to_string_lossy();
        return Err(match unusable {
            Unusable::Missing => usage!("{name}: there is no such command"),
            Unusable::NotExecutable => usage!("{name}: the file cannot be executed"),
        });
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let place = || Path::new("results").join(format!("trial-{}", ::report::stamp(now.as_secs())));
    Ok(Options {
        root,
        command: args.command.clone(),
        beside: args.beside.clone(),
        settings,
        pairs: args.repetitions,
        // Short enough to be typed.
        seed: args.seed.unwrap_or_else(|| u64::from(now.subsec_micros())),
        cold: args.cold,
        lead: args.lead,
        allow_oom: args.allow_oom,
        output: { args.output.clone() }.unwrap_or_else(place),
        resume: args.resume,
        force: args.force,
        line: line(args),
        warnings: Vec::new(),
    })
}

/// The program that calls [`keeper`].
fn keeper_command(options: &Options) -> Result<Command> {
    let absolute = |path: &Path| std::path::absolute(path).with_context(|| shown(path).to_string());
    let mut command = Command::new("/proc/self/exe");
    command.arg0("hotset").arg("trial-keeper").arg("--root");
    command.arg(absolute(options.root.directory())?);
    if options.changes() {
        command
            .arg("--folder")
            .arg(absolute(&options.root.path(trial::FOLDER))?);
    }
    Ok(command)
}

/// Shows how the trial ended. Returns the exit status.
fn ended(args: &TrialArgs, summary: &Summary) -> Result<ExitCode> {
    let made = summary.made.len();
    let dir = quoted(&shown(&summary.dir).to_string());
    let early = |text: &str| {
        shell::error(text);
        note(format!("{made} of {} runs are in {dir}", summary.planned));
        if made > 1 {
            note(format!("`hotset lab report {dir}` reports on these"));
        }
    };
    if let Some(signal) = summary.interrupted {
        early("interrupted; the programs are ended, and every setting is given back");
        note(format!(
            "the same command with --resume --output {dir} makes the other runs"
        ));
        return Ok(ExitCode::from(128 + signal));
    }
    if let Some(why) = &summary.failed {
        early(why);
        return Ok(ExitCode::from(shell::FAILURE));
    }
    report::show(&summary.dir, args.json)?;
    Ok(ExitCode::SUCCESS)
}

/// An error of a trial, as usage where another command line is the cure.
fn typed(error: anyhow::Error) -> anyhow::Error {
    match error.is::<Occupied>() || error.is::<Another>() || error.is::<Refused>() {
        true => usage!("{error:#}"),
        false => error,
    }
}

/// The command line that repeats this trial, without its output folder.
fn line(args: &TrialArgs) -> String {
    let mut parts = vec!["hotset trial".to_string()];
    let mut option = |name: &str, value: &str| parts.push(format!("--{name} {}", quoted(value)));
    option("a", &args.a);
    option("b", &args.b);
    for line in &args.beside {
        option("beside", line);
    }
    option("repetitions", &args.repetitions.to_string());
    if let Some(seed) = args.seed {
        option("seed", &seed.to_string());
    }
    option("lead", &args.lead.as_secs_f64().to_string());
    let flags = [(args.cold, "--cold"), (args.allow_oom, "--allow-oom")];
    parts.extend(
        { flags.iter() }
            .filter(|(on, _)| *on)
            .map(|(_, name)| name.to_string()),
    );
    parts.push("--".into());
    parts.extend(
        args.command
            .iter()
            .map(|word| quoted(&word.to_string_lossy())),
    );
    parts.join(" ")
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=3600.0).contains(&value) => Ok(Duration::from_secs_f64(value)),
        Ok(_) => Err("out of range (0 to 3600 seconds)".into()),
        Err(_) => Err("expected a number of seconds, such as 0.5".into()),
    }
}
