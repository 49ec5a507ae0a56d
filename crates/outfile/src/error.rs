//! Why an output file cannot be written.
use names::{io_error, shown};
use std::io;
use std::path::PathBuf;

/// Each error names the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is such a file, and nobody asked to replace it.
    #[error("{}: the file exists; --force replaces it", shown(.0))]
    Exists(PathBuf),
    /// The command reads this file.
    #[error("{}: the command reads this file; name another output", shown(.0))]
    IsInput(PathBuf),
    /// Another output has the same name.
    #[error("{}: two outputs have this name; name another file for one of them", shown(.0))]
    Twice(PathBuf),
    /// The file system refused.
    #[error("{}: cannot write: {}", shown(.path), io_error(.cause))]
    Io {
        path: PathBuf,
        // Not declared as the source, since the message includes the cause already.
        cause: io::Error,
    },
}

impl Error {
    /// Whether another command line is the cure, not another disk.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Error::Io { .. })
    }
}
