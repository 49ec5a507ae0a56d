//! Protection of the working set: a snapshot in, steering, reclaim and kills out.
//!
//! [`protect`] combines the other modules' decisions. [`stack_distance`] and [`working_set`] answer two
//! questions of their own: which parts of files are hot, and how much memory a cgroup needs.
pub mod anon_reclaim;
mod candidate;
pub mod exhaustion;
pub mod floors;
pub mod protect;
pub mod snapshot;
pub mod stack_distance;
pub mod steering;
pub mod storm;
pub mod victim;
pub mod working_set;
