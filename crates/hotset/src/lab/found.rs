//! Experiments by their names, with errors as the command reports them.
use crate::shell::usage;
use anyhow::Result;
use lab::experiment::{self, Broken};
use std::path::PathBuf;

/// The file of an experiment.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<PathBuf> {
    experiment::find(name).map_err(|error| usage!("{error:#}"))
}

/// An experiment file is configuration: what is wrong in it is usage. One that cannot be read is a failure.
pub fn broken(error: Broken) -> anyhow::Error {
    match error.is_unreadable() {
        true => error.into(),
        false => usage!("{error}"),
    }
}
