//! The error of a packed file that ends early.
use std::{fmt, io};

/// The packed file ends in the middle. All that its decoder could unpack has been read.
#[derive(Debug)]
pub struct CutOff;

impl CutOff {
    /// Whether `error` is a cut-off, and no other error of reading.
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<CutOff>())
    }
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("compressed file is truncated")
    }
}

impl std::error::Error for CutOff {}

impl From<CutOff> for io::Error {
    fn from(cut: CutOff) -> Self {
        io::Error::new(io::ErrorKind::UnexpectedEof, cut)
    }
}
