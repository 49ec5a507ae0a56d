//! Hashes and random numbers: the same seed draws the same numbers on every machine and in every
//! version.
mod fnv;
mod pcg;
mod splitmix;

pub use fnv::fnv1a;
pub use pcg::Pcg64;
pub use splitmix::{mix, SplitMix64};
