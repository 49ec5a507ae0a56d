//! Reports on the results of a run.
//!
//! [`load`] reads the directory of a run, [`study()`] computes its numbers, and [`format`] shows them
//! as HTML, Markdown and text. [`write()`] does all three.
pub mod format;
pub mod league;
mod load;
pub mod study;
mod write;

pub use format::number::stamp;
pub use format::terminal::{terminal, wrap};
pub use load::{load, Results};
pub use study::{study, PromiseResult, Study};
pub use write::{write, Written};
