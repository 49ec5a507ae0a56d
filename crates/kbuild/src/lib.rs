//! Kernel source in, bootable kernel out.
//!
//! * [`source`]: gets a kernel tree, from Debian's archive with its signatures checked or from a
//!   directory of the caller's.
//! * [`series`]: the patches of `kernel/series`, and what a tree looks like under them.
//! * [`config`]: the configuration fragments of `kernel/config`.
//! * [`build`]: one bootable image per (source, fragment, patches, compiler), cached.
//! * [`debian`]: Debian's own kernel packages, as they are.
//! * [`check`]: each patch of a series alone: applies, builds, boots, passes checkpatch.
//!
//! Long work tells what it is doing through a [`progress::Step`] callback;
//! [`progress::Console`] renders these on a terminal or as plain lines.
pub mod apt;
pub mod build;
pub mod cache;
pub mod check;
pub mod checkpatch;
pub mod clean;
pub mod config;
pub mod debian;
pub mod files;
pub mod flavour;
mod make;
pub mod mirrors;
pub mod proc;
pub mod progress;
pub mod request;
pub mod rooms;
pub mod series;
pub mod source;
pub mod unpack;
pub mod version;
pub mod warnings;
pub mod workshop;

pub use build::{ensure, Built};
pub use flavour::Flavour;
pub use progress::{Console, Step};
pub use request::Request;
pub use source::Origin;
pub use version::{Line, Version};
