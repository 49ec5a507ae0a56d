//! How to read a trace.
use crate::{Budget, Format};
use std::fmt;
use std::sync::Arc;

/// Told how many bytes of the file have been read, and of how many where that is known.
pub type Progress = Arc<dyn Fn(u64, Option<u64>) + Send + Sync>;

/// How to read a trace; the default guesses the format and takes every request.
#[derive(Clone)]
pub struct ReadOptions {
    /// Guessed from name and contents when none.
    pub format: Option<Format>,
    /// Leave malformed lines and records out, and count them.
    pub skip_bad: bool,
    /// Keep what the format tells of each request: a byte each ([`crate::Trace::flags`]).
    pub flags: bool,
    /// Bytes of a page, a power of two: the unit of addresses in SPC, lackey and CSV with addresses.
    pub page_size: u32,
    /// No more requests than this.
    pub limit: Option<u64>,
    /// Above it a sample of the objects is kept ([`crate::Trace::sample`]); none is no bound. Objects
    /// whose names are strings are remembered by name besides.
    pub budget: Option<Budget>,
    pub spc: SpcOptions,
    pub csv: CsvOptions,
    /// Of plain text and of CSV's id column.
    pub names: Names,
    pub progress: Option<Progress>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            skip_bad: false,
            flags: false,
            page_size: 4096,
            limit: None,
            budget: None,
            spc: SpcOptions::default(),
            csv: CsvOptions::default(),
            names: Names::Auto,
            progress: None,
        }
    }
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("format", &self.format)
            .field("skip_bad", &self.skip_bad)
            .field("flags", &self.flags)
            .field("page_size", &self.page_size)
            .field("limit", &self.limit)
            .field("budget", &self.budget)
            .field("spc", &self.spc)
            .field("csv", &self.csv)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// What an object is called in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Numbers if the first one is a number, else strings.
    Auto,
    /// Decimal, or hexadecimal after `0x`; `12` and `012` are the same object.
    Numbers,
    /// Any bytes; `12` and `012` are two objects.
    Strings,
}

/// SPC trace files, as UMass has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpcOptions {
    /// Take writes as requests too.
    pub writes: bool,
    /// Each application storage unit is an address space of its own; else all share one.
    pub unit_spaces: bool,
    /// A request for each page that a request covers; else only for its first page.
    pub split: bool,
    /// Bytes of a block address; 512 by the format's specification.
    pub block_size: u32,
}

impl Default for SpcOptions {
    fn default() -> Self {
        Self {
            writes: true,
            unit_spaces: true,
            split: true,
            block_size: 512,
        }
    }
}

/// Comma-separated values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// When none: the one of comma, tab and semicolon that the first line has most of.
    pub delimiter: Option<u8>,
    /// Does the first line name the columns? Without names, columns are given by number from 1.
    pub header: bool,
    /// The object's column: a name or a number from 1. The first of a few usual names when none.
    pub id: Option<String>,
    /// Reads and writes.
    pub op: Option<String>,
    /// Seconds.
    pub time: Option<String>,
    /// Bytes.
    pub size: Option<String>,
    /// The id is a byte address: objects are its pages, and a request with a size is split into them.
    pub addresses: bool,
    /// Take writes as requests too.
    pub writes: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: true,
            id: None,
            op: None,
            time: None,
            size: None,
            addresses: false,
            writes: true,
        }
    }
}
