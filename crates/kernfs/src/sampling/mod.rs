//! All files of one moment, read into one sample.
mod cgroup_sources;
mod node_sources;
pub mod sample;
pub mod sampler;
mod sources;
