//! `hotset status`: the daemon's measurements, forecasts and actions, with reasons.
pub mod answer;
mod daemon;
pub mod format;
mod machine;
mod protection;
mod watch;

use crate::shell::{self, usage};
use anyhow::{anyhow, Context, Result};
use clap::Args;
use kernfs::Root;
use names::{io_error, shown};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use watch::{Ended, Watch};

/// Exit status: no daemon runs.
const NO_DAEMON: u8 = 1;
/// Exit status: the reader of standard output has gone. A shell shows SIGPIPE as this number.
const NO_READER: u8 = 141;

#[derive(Args)]
#[command(
    after_help = "Where no daemon runs, it shows what the machine says by itself, and ends with 1.\n\n\
    Examples:\n  \
    hotset status\n  \
    hotset status --watch\n  \
    hotset status --json | jq '.nodes[].time_to_low_s'"
)]
pub struct StatusArgs {
    #[arg(long, help = shell::JSON_LINES)]
    json: bool,
    /// Repeat every SECONDS, 0.1 to 86400, until q or Ctrl-C [2 if SECONDS is left out]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2")]
    watch: Option<String>,
    /// The daemon's status socket
    #[arg(long, value_name = "FILE", default_value = "/run/hotset/status.sock")]
    socket: PathBuf,
}

/// Asks the daemon for its status and shows it.
///
/// # Errors
/// When another program than hotsetd answers, or the output cannot be written.
pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let interval = args.watch.as_deref().map(interval).transpose()?;
    let person = interval.is_some() && !args.json && io::stdout().is_terminal();
    let screen = person && can_clear();
    shell::verbose(format!("socket: {}", shown(&args.socket)));
    let mut watch = Watch::start(person).context("the terminal cannot be set up for --watch")?;
    let mut answered = false;
    loop {
        let document = match answer::ask(&args.socket) {
            Ok(document) => document,
            Err(error) => {
                if !answered && is_absent(&error) {
                    show_machine(args)?;
                }
                return unanswered(args, &error);
            }
        };
        answered = true;
        let status = answer::parse(&document).map_err(|why| not_a_status(args, &why))?;
        if screen {
            // Not by `shell`: NO_COLOR is about colours, and a screen is cleared all the same.
            write!(io::stdout(), "\x1b[H\x1b[2J").context("standard output")?;
        }
        match args.json {
            true => shell::print(format_args!("{}\n", answer::one_line(&document)))?,
            false => shell::print(format_args!("{}", daemon::text(&status)))?,
        }
        shell::flush()?;
        let Some(interval) = interval else {
            return Ok(ExitCode::SUCCESS);
        };
        match watch
            .pause(interval)
            .context("waiting for the time of --watch")?
        {
            Ended::Time => {}
            Ended::Quit => return Ok(ExitCode::SUCCESS),
            Ended::NoReader => return Ok(ExitCode::from(NO_READER)),
        }
        if !screen && !args.json {
            shell::print(format_args!("\n"))?;
        }
    }
}

/// Whether no daemon runs.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::ConnectionRefused
    )
}

fn show_machine(args: &StatusArgs) -> Result<()> {
    let look = machine::Look::at(&Root::default());
    match args.json {
        true => shell::print(format_args!("{}\n", look.json()?))?,
        false => shell::print(format_args!("{}\n", look.text()))?,
    }
    shell::flush()
}

/// The interval of `--watch`.
fn interval(text: &str) -> Result<Duration> {
    match text.parse::<f64>() {
        // NaN is in no range.
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        Ok(_) => Err(usage!(
            "--watch: {text} is out of range (0.1 to 86400 seconds)"
        )),
        Err(_) => Err(usage!(
            "--watch: {text} is not a number (0.1 to 86400 seconds)"
        )),
    }
}

/// Whether the terminal understands escape sequences.
fn can_clear() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

fn not_a_status(args: &StatusArgs, why: &str) -> anyhow::Error {
    anyhow!("{}: {why}", shown(&args.socket))
}

/// The end where the daemon gives no document: the answer "no", or a failure.
fn unanswered(args: &StatusArgs, error: &io::Error) -> Result<ExitCode> {
    let (place, cause) = (shown(&args.socket), io_error(error));
    match error.kind() {
        _ if is_absent(error) => {
            shell::error(format!(
                "{place}: no daemon answers: {cause}; to start it: systemctl start hotsetd"
            ));
            Ok(ExitCode::from(NO_DAEMON))
        }
        ErrorKind::PermissionDenied => Err(anyhow!(
            "{place}: {cause}; root and the members of the group hotset may ask: sudo hotset status"
        )),
        ErrorKind::InvalidInput => Err(usage!("--socket: {place}: no socket has so long a name")),
        ErrorKind::InvalidData => Err(not_a_status(args, answer::FOREIGN)),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(anyhow!(
            "{place}: no answer within 5 seconds; is hotsetd stopped?"
        )),
        _ => Err(anyhow!("{place}: the daemon cannot be asked: {cause}")),
    }
}
