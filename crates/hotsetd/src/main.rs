//! `hotsetd`: reads the command line and the configuration, and runs.
use hotsetd::actuate::apply;
use hotsetd::config::check::Problem;
use hotsetd::config::cli::{Mode, Options, HELP};
use hotsetd::config::settings::Config;
use hotsetd::config::summary::summary;
use hotsetd::config::{file, memoptimizer, notes::notes};
use hotsetd::os::standard_streams::{complain, print};
use hotsetd::protect::oom::notifier;
use hotsetd::runtime::{event_loop, lock_file, restore, startup};
use hotsetd::telemetry::log::{Level, Log};
use hotsetd::telemetry::serving;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Exit status: an option or the configuration is wrong. The unit does not start the daemon again.
const WRONG: u8 = 2;
/// Exit status: a failure, such as a file that cannot be read.
const FAILED: u8 = 3;
/// Exit status: the reader of standard output has gone. A shell shows SIGPIPE as this number.
const NO_READER: u8 = 141;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == notifier::OPTION {
        notifier::run(arguments);
        return ExitCode::SUCCESS;
    }
    if first == serving::OPTION {
        return match serving::run(arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed("status and metrics", &error),
        };
    }
    let options = Options::parse(std::env::args_os().skip(1)).map_err(|text| {
        complain(format_args!("{text}"));
        ExitCode::from(WRONG)
    });
    match options.and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => code,
    }
}

/// The program's task. An error is reported, and is an exit status.
fn run(options: Options) -> Result<(), ExitCode> {
    match &options.mode {
        Mode::Help => show(HELP),
        Mode::Version => show(&format!("hotsetd {}\n", version::LONG)),
        Mode::ImportConfig(path) => import_config(path),
        Mode::CheckConfig => check_config(&options),
        Mode::Restore => give_back(&options),
        Mode::Run => go(options),
    }
}

/// Reports a failure.
fn failed(what: &str, error: &io::Error) -> ExitCode {
    let error = names::io_error(error);
    complain(format_args!("{what}: {error}"));
    ExitCode::from(FAILED)
}

/// Writes a text to standard output.
fn show(text: &str) -> Result<(), ExitCode> {
    print(text).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => ExitCode::from(NO_READER),
        _ => failed("standard output", &error),
    })
}

/// Reports errors of a configuration.
fn refused(problems: Vec<Problem>) -> ExitCode {
    let unreadable = problems.iter().any(|problem| problem.unreadable);
    for problem in problems {
        complain(format_args!("{problem}"));
    }
    ExitCode::from(if unreadable { FAILED } else { WRONG })
}

/// The configuration with the options laid over it.
fn configuration(options: &Options) -> Result<Config, ExitCode> {
    startup::check_root(&options.root).map_err(|error| failed("--root", &error))?;
    let loaded = file::load(&options.config_place());
    let mut config = loaded.map_err(refused)?;
    options.override_config(&mut config);
    Ok(config)
}

fn check_config(options: &Options) -> Result<(), ExitCode> {
    startup::check_root(&options.root).map_err(|error| failed("--root", &error))?;
    let read = file::read(&options.config_place());
    let (config, layers) = read.map_err(refused)?;
    let notes = notes(&config, &layers, &options.root);
    show(&summary(&layers, &notes))
}

fn import_config(path: &Path) -> Result<(), ExitCode> {
    let imported = memoptimizer::import_file(path).map_err(refused)?;
    for problem in &imported.left_out {
        complain(format_args!("{problem}"));
    }
    show(&imported.text)
}

fn give_back(options: &Options) -> Result<(), ExitCode> {
    startup::check_root(&options.root).map_err(|error| failed("--root", &error))?;
    // Of the configuration only the journal's place counts. A mistake elsewhere leaves no knob changed.
    let (mut config, problems) = file::load_valid(&options.config_place());
    for problem in problems {
        complain(format_args!("{problem}; left out"));
    }
    options.override_config(&mut config);
    // A service that is told to make dry runs still has to clean up after one that made none.
    config.dry_run = options.dry_run;
    if config.dry_run {
        // Not even the lock is taken: that is a file.
        let mut log = Log::open(config.log, config.verbosity);
        let all = restore::open_knobs(&options.root, &config, &mut log)
            .and_then(restore::readable)
            .map(|knobs| apply::would_give_back(&knobs, &mut log));
        return ended(all, &mut log, "journal");
    }
    // A running daemon would write the knobs again, so the lock is taken.
    let _instance = lock_file::take(&options.root).map_err(|error| failed("--restore", &error))?;
    let mut log = Log::open(config.log, config.verbosity);
    hotsetd::protect::mlock::read_events::remove_stale_instance(&options.root);
    let all = restore::open_knobs(&options.root, &config, &mut log)
        .and_then(restore::readable)
        .map(|mut knobs| apply::give_back(&mut knobs, &mut log));
    ended(all, &mut log, "journal")
}

fn go(mut options: Options) -> Result<(), ExitCode> {
    let config = configuration(&options)?;
    startup::check_files(&options.root).map_err(|error| failed("--root", &error))?;
    if options.background {
        // Detached, standard error is gone, and a log that falls back on it is lost.
        config.log.check().map_err(|error| {
            let text = format!("{error}; name another target by --log, or stay in the foreground");
            failed("--background", &io::Error::new(error.kind(), text))
        })?;
        let detached = options.make_absolute();
        detached
            .and_then(|()| hotsetd::os::process::detach())
            .map_err(|error| failed("--background", &error))?;
    }
    let log = Log::open(config.log, config.verbosity);
    let (target, verbosity) = (config.log, config.verbosity);
    let all = event_loop::run(&options, config, log);
    ended(all, &mut Log::open(target, verbosity), "daemon")
}

/// The exit status of a run that gives knobs back: `Ok(false)` where some could not be.
fn ended(all: io::Result<bool>, log: &mut Log, module: &str) -> Result<(), ExitCode> {
    match all {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(error) => log.line(Level::Error, module, format_args!("{error}")),
    }
    Err(ExitCode::from(FAILED))
}
