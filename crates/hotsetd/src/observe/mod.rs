//! The policy's input: the machine, and samples of it.
pub mod fast_sampler;
pub mod machine;
pub mod observation;
