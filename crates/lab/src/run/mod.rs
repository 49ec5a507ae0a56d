//! A run: every arm of an experiment, as often as there are repetitions, and its results.
//!
//! [`run`] runs the turns of [`schedule`] by [`trial`], some at once, and writes [`crate::results`].
pub mod display;
mod environment;
mod estimate;
mod header;
mod jobs;
mod options;
pub(crate) mod preflight;
mod preparation;
mod runner;
pub mod schedule;
pub mod trial;

pub use environment::environment;
pub use estimate::estimate;
pub use options::{Options, Summary};
pub use preflight::{check, Misuse};
pub use preparation::obtain;
pub use runner::run;
