//! The two settings that a trial compares.
pub mod daemon;
mod parse;

pub use parse::{parse, Setting};
