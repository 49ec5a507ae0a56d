//! Files of the kernel's memory management in, one [`Sample`] out.
//!
//! * [`Root`]: every path lies below an injectable root directory.
//! * [`Sampler`] fills one [`Sample`] from descriptors that are held open, and allocates nothing
//!   for a sample once it knows the shape of the kernel's files.
//! * One module a file of the kernel: [`vmstat`], [`zoneinfo`], [`buddyinfo`], [`meminfo`], [`psi`],
//!   [`node`], [`cgroup`], [`lru_gen`], [`dentry`], [`knobs`]. Each parses bytes into a struct that is
//!   used again and again. Unknown fields are kept apart ([`Fields::unknown`]).
//! * [`samples`]: the file that `hotset record` writes and `hotset replay` reads.
//!
//! A file that vanishes, is cut short, holds garbage or may not be read is an [`Error`] that names the
//! file. The other files go on, and the file is tried again.
//!
//! Nothing in this crate writes to the kernel.
mod error;
mod files;
mod parse;
mod read;
mod root;
pub mod samples;
mod sampling;

pub use error::{Error, ErrorKind};
pub use files::{buddyinfo, cgroup, dentry, knobs, lru_gen, meminfo, node, psi, vmstat, zoneinfo};
pub use parse::fields::Fields;
pub use parse::{fields, reused, text};
pub use read::held;
pub use root::Root;
pub use sampling::sample::Sample;
pub use sampling::sampler::{News, Options, Sampler, Sources};
pub use sampling::{sample, sampler};
pub use watermarks::Watermarks;
