//! The policies by family, each in its own file.
pub mod adaptive;
pub mod frequency;
pub mod linux;
pub mod multi_queue;
pub mod opt;
pub mod random;
pub mod recency;
pub mod reuse_distance;
