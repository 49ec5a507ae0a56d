//! Requests as a file has them, batch by batch.
mod csv;
pub(crate) mod lackey;
mod lines;
mod oracle;
mod reader;
pub(crate) mod spc;
mod text;

pub use reader::{Batch, Expected, Reader, Skipped};
