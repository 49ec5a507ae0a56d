//! Request traces: their formats in and out, statistics and generators.
//!
//! [`open`] decodes a file and renumbers its objects once, to dense ids in order of first
//! appearance: whoever simulates caches then needs arrays and no hash table. [`Reader`] gives the
//! requests as the file has them.
mod budget;
mod count;
mod error;
mod flags;
mod format;
pub mod generate;
mod huge;
mod options;
mod pack;
pub mod read;
mod renumber;
pub mod stats;
mod trace;
mod write;

pub use budget::{Budget, Sample};
pub use count::parse_count;
pub use error::{Error, Place};
pub use flags::Flags;
pub use format::Format;
pub use huge::{advise_huge, prefetch};
pub use options::{CsvOptions, Names, ReadOptions, SpcOptions};
pub use pack::{Frames, Packing};
pub use read::{Batch, Reader, Skipped};
pub use renumber::Renumber;
pub use trace::{open, Trace};
pub use write::{Writer, Written};
