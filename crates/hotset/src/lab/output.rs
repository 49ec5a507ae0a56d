//! The folder of results, and what is wrong with one.
use crate::shell::usage;
use lab::experiment::Broken;
use lab::results::{resume, Occupied};
use lab::run::Misuse;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The folder of results where none is named: `results/NAME-TIME`.
pub fn default_output(name: &str) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    Path::new("results").join(format!("{name}-{}", report::stamp(now)))
}

/// An error of a run, as usage where another command line is the cure.
pub fn typed(error: anyhow::Error) -> anyhow::Error {
    let is_usage = error.is::<Occupied>()
        || error.is::<Broken>()
        || error.is::<Misuse>()
        || error.is::<cluster::Refused>()
        || error.is::<resume::Another>()
        || error.is::<resume::Nothing>();
    match is_usage {
        true => usage!("{error:#}"),
        false => error,
    }
}
