//! The root of workers that are programs: a whole Debian on a disk of its own.
use anyhow::{Context, Result};
use rustix::mount::{mount, mount_bind, MountFlags};
use std::path::Path;

use crate::paths::{DATA, ROOT, SCRATCH};

/// Mounts the root, and in it the kernel's file systems and the experiment's disks.
///
/// # Errors
/// When one cannot be mounted, naming it.
pub fn mount_root(root: &protocol::spec::Root) -> Result<()> {
    let _ = std::fs::create_dir_all(ROOT);
    let device = root.device.as_str();
    mount(device, ROOT, "ext4", MountFlags::NOATIME, None)
        .with_context(|| format!("mounting {device} at {ROOT}"))?;
    for (kind, at) in [
        ("proc", "proc"),
        ("sysfs", "sys"),
        ("devtmpfs", "dev"),
        ("devpts", "dev/pts"),
        ("tmpfs", "dev/shm"),
    ] {
        let at = format!("{ROOT}/{at}");
        let _ = std::fs::create_dir_all(&at);
        mount(kind, &at, kind, MountFlags::empty(), None)
            .with_context(|| format!("mounting {kind} at {at}"))?;
    }
    for (name, to) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        // Some kernels make these links themselves.
        let _ = std::os::unix::fs::symlink(to, format!("{ROOT}/dev/{name}"));
    }
    for disk in [DATA, SCRATCH] {
        if Path::new(disk).is_dir() {
            let at = format!("{ROOT}{disk}");
            let _ = std::fs::create_dir_all(&at);
            mount_bind(disk, &at).with_context(|| format!("mounting {disk} at {at}"))?;
        }
    }
    Ok(())
}
