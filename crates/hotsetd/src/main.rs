//! `hotsetd`: reads the command line and the configuration, and runs.
use hotsetd::cli::{Mode, Options, HELP};
use hotsetd::config::Config;
use hotsetd::log::{Level, Log};
use hotsetd::protect::herald;
use hotsetd::{act, daemon, import, load, run};
use std::path::Path;
use std::process::ExitCode;

/// A wrong option or configuration.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|first| first == herald::OPTION)
    {
        herald::run(arguments);
        return ExitCode::SUCCESS;
    }
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(words) => {
            eprintln!("hotsetd: {words}");
            return ExitCode::from(WRONG);
        }
    };
    match &options.mode {
        Mode::Help => print!("{HELP}"),
        Mode::Version => println!("hotsetd {}", env!("CARGO_PKG_VERSION")),
        Mode::ImportConfig(path) => return import_config(path),
        Mode::CheckConfig => {
            return configuration(&options).map_or_else(|code| code, |_| ExitCode::SUCCESS)
        }
        Mode::Restore => return restore(&options),
        Mode::Run => return go(&options),
    }
    ExitCode::SUCCESS
}

/// The configuration with the options laid over it; what is wrong with it is told.
fn configuration(options: &Options) -> Result<Config, ExitCode> {
    match load::load(&options.config_path(), options.config.is_some()) {
        Ok(mut config) => {
            options.override_config(&mut config);
            Ok(config)
        }
        Err(problems) => {
            for problem in problems {
                eprintln!("hotsetd: {problem}");
            }
            Err(ExitCode::from(WRONG))
        }
    }
}

fn import_config(path: &Path) -> ExitCode {
    let text = match std::fs::read(path) {
        // Whatever is not UTF-8 can only be a comment or a mistake.
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            eprintln!("hotsetd: {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    match import::import(path, &text) {
        Ok(imported) => {
            for problem in &imported.left_out {
                eprintln!("hotsetd: {problem}");
            }
            print!("{}", imported.text);
            ExitCode::SUCCESS
        }
        Err(problems) => {
            for problem in problems {
                eprintln!("hotsetd: {problem}");
            }
            ExitCode::from(WRONG)
        }
    }
}

fn restore(options: &Options) -> ExitCode {
    let config = match configuration(options) {
        Ok(config) => config,
        Err(code) => return code,
    };
    // What a running daemon has set is not left behind.
    let _instance = match run::take_instance(options) {
        Ok(instance) => instance,
        Err(error) => {
            eprintln!("hotsetd: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut log = Log::open(config.log, config.verbosity);
    hotsetd::protect::reads::tidy(&options.root);
    match daemon::open_knobs(&options.root, &config, &mut log) {
        Ok(mut knobs) => match act::give_back(&mut knobs, &mut log) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
        Err(error) => {
            log.line(Level::Error, "journal", format_args!("{error}"));
            ExitCode::FAILURE
        }
    }
}

fn go(options: &Options) -> ExitCode {
    let config = match configuration(options) {
        Ok(config) => config,
        Err(code) => return code,
    };
    if options.background {
        if let Err(error) = hotsetd::harden::detach() {
            eprintln!("hotsetd: cannot detach: {error}");
            return ExitCode::FAILURE;
        }
    }
    let log = Log::open(config.log, config.verbosity);
    let (target, verbosity) = (config.log, config.verbosity);
    match run::run(options, config, log) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let mut log = Log::open(target, verbosity);
            log.line(Level::Error, "daemon", format_args!("{error}"));
            ExitCode::FAILURE
        }
    }
}
