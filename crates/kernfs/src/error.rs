//! What can go wrong with a file of the kernel.
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that gave nothing that could be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Shared, so that telling of the same file again allocates nothing.
    pub path: Arc<Path>,
    pub kind: ErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No such file: the kernel lacks it, or its owner (a node, a cgroup) is gone.
    Missing,
    /// This process may not read it.
    Denied,
    /// Another error of open(2) or pread(2).
    Io(rustix::io::Errno),
    /// Bytes that are not what the kernel writes there; `line` is counted from 1.
    Malformed { line: u32, what: &'static str },
    /// It ends before the fields that make it what it is.
    Truncated { missing: &'static str },
    /// Longer than any kernel writes it.
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
            // ENODEV is what the files of a cgroup or a node say once it is gone.
            // OPNOTSUPP is what PSI's say where it was switched off at boot.
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
            Self::Malformed { line, what } => write!(f, "line {line}: {what}"),
            Self::Truncated { missing } => write!(f, "ends before {missing}"),
            Self::TooLong { limit } => write!(f, "longer than {limit} bytes"),
        }
    }
}

impl std::error::Error for Error {}
