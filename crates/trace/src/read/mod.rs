//! Readers, one for each format: they return the requests of a file batch by batch.
mod columns;
mod csv;
mod detect;
mod lackey;
mod lines;
mod oracle;
mod reader;
mod source;
mod spc;
mod text;

pub use detect::format_of;
pub use reader::{file_name, Expected, Reader};
pub use source::{Batch, Skipped};
