//! Replacement policies on traces: exact miss counts at the speed of memory.
//!
//! A trace is a slice of dense ids (0, 1, ... in order of first appearance), so a policy keeps arrays
//! where other simulators keep a hash table. [`registry`] lists the policies, [`run`] and [`sweep`]
//! run them, and [`curve`] computes miss-ratio curves.
pub mod bench_traces;
pub mod curve;
pub mod engine;
pub mod error;
pub mod input;
pub mod policies;
pub mod policy;
pub mod registry;
pub mod reproduce;
pub mod sampling;
pub mod sized;
pub mod structures;
pub mod sweep;

pub use engine::run;
pub use error::Error;
pub use input::Input;
pub use policy::{Counts, Description, Parameter, Policy, Running, Setup};
