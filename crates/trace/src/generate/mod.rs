//! Generates traces by a rule and a seed.
//!
//! The same [`Spec`], number of requests and seed make the same requests on every machine, except for
//! the last bit of `pow`, `exp` and `log`. Zipf and mix draw as `numpy.random.Generator(PCG64(seed))` does:
//! `rng.permutation(objects)`, then a search of `rng.random(requests)` in the cumulative sums.
mod distribution;
mod mix;
mod patterns;
mod requests;
mod rule;
mod spec;
mod text;

pub use distribution::Discrete;
pub use spec::{Part, Spec};
pub use text::objects;
