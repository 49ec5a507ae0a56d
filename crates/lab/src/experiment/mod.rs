//! Experiment files: the parts of an experiment, and how they are read and checked.
//!
//! An experiment is one TOML file. A preset deep-merges a table of the same file over it, and
//! `--set` a line of the command line over that. Then the whole is checked. An error names file,
//! line and field ([`Broken`]).
mod arm;
mod check;
mod definition;
mod find;
mod guest_spec;
mod kernel;
pub mod league;
mod load;
mod machine;
mod places;
mod selection;
mod sweep;
mod text;

pub use arm::{Arm, Daemon, Lru, LRU_GEN};
pub use definition::Experiment;
pub use find::{find, list, Listed};
pub use guest_spec::Devices;
pub use kernel::{Kernel, Own};
pub use load::Changes;
pub use machine::{Machine, Root};
pub use places::daemon_program;
pub use text::source::Broken;
