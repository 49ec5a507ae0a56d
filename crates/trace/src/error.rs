//! Errors of a trace, and their place in it.
use crate::{CutOff, Extent};
use names::{io_error, shown};
use std::fmt;
use std::path::PathBuf;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line; the first is 1.
    Line(u64),
    /// A record of fixed size; the first is 1.
    Record(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Record(n) => write!(f, "record {n}"),
        }
    }
}

fn after(place: Option<Place>) -> String {
    place.map_or(String::new(), |place| format!(", after {place}"))
}

/// Why a trace cannot be read or written. Each error names the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the file system, or a damaged `.zst` or `.gz`.
    #[error("{}{}: {}", shown(file), after(*behind), io_error(cause))]
    Io {
        file: PathBuf,
        /// The last line or record that was read. None where none was.
        behind: Option<Place>,
        // Not declared as the source, since the message includes the cause already.
        cause: std::io::Error,
    },
    /// A `.zst` or `.gz` that ends in the middle. [`crate::ReadOptions::skip_bad`] reads the requests before.
    #[error(
        "{}: {CutOff} after {requests} requests; --skip-bad reads the requests before it",
        shown(file)
    )]
    CutOff {
        file: PathBuf,
        /// Requests that were read.
        requests: u64,
    },
    /// A line or record breaks the rules of its format.
    #[error("{}, {place}: expected {expected}, found {found}", shown(file))]
    Malformed {
        file: PathBuf,
        place: Place,
        expected: String,
        found: String,
    },
    /// An output that cannot be written.
    #[error(transparent)]
    Output(#[from] outfile::Error),
    /// The memory budget has no room for a sample.
    #[error("{}: {bytes} bytes of memory are too few; {least} are enough", file.display())]
    Budget {
        file: PathBuf,
        bytes: u64,
        /// A budget that is enough, near the smallest one.
        least: u64,
        /// What larger samples take.
        extent: Box<Extent>,
    },
    /// The file as a whole is wrong, or the options do not fit it.
    #[error("{}: {problem}", shown(file))]
    File { file: PathBuf, problem: String },
}

impl Error {
    /// The error of a write to an output.
    pub(crate) fn written(path: &std::path::Path, cause: std::io::Error) -> Error {
        Error::Output(outfile::Error::Io {
            path: path.into(),
            cause,
        })
    }
}
