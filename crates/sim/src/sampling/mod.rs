//! Estimates from a sample of a trace's objects, and the interval that holds the exact value.
//!
//! A hash of its name puts an object into the sample with probability `p`, and all of its requests come
//! with it. A cache of `p` times the size is simulated on them (C. Waldspurger et al., Efficient MRC
//! Construction with SHARDS, FAST 2015; Cache Modeling and Optimization using Miniature Simulations,
//! USENIX ATC 2017). [`Sizes`] are the caches to simulate, [`Tally`] counts what each object did in
//! them, and [`Estimate`] follows from these counts.
mod estimate;
mod not_available;
mod sizes;
mod student;
mod tally;

pub use estimate::{Estimate, Whole};
pub use not_available::{NotAvailable, LEAST_DECISIVE, LEAST_IN_CACHE};
pub use sizes::Sizes;
pub use tally::Tally;
