//! The folder of one guest on the host: its first root, its scratch disk and links to its images.
use super::interface::Boot;
use crate::host::disk_full::explained;
use crate::host::{ext4, guest_memory_dir};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The scratch disk's file in the guest's folder.
pub const SCRATCH: &str = "scratch";
/// The link to the root's image in the guest's folder.
pub const ROOT: &str = "root";

/// Makes a guest's folder with the first root in it. A guest that writes to a disk has its folder in
/// memory. Otherwise each flush of the guest's disk would wait for the host's disk.
pub fn create(boot: &Boot<'_>) -> Result<TempDir> {
    let root_mb = boot.root.as_ref().map_or(0, |root| root.free_mb);
    let place = match boot.scratch_mb + root_mb {
        0 => std::env::temp_dir(),
        mb => guest_memory_dir::choose(mb << 20)?,
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

/// Makes the scratch disk in the guest's folder, if the guest has one. Returns whether it has one.
pub fn add_scratch(dir: &Path, boot: &Boot<'_>) -> Result<bool> {
    if boot.scratch_mb > 0 {
        ext4::create_scratch(&dir.join(SCRATCH), boot.scratch_mb)?;
    }
    Ok(boot.scratch_mb > 0)
}

/// Copies files of a guest's scratch disk to where they are kept. The guest has ended.
///
/// # Errors
/// `debugfs` is missing or fails, or a copy cannot be written.
pub fn keep(dir: &Path, files: &[(String, PathBuf)]) -> Result<()> {
    let disk = dir.join(SCRATCH);
    files
        .iter()
        .try_for_each(|(name, to)| ext4::copy_out(&disk, name, to))
}

/// Makes a link in the guest's folder. A path with a comma or a colon would be misread on the command
/// line of a bed.
pub fn link(dir: &Path, name: &str, to: &Path) -> Result<()> {
    let to = std::path::absolute(to).with_context(|| format!("finding {}", to.display()))?;
    std::os::unix::fs::symlink(&to, dir.join(name))
        .with_context(|| format!("linking to {}", to.display()))
}
