//! The files of a campaign.
//!
//! ```text
//! FOLDER/plan.json       the plan, and plan.sha256 its hash
//! FOLDER/tasks/N.parquet the rows of a task; there only when it is whole
//! FOLDER/attempts/N.json the last attempt at a task: where, how long, with how much memory, and its error
//! FOLDER/engine/         what was submitted: lists of tasks, scripts, logs
//! FOLDER/lock            locked by the run that works in the folder
//! FOLDER/results.parquet all rows
//! FOLDER/runs.parquet    what each task took
//! ```
mod atomic;
mod attempt;
mod place;

pub use atomic::{remove_leftovers, write, write_soon};
pub use attempt::{host, Attempt, Ended};
pub use place::Folder;
