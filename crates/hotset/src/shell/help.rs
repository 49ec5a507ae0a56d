//! Help texts, with exit statuses at the end, and errors of the command line.
use super::error::USAGE;
use super::unknown::{elsewhere, without_far_tips};
use super::{error, print};
use anyhow::Result;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ErrorKind};
use clap::Command;

/// What 1 means, for the commands that give an answer. Others never end with 1.
const ANSWERS: &[(&str, &str)] = &[
    (
        "lab run",
        "a promise is broken or not decided, or a guest did not end well",
    ),
    (
        "lab report",
        "a promise is broken or not decided, or a guest did not end well",
    ),
    ("kernel check", "a check failed"),
    ("sim validate", "the error is above --at-most"),
    ("sim campaign run", "a task failed; the others have results"),
    ("sim campaign merge", "a task has no result"),
    ("status", "no daemon answers"),
    (
        "doctor",
        "something is wrong: it can freeze or stop the machine",
    ),
];

/// Completes the commands that have no commands below them: their help ends with the exit statuses, and their
/// options take negative numbers, so that one out of range is named as such.
pub fn completed(command: Command) -> Command {
    below(command, "")
}

fn below(command: Command, path: &str) -> Command {
    if command.has_subcommands() {
        let names: Vec<String> = command
            .get_subcommands()
            .map(|it| it.get_name().into())
            .collect();
        return names.into_iter().fold(command, |command, name| {
            let path = format!("{path} {name}");
            command.mut_subcommand(name, |it| below(it, path.trim_start()))
        });
    }
    let text = statuses(path);
    let after = match command.get_after_help() {
        Some(before) => format!("{}\n\n{text}", before.ansi()),
        None => text,
    };
    let command =
        command.mut_args(
            |arg| match arg.get_action().takes_values() && !arg.is_positional() {
                true => arg.allow_negative_numbers(true),
                false => arg,
            },
        );
    command.after_help(StyledStr::from(after))
}

fn statuses(path: &str) -> String {
    let answer = ANSWERS.iter().find(|(command, _)| *command == path);
    let one = answer.map_or(String::new(), |(_, meaning)| format!("\n  1    {meaning}"));
    let zero = match path {
        "trace record" => "done; where the recorded command fails, its own status",
        "record" => "done, Ctrl-C, SIGTERM and SIGHUP included",
        _ => "done",
    };
    let signals = match path {
        "record" => "141  nobody reads standard output any more",
        _ => "130  Ctrl-C; other signals: 128 and their number",
    };
    format!(
        "Exit status:\n  0    {zero}{one}\n  2    the command line is wrong\n  \
         3    failure: the message names the file or the program\n  {signals}"
    )
}

/// Prints what clap has to say: a help text on standard output, or an error in the style of all errors. Returns
/// the exit status.
///
/// # Errors
/// Standard output cannot be written.
pub fn shown(answer: clap::Error, all: &Command) -> Result<u8> {
    let own = super::values::explained(&answer).or_else(|| elsewhere(&answer, all));
    if let Some(text) = own {
        error(text);
        return Ok(USAGE);
    }
    let mut answer = without_far_tips(answer);
    // clap knows options of one command only, and takes others for values: "use '-- --csv'".
    answer.remove(ContextKind::Suggested);
    let text = answer.render();
    if answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A help text, and no message: no name in front.
        anstream::eprint!("{}", text.ansi());
        return Ok(USAGE);
    }
    if answer.use_stderr() {
        let text = text.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        error(text.trim_end());
        return Ok(USAGE);
    }
    print(format_args!("{}", text.ansi()))?;
    Ok(0)
}
