//! Patches over a kernel tree.
mod overlay;
mod patch;
pub mod series;

pub use overlay::Overlay;
pub use patch::Patch;
