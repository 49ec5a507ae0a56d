//! Policies for objects of different sizes: the cache has room for bytes, and bytes that miss are counted.
//!
//! They are separate from the policies for objects of one size, which stay as fast as they are. An object has the
//! size of the request that brought it into the cache, and at least one byte. One that is larger than the
//! cache, or than a policy takes, misses and is not admitted.
mod build;
mod lhd;
mod list;
mod requests;
mod rows;
mod s4_fifo;

pub use build::{build, POLICIES};
pub use requests::{run, SizedCounts, SizedInput, SizedPolicy};
pub use rows::{sweep, SizedRow};
