//! Errors of the kernel's files.
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that could not be read or parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Shared, so that another error of the same file allocates nothing.
    pub path: Arc<Path>,
    pub kind: ErrorKind,
}

/// The reason why a file could not be read or parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The kernel lacks the file, or the file's owner (a node, a cgroup) is gone.
    Missing,
    /// This process may not read the file.
    Denied,
    /// Another error of open(2) or pread(2).
    Io(rustix::io::Errno),
    /// Bytes that no kernel writes there. `line` is counted from 1.
    Malformed { line: u32, problem: &'static str },
    /// The file ends before a field that every kernel writes.
    Truncated { missing: &'static str },
    /// The file is longer than `limit` bytes: no kernel writes so much.
    TooLong { limit: usize },
}

impl Error {
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, kind: ErrorKind) -> Self {
        Self {
            path: path.into().into(),
            kind,
        }
    }
}

impl From<rustix::io::Errno> for ErrorKind {
    fn from(errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match errno {
            // Files of a cgroup or a node give ENODEV once the cgroup or node is gone.
            // PSI's files give OPNOTSUPP where PSI was switched off at boot.
            Errno::NOENT | Errno::NOTDIR | Errno::NODEV | Errno::OPNOTSUPP => Self::Missing,
            Errno::ACCESS | Errno::PERM => Self::Denied,
            other => Self::Io(other),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.kind)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "no such file"),
            Self::Denied => write!(
                f,
                "may not be read; run as root, or allow it in the sandbox"
            ),
            Self::Io(errno) => write!(f, "{errno}"),
            Self::Malformed { line, problem } => write!(f, "line {line}: {problem}"),
            Self::Truncated { missing } => write!(f, "ends before {missing}"),
            Self::TooLong { limit } => write!(f, "longer than {limit} bytes"),
        }
    }
}

impl std::error::Error for Error {}
