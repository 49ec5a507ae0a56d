//! Test beds, on which guest kernels run.
mod guest;
mod guest_dir;
mod interface;
mod qemu;
mod qemu_arguments;
mod uml;

pub use guest::Guest;
#[cfg(test)]
pub use guest::Lines;
pub use guest_dir::keep;
pub use interface::{Bed, Boot, Image, Kind, Root};
pub use qemu::{Qemu, ACCEL_VARIABLE, VARIABLE as QEMU_VARIABLE};
pub use qemu_arguments::Accel;
pub use uml::{Mode, Uml};

use anyhow::Result;

/// Prepares the host for `jobs` guests of at most `memory_mb` MiB each at once. With `icount`, which
/// QEMU alone has, the guest's clock counts instructions. [`crate::guest::probe::probe`] finds out
/// whether guests really boot.
///
/// # Errors
/// When the host lacks a program or a resource that the bed needs; the message names the remedy.
pub fn open(kind: Kind, memory_mb: u64, jobs: u32, icount: bool) -> Result<Box<dyn Bed>> {
    Ok(match kind {
        Kind::Uml => Box::new(Uml::new(Mode::Seccomp, memory_mb, jobs)?),
        Kind::Qemu => Box::new(Qemu::new(icount)?),
    })
}
