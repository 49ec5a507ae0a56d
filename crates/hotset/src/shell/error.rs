//! Errors, as the exit status tells them apart.
use std::fmt;

/// The command line is wrong. Any other error is a failure.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The command line is wrong; another one is the cure.
pub const USAGE: u8 = 2;
/// A file, a device or a program failed.
pub const FAILURE: u8 = 3;

/// The exit status of an error.
pub fn status_of(error: &anyhow::Error) -> u8 {
    let usage = error
        .chain()
        .any(|cause| cause.is::<Usage>() || output_of(cause).is_some_and(outfile::Error::is_usage));
    match usage {
        true => USAGE,
        false => FAILURE,
    }
}

fn output_of<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a outfile::Error> {
    match cause.downcast_ref::<trace::Error>() {
        Some(trace::Error::Output(error)) => Some(error),
        _ => cause.downcast_ref::<outfile::Error>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::usage;
    use anyhow::{anyhow, Context};
    use std::path::PathBuf;

    #[test]
    fn the_cause_decides_the_status() {
        assert_eq!(status_of(&anyhow!("a disk")), FAILURE);
        assert_eq!(status_of(&usage!("--size {}", 0)), USAGE);
        let exists = outfile::Error::Exists(PathBuf::from("a"));
        let wrapped: anyhow::Result<()> = Err(exists).context("writing the report");
        assert_eq!(status_of(&wrapped.unwrap_err()), USAGE);
    }
}
