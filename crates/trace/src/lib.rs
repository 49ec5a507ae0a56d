//! Request traces: their formats in and out, statistics and generators.
//!
//! [`open`] decodes a file and renumbers its objects once, to dense ids in order of first appearance.
//! A cache simulator then needs arrays and no hash table. [`Reader`] returns the requests with the object
//! numbers of the file.
mod dense_ids;
mod error;
mod flags;
mod format;
pub mod generate;
mod huge_pages;
mod options;
mod packing;
pub mod read;
pub mod stats;
mod trace;
mod write;

pub use dense_ids::{Budget, Extent, Renumber, Sample};
pub use error::{Error, Place};
pub use flags::Flags;
pub use format::Format;
pub use huge_pages::{advise_huge, prefetch};
pub use options::{CsvOptions, Names, ReadOptions, SpcOptions};
pub use packing::{open_packed, open_unpacked, CutOff, Packer, Packing, ZstdWriter};
pub use read::{Batch, Reader, Skipped};
pub use trace::{load, open, Trace};
pub use write::{Writer, Written};
