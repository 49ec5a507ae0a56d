//! Why a knob was not written.
use rustix::io::Errno;
use std::fmt;

/// Why a knob was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The kernel has no such knob.
    Missing,
    /// The knob could not be read.
    Read(Errno),
    /// The journal could not be written, so the knob was not written.
    Journal(Errno),
    /// The kernel refused the value.
    Write(Errno),
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Missing => to.write_str("this kernel has no such knob"),
            Error::Read(errno) => write!(to, "cannot be read: {errno}"),
            Error::Journal(errno) => {
                write!(
                    to,
                    "left alone: its original value cannot be journaled: {errno}"
                )
            }
            Error::Write(errno) => write!(to, "cannot be written: {errno}"),
        }
    }
}
