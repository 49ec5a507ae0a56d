//! Runs a command by turns under two settings of this machine.
//!
//! * [`setting`] reads the two settings.
//! * [`keeper`] is the process that alone writes knobs and starts programs, and undoes all at the end.
//! * [`machine`] reads counters, waits for rest, and looks for what else runs.
//! * [`run`] makes the pairs of runs, and writes [`protocol::record`]'s files.
pub mod keeper;
pub mod machine;
pub mod run;
pub mod setting;

/// The folder, below the root, of journals and of hotsetd's files. The kernel's knobs live as long as `/run` does.
pub const FOLDER: &str = "/run/hotset-trial";
