//! The interface of all beds.
use super::guest::Guest;
use anyhow::Result;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The kinds of beds.
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
    /// The architecture of the kernels that the bed boots, as `make ARCH=` takes it.
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

/// A guest to boot: its kernel, its disks and its size.
pub struct Boot<'a> {
    pub kernel: &'a Path,
    pub initramfs: &'a [u8],
    pub disk: Option<Image<'a>>,
    pub memory_mb: u64,
    pub cpus: u32,
    /// Emulated CPUs run in turn, on one thread of the host. On several threads a kernel that patches its code often, as
    /// when lru_gen is switched again and again, panics on QEMU 7.2 ("Oops: int3"), Debian's own too.
    pub in_turn: bool,
    /// Sizes of the memory nodes in MiB, which sum to `memory_mb`; none for a machine without nodes.
    pub nodes_mb: &'a [u64],
    /// The size in MiB of an empty ext4 that the guest may write to; 0 for none. It is removed with the
    /// guest.
    pub scratch_mb: u64,
    /// Files at the top of that disk, and where they are copied to when the guest has ended.
    pub keep: &'a [(String, PathBuf)],
    /// The root of workers that are programs.
    pub root: Option<Root<'a>>,
    /// Further parameters of the kernel's command line.
    pub command_line: &'a [String],
}

/// The data disk's image.
pub struct Image<'a> {
    pub path: &'a Path,
    /// Read-only images are shared by guests that run at once.
    pub writable: bool,
}

/// An image that a guest may write to, and that nevertheless stays as it is.
pub struct Root<'a> {
    pub path: &'a Path,
    /// Bytes that a guest may write at most.
    pub free_mb: u64,
}

/// Boots guests. A guest has two lines to the lab: the channel, on which `hotset-guest` sends its
/// measurements ([`protocol::wire`]), and the kernel's console.
pub trait Bed: Send + Sync {
    /// The bed's name in reports, "User-Mode Linux" for instance.
    fn name(&self) -> String;

    /// The data disk's device inside a guest.
    fn device(&self) -> &'static str;

    /// The data disk's device inside a guest that fills the image. This guest always has a real device.
    fn device_to_fill(&self) -> &'static str {
        self.device()
    }

    /// The scratch disk's device inside a guest. `data`: whether the guest has a data disk too.
    fn scratch_device(&self, data: bool) -> &'static str;

    /// The root's device inside a guest. `disks`: the number of the guest's other disks.
    fn root_device(&self, disks: usize) -> &'static str;

    /// The factor on every time limit: how many times slower than the host a guest may be.
    fn slowness(&self) -> u32;

    /// How long a guest without work may take from start to end.
    fn boot_patience(&self) -> Duration {
        // Half a second is usual; a host may be busy.
        Duration::from_secs(60) * self.slowness()
    }

    /// The memory of a guest without work, in MiB; enough for every kernel.
    fn boot_memory_mb(&self) -> u64 {
        64
    }

    /// Changes to a slower way of running guests with `cpus` CPUs, after the present one failed.
    /// False when no other way is left.
    fn fall_back(&mut self, cpus: u32) -> bool;

    /// Whether MGLRU can age pages by walking page tables.
    fn walks_page_tables(&self) -> bool;

    /// Whether a guest with `cpus` CPUs runs best when it is pinned to one CPU of the host.
    fn likes_one_cpu(&self, cpus: u32) -> bool;

    /// Whether the bed itself caused the panic of a guest with `cpus` CPUs at its boot, judged by the
    /// last lines of its console. Such a guest may be booted again.
    fn caused_panic(&self, _cpus: u32, _tail: &[String]) -> bool {
        false
    }

    /// Starts a guest. The calling thread must outlive it: a guest dies with the thread that
    /// started it, so that nothing is left when hotset is killed.
    fn start(&self, boot: &Boot<'_>) -> Result<Guest>;
}
