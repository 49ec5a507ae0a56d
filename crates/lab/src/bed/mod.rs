//! Test beds: what a guest kernel runs on.
mod process;
mod qemu;
mod uml;

pub use process::Guest;
#[cfg(test)]
pub use process::Lines;
pub use qemu::{Accel, Qemu};
pub use uml::{Mode, Uml};

use crate::results::explained;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Which bed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// User-Mode Linux: a process, no root, no hypervisor.
    #[default]
    Uml,
    /// QEMU, x86-64.
    Qemu,
}

impl Kind {
    /// Of the kernels that it boots, as for `make ARCH=`.
    pub fn arch(self) -> &'static str {
        match self {
            Kind::Uml => "um",
            Kind::Qemu => "x86_64",
        }
    }

    /// The bed for kernels of an architecture.
    pub fn of_arch(arch: &str) -> Option<Kind> {
        [Kind::Uml, Kind::Qemu]
            .into_iter()
            .find(|kind| kind.arch() == arch)
    }
}

/// Readies the host for `jobs` guests of at most `memory_mb` at once. `icount`: the guest's clock
/// counts its instructions; QEMU alone has that. Whether guests really boot is for
/// [`crate::probe::probe`] to find out.
///
/// # Errors
/// When the host lacks what the bed needs; the message says what to do.
pub fn open(kind: Kind, memory_mb: u64, jobs: u32, icount: bool) -> Result<Box<dyn Bed>> {
    Ok(match kind {
        Kind::Uml => Box::new(Uml::new(Mode::Seccomp, memory_mb, jobs)?),
        Kind::Qemu => Box::new(Qemu::new(icount)?),
    })
}

/// What is booted.
pub struct Boot<'a> {
    pub kernel: &'a Path,
    pub initramfs: &'a [u8],
    pub disk: Option<Image<'a>>,
    pub memory_mb: u64,
    pub cpus: u32,
    /// Sizes of the memory nodes in MiB, which sum to `memory_mb`; none for a machine without nodes.
    pub nodes_mb: &'a [u64],
    /// Size in MiB of an empty ext4 that the guest may write to and that goes with it; 0 for none.
    pub scratch_mb: u64,
    /// Further words for the kernel's command line.
    pub command_line: &'a [String],
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

    /// The same for a guest that fills an image, which is a device whatever else runs on.
    fn device_to_fill(&self) -> &'static str {
        self.device()
    }

    /// The scratch disk's name inside a guest that has a data disk, or has none.
    fn scratch_device(&self, data: bool) -> &'static str;

    /// By how much patience with a guest is to be multiplied: how much longer than on the machine
    /// itself anything may take.
    fn slowness(&self) -> u32;

    /// How long a guest without work may take from start to end.
    fn boot_patience(&self) -> Duration {
        // Half a second is usual; a host may be busy.
        Duration::from_secs(60) * self.slowness()
    }

    /// MiB for a guest without work, of whatever kernel.
    fn boot_memory_mb(&self) -> u64 {
        64
    }

    /// Goes over to a slower way of running guests with `cpus` CPUs, after the present one did not
    /// work. False when there is no other.
    fn fall_back(&mut self, cpus: u32) -> bool;

    /// Whether MGLRU can age pages by walking page tables.
    fn walks_page_tables(&self) -> bool;

    /// Whether a guest with `cpus` CPUs is best kept to one of the host's.
    fn likes_one_cpu(&self, cpus: u32) -> bool;

    /// Whether a guest with `cpus` CPUs that panicked while it booted was let down by the bed, by the
    /// last lines of its console: it may be started again.
    fn stumbled(&self, _cpus: u32, _tail: &[String]) -> bool {
        false
    }

    /// Starts a guest. The calling thread must outlive it: a guest dies with the thread that
    /// started it, so that nothing is left when hotset is killed.
    fn start(&self, boot: &Boot<'_>) -> Result<Guest>;
}

/// The scratch disk's file in the guest's folder.
const SCRATCH: &str = "scratch";

/// A folder of the guest's own with its first root in it. With a scratch disk it is in memory: what
/// the guest writes would otherwise wait for the host's disk whenever the guest flushes its own.
fn guest_dir(boot: &Boot<'_>) -> Result<TempDir> {
    let place = match boot.scratch_mb {
        0 => std::env::temp_dir(),
        mb => crate::ramdir::choose(mb << 20)?,
    };
    let dir = tempfile::Builder::new()
        .prefix("hotset-guest-")
        .tempdir_in(&place)
        .map_err(explained)
        .context("making a folder for the guest")?;
    std::fs::write(dir.path().join("initramfs"), boot.initramfs)
        .map_err(explained)
        .with_context(|| format!("writing the guest's first root to {}", dir.path().display()))?;
    Ok(dir)
}

/// Makes the scratch disk in the guest's own folder, with which it goes.
fn scratch(dir: &Path, boot: &Boot<'_>) -> Result<bool> {
    if boot.scratch_mb > 0 {
        crate::disk::scratch(&dir.join(SCRATCH), boot.scratch_mb)?;
    }
    Ok(boot.scratch_mb > 0)
}

/// A link in the guest's own folder: paths with commas or colons would be misread on the command
/// lines of beds.
fn link(dir: &Path, name: &str, to: &Path) -> Result<()> {
    let to = std::path::absolute(to).with_context(|| format!("finding {}", to.display()))?;
    std::os::unix::fs::symlink(&to, dir.join(name))
        .with_context(|| format!("linking to {}", to.display()))
}
