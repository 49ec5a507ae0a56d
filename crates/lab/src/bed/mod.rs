//! Test beds: what a guest kernel runs on.
mod process;
mod uml;

pub use process::Guest;
pub use uml::{Mode, Uml};

use anyhow::Result;
use std::path::Path;

/// What is booted.
pub struct Boot<'a> {
    pub kernel: &'a Path,
    pub initramfs: &'a [u8],
    pub disk: Option<Image<'a>>,
    pub memory_mb: u64,
    pub cpus: u32,
}

/// The data disk's image.
pub struct Image<'a> {
    pub path: &'a Path,
    /// Read-only images are shared by guests that run at once.
    pub writable: bool,
}

/// Boots guests. A guest speaks through two lines: its channel, on which `hotset-guest` says what it
/// measures ([`raw::wire`]), and the kernel's console.
pub trait Bed: Send + Sync {
    /// For reports: "User-Mode Linux".
    fn name(&self) -> String;

    /// The data disk's name inside a guest.
    fn device(&self) -> &'static str;

    /// Starts a guest. The calling thread must outlive it: a guest dies with the thread that
    /// started it, so that nothing is left when hotset is killed.
    fn start(&self, boot: &Boot<'_>) -> Result<Guest>;
}
