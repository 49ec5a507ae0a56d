//! Job arrays of a cluster's own scheduler. It finds hosts, limits and retries; this submits, and waits.
//!
//! [`slurm`] has Slurm's arrays. [`command`] runs the programs of any scheduler. [`lock`] keeps a folder to
//! one run.
pub mod command;
mod error;
pub mod lock;
pub mod slurm;

pub use error::Refused;
