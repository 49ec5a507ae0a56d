//! Kernel source in, bootable kernel out.
//!
//! * [`fetch`]: kernel trees from Debian's archive, with its signatures checked, or from a directory;
//!   and Debian's own kernel packages.
//! * [`patches`]: the patches of `kernel/series`, and a tree's files under them.
//! * [`build`]: from a request to one bootable image per (source, fragment, patches, compiler).
//! * [`check`]: whether each patch of a series applies, builds, boots and passes checkpatch.
//! * [`cache`]: the directory that keeps trees, objects and images; [`clean`] clears it.
//! * [`layout`], [`version`], [`flavour`]: the kernel directory, kernel versions, and sets of patches.
//!
//! Long work reports to a [`progress::Progress`] callback.
pub mod build;
pub mod cache;
pub mod check;
pub mod clean;
pub mod fetch;
pub mod flavour;
pub mod layout;
pub mod patches;
pub mod process;
pub mod version;

pub use build::request::Request;
pub use build::{ensure, Built};
pub use fetch::source::Origin;
pub use flavour::Flavour;
pub use version::{Line, Version};
