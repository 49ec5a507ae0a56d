//! Policies that order objects by the time at which they came or were last accessed.
pub mod clock;
pub mod fifo;
pub mod lru;
pub mod mru;
pub mod sieve;
