//! Traces made by rule and seed.
//!
//! The same [`Spec`], number of requests and seed make the same requests on every machine, but for the
//! last bit of `pow`, `exp` and `log`. Zipf and mix draw as `numpy.random.Generator(PCG64(seed))` does:
//! `rng.permutation(objects)`, then a search of `rng.random(requests)` in the cumulative sums.
mod distribution;
mod mix;
mod patterns;
mod pcg;
mod rule;
mod spec;

pub use distribution::Discrete;
pub use mix::Part;
pub use pcg::Pcg64;
pub use spec::Spec;
