//! A trial: its pairs of runs, one after the other, and its results.
mod checks;
mod header;
mod one;
mod options;
mod pairs;
mod plan;

pub use checks::{check, Refused};
pub use options::{Options, Summary};
pub use pairs::run;
