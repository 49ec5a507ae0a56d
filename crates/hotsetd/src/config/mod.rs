//! The administrator's choices: on the command line, in the configuration files.
//!
//! [`settings`] holds the choices. [`file`] reads the files by the table of [`keys`]; [`check`] holds
//! their errors. [`summary`] tells what the files set, and
//! [`notes`] what of it has no effect. [`memoptimizer`] converts the configuration of memoptimizer.
pub mod check;
pub mod cli;
pub mod file;
pub mod keys;
pub mod memoptimizer;
pub mod notes;
mod protect_keys;
pub mod row;
pub mod settings;
mod source;
pub mod summary;
