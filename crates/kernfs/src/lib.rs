//! What the kernel says of its memory.
//!
//! * [`Root`]: every path lies below an injectable root directory.
//! * [`Sampler`] fills one [`Sample`] from descriptors that are held open, and allocates nothing
//!   for a sample once it knows the shape of the kernel's files.
//! * One module a file of the kernel: [`vmstat`], [`zoneinfo`], [`buddyinfo`], [`meminfo`], [`psi`],
//!   [`node`], [`cgroup`], [`lru_gen`], [`dentry`], [`knobs`]. Each parses bytes into a struct that is
//!   used again and again; what it does not know by name it keeps apart ([`Fields::unknown`]).
//! * [`samples`]: the file that `hotset record` writes and `hotset replay` reads.
//!
//! A file that vanishes, is cut short, holds garbage or may not be read is an [`Error`] that names
//! it; the other files go on, and it is tried again.
//!
//! Nothing in this crate writes to the kernel.
pub mod buddyinfo;
pub mod cgroup;
mod cgroups;
pub mod dentry;
pub mod error;
pub mod fields;
pub mod held;
pub mod knobs;
pub mod lru_gen;
pub mod meminfo;
pub mod node;
mod nodes;
pub mod psi;
mod reading;
pub mod reused;
pub mod root;
pub mod sample;
pub mod sampler;
pub mod samples;
mod sources;
pub mod text;
pub mod vmstat;
pub mod zoneinfo;

pub use error::{Error, ErrorKind};
pub use fields::Fields;
pub use root::Root;
pub use sample::Sample;
pub use sampler::{News, Options, Sampler, Sources};
