//! The `hotset` command: reads the command line and calls the crate that does the work.
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

mod doctor;
mod explain;
mod kernel;
mod lab;
mod manual;
mod metrics;
mod provenance;
mod record;
mod replay;
mod shell;
mod sim;
mod size;
mod status;
mod support;
mod top;
mod trace;
mod trial;

/// Keeps a Linux machine's working set in memory, and proves it.
#[derive(Parser)]
#[command(name = "hotset", version = version::SHORT, long_version = version::LONG, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: shell::Global,
}

#[derive(Subcommand)]
enum Command {
    /// Print the completions of a shell
    Completions(manual::CompletionsArgs),
    /// Say what this machine allows hotset, what would be better, and the command for it
    Doctor(doctor::DoctorArgs),
    /// Say why the machine froze: who took the memory, who waited, what to do
    Explain(explain::ExplainArgs),
    /// Fetch, build and check the kernels that the lab boots
    #[command(subcommand)]
    Kernel(kernel::Command),
    /// Run experiments on real kernels, and report the results
    #[command(subcommand)]
    Lab(lab::Command),
    /// Write the man pages and completions, for `make`
    #[command(hide = true)]
    Manual(manual::ManualArgs),
    /// Print the daemon's metrics as Prometheus reads them, or write them to a file
    Metrics(metrics::MetricsArgs),
    /// Record samples of this machine's memory, for `hotset replay`
    Record(record::RecordArgs),
    /// Show the daemon's actions and reasons over recorded samples
    Replay(replay::ReplayArgs),
    /// Simulate replacement policies on traces, Linux's own included: exact miss counts and curves
    #[command(subcommand)]
    Sim(sim::Command),
    /// Say how much memory this machine, or a command, needs
    Size(size::SizeArgs),
    /// Show the daemon's measurements, forecasts and actions, with reasons
    Status(status::StatusArgs),
    /// Collect what a bug report needs, and show it before it is written
    Support(support::SupportArgs),
    /// Watch memory on the whole screen: free, forecast, reclaim, floors, cgroups, events
    Top(top::TopArgs),
    /// Describe, convert and generate request traces
    #[command(subcommand)]
    Trace(trace::Command),
    /// Run a command by turns under two settings of this machine, and compare them
    Trial(trial::TrialArgs),
    /// A part of trial
    #[command(hide = true)]
    TrialKeeper(trial::KeeperArgs),
}

fn main() -> ExitCode {
    // A write beyond a limit of a file's size then fails as on a full disk, and what fits can be kept.
    // SAFETY: nothing else runs yet, and to ignore a signal needs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // Rust ignores SIGPIPE, so without this call `hotset ... | head` would end in a panic.
    // SAFETY: nothing else runs yet, and the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let result = match parsed() {
        Ok(cli) => {
            cli.global.apply();
            run(cli.command)
        }
        Err(error) => shell::shown(error, &Cli::command()).map(ExitCode::from),
    };
    let result = result.and_then(|code| shell::flush().map(|()| code));
    match result {
        Ok(code) => code,
        Err(error) => {
            shell::error(format!("{error:#}"));
            ExitCode::from(shell::status_of(&error))
        }
    }
}

fn parsed() -> Result<Cli, clap::Error> {
    let words = shell::renamed(std::env::args_os());
    let command = complete_command().color(shell::early_color(&words));
    let matches = command.try_get_matches_from(words)?;
    Cli::from_arg_matches(&matches)
}

/// All commands, with their help texts.
fn complete_command() -> clap::Command {
    shell::completed(Cli::command())
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Completions(args) => manual::completions(&args, complete_command()),
        Command::Doctor(args) => doctor::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Kernel(command) => kernel::run(command),
        Command::Lab(command) => lab::run(command),
        Command::Manual(args) => manual::write(&args, complete_command()),
        Command::Metrics(args) => metrics::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Sim(command) => sim::run(command),
        Command::Size(args) => size::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Support(args) => support::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Trace(command) => trace::run(command),
        Command::Trial(args) => trial::run(&args),
        Command::TrialKeeper(args) => trial::keeper(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with each command that has no commands below it, and with its name.
    fn each(command: &clap::Command, path: &str, check: &mut dyn FnMut(&str, &clap::Command)) {
        if !command.has_subcommands() {
            check(path.trim(), command);
        }
        for below in command.get_subcommands() {
            each(below, &format!("{path} {}", below.get_name()), check);
        }
    }

    fn all(mut check: impl FnMut(&str, &clap::Command)) {
        let mut count = 0;
        each(&complete_command(), "", &mut |path, command| {
            count += 1;
            check(path, command);
        });
        assert!(count > 25, "{count} commands");
    }

    fn end_of_help(command: &clap::Command) -> String {
        command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    #[test]
    fn each_help_ends_with_the_exit_statuses() {
        all(|path, command| {
            let text = end_of_help(command);
            let (_, statuses) = text.split_once("Exit status:\n").expect(path);
            let found: Vec<&str> = statuses
                .lines()
                .filter_map(|line| line.split_whitespace().next())
                .collect();
            for status in ["0", "2", "3"] {
                assert!(found.contains(&status), "{path}: {text}");
            }
            assert!(found.contains(&"130") || path == "record", "{path}: {text}");
        });
    }

    /// A terminal of 80 columns folds a longer line, and a folded line is two commands when it is copied.
    #[test]
    fn no_example_is_longer_than_80_columns() {
        let mut lines = 0;
        all(|path, command| {
            let text = end_of_help(command);
            let examples = text.split_once("Examples:\n").map_or("", |(_, rest)| rest);
            for line in examples.lines().take_while(|line| !line.is_empty()) {
                assert!(line.chars().count() <= 80, "{path}: {line}");
                lines += 1;
            }
        });
        assert!(lines > 40, "{lines} lines of examples");
    }

    #[test]
    fn json_is_promised_in_one_of_three_wordings() {
        let mut found = std::collections::BTreeSet::new();
        all(|path, command| {
            let json = command
                .get_arguments()
                .find(|argument| argument.get_long() == Some("json"));
            if let Some(json) = json {
                let text = json.get_help().map(ToString::to_string).unwrap_or_default();
                let known = [shell::JSON, shell::JSON_LINES, shell::JSON_SUMMARY];
                assert!(known.contains(&text.as_str()), "{path}: {text}");
                found.insert(text);
            }
        });
        assert_eq!(found.len(), 3);
    }
}
