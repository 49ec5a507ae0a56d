//! Checks a series patch by patch: each must apply, build without new warnings, boot, and pass
//! checkpatch. It is checked on top of the patches before it, without those behind it.
mod checker;
mod checkpatch;
mod only;
mod verdict;
mod warnings;

pub use checker::{check, Boot, BootInfo, Plan};
pub use only::Only;
pub use verdict::{PatchReport, Report, Verdict, TESTS, WITH_THE_LAST};
