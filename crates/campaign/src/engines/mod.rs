//! What runs tasks: this machine, or a cluster's own scheduler.
mod array;
mod batch;
mod hyperqueue;
mod kubernetes;
mod local;
mod manifest;
mod parallel;
mod slurm;

pub use batch::{prefix, Batch, Engine};
pub use hyperqueue::HyperQueue;
pub use kubernetes::Kubernetes;
pub use local::Local;
pub use manifest::{Pod, Volume};
pub use parallel::Parallel;
pub use slurm::Slurm;
