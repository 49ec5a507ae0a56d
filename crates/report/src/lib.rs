//! Raw results in, reports out.
//!
//! [`load`] reads a run's directory, [`study()`] turns it into numbers, [`format`] writes those as
//! HTML, Markdown and text. [`write()`] does all three.
pub mod format;
mod load;
pub mod study;
mod write;

pub use format::number::stamp;
pub use format::terminal::terminal;
pub use load::{load, Results};
pub use study::{study, PromiseResult, Study};
pub use write::{write, Written};
