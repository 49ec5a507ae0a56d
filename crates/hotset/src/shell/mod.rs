//! What all commands have in common: messages, statuses, colours, output files and the names of options.
mod error;
mod global;
mod help;
mod jargon;
mod json;
mod old_names;
mod outputs;
mod print;
mod unknown;
mod values;
mod versions;

pub use error::{status_of, Usage, FAILURE};
pub use global::{early_color, Global};
pub use help::{completed, shown};
pub use json::{JSON, JSON_LINES, JSON_SUMMARY};
pub use old_names::renamed;
pub use outputs::{folder, page, svg, Force};
pub use print::{error, flush, is_verbose, note, print, verbose, write_wrapped, COLUMNS};
pub use versions::{document, line, schema};

/// Prints to standard output. The value is a `Result`: standard output may be full.
macro_rules! out {
    ($($text:tt)*) => { $crate::shell::print(format_args!($($text)*)) };
}

/// As `out!`, and ends the line.
macro_rules! outln {
    () => { $crate::shell::print(format_args!("\n")) };
    ($($text:tt)*) => { $crate::shell::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// An error of the command line: exit status 2.
macro_rules! usage {
    ($($text:tt)*) => { anyhow::Error::from($crate::shell::Usage(format!($($text)*))) };
}

pub(crate) use {out, outln, usage};
