//! Text for standard output and standard error, in lines that fit a terminal.
use super::jargon::without_types;
use anyhow::{Context, Result};
use names::escaped;
use std::fmt::{self, Arguments, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Columns of a terminal that has its usual size.
pub const COLUMNS: usize = 80;

static VERBOSE: AtomicBool = AtomicBool::new(false);

const STDOUT: &str = "standard output";

/// Prints to standard output, with colours where `--color` and the environment allow them.
///
/// # Errors
/// Standard output cannot be written: its disk is full.
pub fn print(text: Arguments) -> Result<()> {
    anstream::stdout().write_fmt(text).context(STDOUT)
}

/// Writes what is still in the buffer of standard output.
///
/// # Errors
/// As [`print`].
pub fn flush() -> Result<()> {
    io::stdout().flush().context(STDOUT)
}

/// Says something on standard error, unless `--quiet` is given.
pub fn note(text: impl AsRef<str>) {
    if !progress::is_quiet() {
        error(text);
    }
}

/// Says something on standard error where `--verbose` is given.
pub fn verbose(text: impl AsRef<str>) {
    if is_verbose() {
        error(text);
    }
}

/// Whether `--verbose` is given.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Has [`verbose`] speak from now on.
pub fn be_verbose() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// Reports on standard error. Names in the text cannot control the terminal.
pub fn error(text: impl AsRef<str>) {
    // Where standard error cannot be written, nobody can be told.
    let _ = writeln!(io::stderr(), "hotset: {}", plain(text.as_ref()));
}

/// The text without control characters, the names of Rust's types and the numbers of system errors.
fn plain(text: &str) -> String {
    let mut left = without_types(&escaped(text));
    while let Some(at) = left.find(" (os error ") {
        let Some(end) = left[at..].find(')') else {
            break;
        };
        left.replace_range(at..=at + end, "");
    }
    left
}

/// Writes a text in lines of at most [`COLUMNS`], each after `indent`. A word that is longer stands
/// alone. An empty text gives no line.
pub fn write_wrapped(to: &mut String, indent: &str, text: &str) -> fmt::Result {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let width = indent.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && width > COLUMNS {
            writeln!(to, "{indent}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.is_empty() {
        true => Ok(()),
        false => writeln!(to, "{indent}{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_neither_escapes_nor_error_numbers() {
        let text = plain("a\x1b[2Jb: File exists (os error 17): again (os error 2)");
        assert_eq!(text, "a\\u{1b}[2Jb: File exists: again");
    }
}
