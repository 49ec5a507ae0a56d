//! Traces to files.
mod csv;
mod oracle;
mod output;
mod writer;

pub use writer::{Writer, Written};
