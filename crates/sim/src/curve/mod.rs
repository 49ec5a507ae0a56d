//! Miss-ratio curves: exact for LRU at all sizes in one pass, and estimated from a sample.
pub mod distances;
mod exact;
pub mod shards;

pub use exact::Curve;
