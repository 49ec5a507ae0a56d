//! What the command line asks for.
use outfile::OutFile;
use std::path::PathBuf;

/// Exit status: nothing has happened.
pub const NOTHING: u8 = 1;

pub struct Asked {
    /// Seconds since 1970 of the time that is asked for.
    pub at_s: Option<f64>,
    pub list: bool,
    pub json: bool,
    /// Open since before the record was read.
    pub page: Option<OutFile>,
    /// The folder of guests that are to be booted.
    pub verify: Option<PathBuf>,
}
