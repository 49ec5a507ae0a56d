//! Replacement policies on traces: exact miss counts at the speed of memory.
//!
//! A trace is a slice of dense ids (0, 1, ... in the order of first sight), so a policy keeps arrays
//! where other simulators keep a hash table. [`registry`] lists the policies, [`run`] and [`sweep`]
//! run them, [`curve`] draws miss-ratio curves.
pub mod bits;
pub mod by_count;
pub mod curve;
pub mod deques;
pub mod engine;
pub mod huge;
pub mod input;
pub mod lane;
pub mod linux;
pub mod lists;
pub mod policies;
pub mod policy;
pub mod queue;
pub mod registry;
pub mod reproduce;
pub mod results;
pub mod sample;
pub mod sampled;
pub mod size;
pub mod sweep;

pub use engine::{run, Running};
pub use input::Input;
pub use policy::{Counts, Description, Error, Parameter, Policy, Setup};
