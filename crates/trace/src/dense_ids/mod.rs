//! Dense ids for objects of any number: for all objects, or for a sample that fits a memory budget.
mod extent;
mod renumber;
mod sampler;
mod smallest;

pub use extent::Extent;
pub use renumber::Renumber;
pub(crate) use sampler::Sampler;
pub use sampler::{Budget, Sample};
