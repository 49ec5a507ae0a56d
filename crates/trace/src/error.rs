//! What is wrong with a trace, and where.
use std::fmt;
use std::path::PathBuf;

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, the first being 1.
    Line(u64),
    /// A record of fixed size, the first being 1.
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

/// Why a trace could not be read or written. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system's own, or a damaged `.zst` or `.gz`.
    #[error("{}{}: {cause}", file.display(), after(*behind))]
    Io {
        file: PathBuf,
        /// The last line or record that could be read, where there was one.
        behind: Option<Place>,
        // Not its source: whoever prints the chain would say it twice.
        cause: std::io::Error,
    },
    /// A line or record is not what its format says.
    #[error("{}, {place}: expected {expected}, found {found}", file.display())]
    Malformed {
        file: PathBuf,
        place: Place,
        expected: String,
        found: String,
    },
    /// The file as a whole, or what was asked of it.
    #[error("{}: {problem}", file.display())]
    File { file: PathBuf, problem: String },
}
