//! The kinds of work that a worker's processes can do.
//!
//! A new kind is a variant of [`Work`] with its line in `Work::traits`, and a file in the guest's
//! `work` room.
pub mod access;
pub mod apps;
pub mod database;
mod files;
mod kernel;
mod kind;
mod memory;
pub mod observed;
mod program;

pub use files::{Churn, Compile, Fixed, Pass};
pub use kernel::{Ask, AskBy, KillDaemon, KnobLoop};
pub use kind::Work;
pub use memory::{Beat, Fill, Hog, Touch};
pub use program::Program;
