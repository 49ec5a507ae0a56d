//! Many policies at many sizes over one trace: the jobs, their results, and estimates from a sample.
pub mod job;
pub mod parallel;
pub mod results;
pub mod sampled;
pub mod size;

pub use job::{jobs, Job, Shard};
pub use parallel::{sweep, sweep_sampled};
