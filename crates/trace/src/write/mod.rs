//! Writers of traces.
mod blocks;
mod csv;
mod oracle;
mod output;
mod writer;

pub use writer::{Writer, Written};
