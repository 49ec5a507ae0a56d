//! Output files that appear whole or not at all, and never over another by mistake.
//!
//! A file is written under a temporary name beside its own, and renamed when it is finished. An error, and a
//! signal that ends the program, remove the temporary file.
mod error;
mod file;
mod signals;

pub use error::Error;
pub use file::{write, OutFile, Rules};
