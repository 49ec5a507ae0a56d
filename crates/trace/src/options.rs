//! The options for reading a trace.
use crate::{Budget, Format};
use std::fmt;
use std::sync::Arc;

/// Called with the bytes of the file that have been read, and with its length where that is known.
pub type Progress = Arc<dyn Fn(u64, Option<u64>) + Send + Sync>;

/// The options for reading a trace. The default guesses the format and takes every request.
#[derive(Clone)]
pub struct ReadOptions {
    /// The format. None guesses it from name and contents.
    pub format: Option<Format>,
    /// Skip malformed lines and records, and count them.
    pub skip_bad: bool,
    /// Keep the flags of each request, in one byte each ([`crate::Trace::flags`]).
    pub flags: bool,
    /// Keep the size of each request, in four bytes each ([`crate::Trace::sizes`]). A sample has no sizes.
    pub sizes: bool,
    /// Bytes of a page, a power of two. Pages are the objects of SPC, lackey and CSV with addresses.
    pub page_size: u32,
    /// The most requests to read.
    pub limit: Option<u64>,
    /// Requests with times that oracleGeneral cannot hold are malformed: its seconds have 32 bits.
    pub short_times: bool,
    /// The memory to spend. A larger trace becomes a sample of its objects ([`crate::Trace::sample`]).
    /// None is no bound. Objects whose names are strings take memory for their names besides.
    pub budget: Option<Budget>,
    pub spc: SpcOptions,
    pub csv: CsvOptions,
    /// The names of objects in plain text and in the id column of CSV.
    pub names: Names,
    pub progress: Option<Progress>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            skip_bad: false,
            flags: false,
            sizes: false,
            page_size: 4096,
            limit: None,
            short_times: false,
            budget: None,
            spc: SpcOptions::default(),
            csv: CsvOptions::default(),
            names: Names::Auto,
            progress: None,
        }
    }
}

impl ReadOptions {
    /// The time in seconds from which on times are malformed.
    pub(crate) fn end_of_times(&self) -> f64 {
        match self.short_times {
            true => 2f64.powi(32),
            false => f64::INFINITY,
        }
    }
}

impl fmt::Debug for ReadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("format", &self.format)
            .field("skip_bad", &self.skip_bad)
            .field("flags", &self.flags)
            .field("sizes", &self.sizes)
            .field("page_size", &self.page_size)
            .field("limit", &self.limit)
            .field("short_times", &self.short_times)
            .field("budget", &self.budget)
            .field("spc", &self.spc)
            .field("csv", &self.csv)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// The kind of object names in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Numbers if the first name is a number, else strings.
    Auto,
    /// Decimal, or hexadecimal after `0x`; `12` and `012` are the same object.
    Numbers,
    /// Any bytes; `12` and `012` are two objects.
    Strings,
}

impl std::str::FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Names, String> {
        match text {
            "auto" => Ok(Names::Auto),
            "numbers" => Ok(Names::Numbers),
            "strings" => Ok(Names::Strings),
            _ => Err(format!("{text:?}: expected auto, numbers or strings")),
        }
    }
}

/// The options for reading SPC trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpcOptions {
    /// Take writes as requests too.
    pub writes: bool,
    /// Each application storage unit has its own address space. Otherwise all units share one.
    pub unit_spaces: bool,
    /// A request is split into one request for each page that it covers. Otherwise only its first page counts.
    pub split: bool,
    /// Bytes of a block: 512 by the format's specification.
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

/// What may be the size of a block or a page, in bytes.
fn size(bytes: u64) -> Result<u32, String> {
    match bytes {
        1..=0x8000_0000 => Ok(bytes as u32),
        _ => Err(format!("{bytes} is out of range (1 to 2G bytes)")),
    }
}

impl ReadOptions {
    /// A size of pages.
    ///
    /// # Errors
    /// The number is out of range, or no power of two.
    pub fn page_size(bytes: u64) -> Result<u32, String> {
        match size(bytes)? {
            size if size.is_power_of_two() => Ok(size),
            size => Err(format!("{size} is no power of two (1 to 2G bytes)")),
        }
    }
}

impl SpcOptions {
    /// A size of blocks.
    ///
    /// # Errors
    /// The number is out of range.
    pub fn block_size(bytes: u64) -> Result<u32, String> {
        size(bytes)
    }
}

/// The options for reading comma-separated values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// The delimiter. None: the most frequent one of comma, tab and semicolon in the first line.
    pub delimiter: Option<u8>,
    /// Does the first line name the columns? Without names, columns are given by number from 1.
    pub header: bool,
    /// The column of the object: a name, or a number from 1. None: the first column with one of the usual names.
    pub id: Option<String>,
    /// The column of reads and writes.
    pub op: Option<String>,
    /// The column of times in seconds.
    pub time: Option<String>,
    /// The column of sizes in bytes.
    pub size: Option<String>,
    /// The id is a byte address. Objects are pages, and a request with a size is split into its pages.
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

impl CsvOptions {
    /// A delimiter from its name: itself, or `tab`.
    ///
    /// # Errors
    /// It is no single byte, or one that has another meaning.
    pub fn delimiter(text: &str) -> Result<u8, String> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(b'\t'),
            &[byte] if byte != b'"' && byte != b'\n' => Ok(byte),
            _ => Err(format!(
                "{text:?}: expected one character such as ; or the word tab"
            )),
        }
    }
}
