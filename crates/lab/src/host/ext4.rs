//! Empty ext4 images, made with the host's mke2fs.
use super::disk_full::explained;
use anyhow::{bail, Context, Result};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// Inodes of a data disk, which has a few large files.
const DATA_INODES: &str = "256";
/// Inodes of a scratch disk, which has trees of small files.
const SCRATCH_INODES: &str = "16384";

/// Makes an empty disk of `mb` MiB at `path` for one trial. The file is sparse: it takes up no more
/// of the host's disk than the guest writes to it.
///
/// # Errors
/// When the file cannot be made, or `mke2fs` is missing.
pub fn create_scratch(path: &Path, mb: u64) -> Result<()> {
    let making = || format!("making the scratch disk {}", path.display());
    let file = File::create(path).map_err(explained).with_context(making)?;
    file.set_len(mb << 20)
        .map_err(explained)
        .with_context(making)?;
    format(path, SCRATCH_INODES)
}

/// Copies a file at the top of a disk that nobody has mounted. A file that is not there is not copied.
///
/// # Errors
/// When `debugfs` is missing, or the copy cannot be made.
pub fn copy_out(disk: &Path, name: &str, to: &Path) -> Result<()> {
    let request = format!("dump /{name} {}", to.display());
    let output = Command::new(program("debugfs"))
        .args(["-R", &request])
        .arg(disk)
        .stdin(Stdio::null())
        .output()
        .context("running debugfs (Debian package e2fsprogs)")?;
    let message = String::from_utf8_lossy(&output.stderr);
    // debugfs succeeds in any case, and begins with its version.
    match to.exists() || message.contains("File not found") {
        true => Ok(()),
        false => bail!("{name} on {}: {}", disk.display(), message.trim()),
    }
}

/// The path of a program that Debian keeps out of a user's PATH.
fn program(name: &str) -> String {
    let places = ["/usr/sbin", "/sbin"].map(|folder| format!("{folder}/{name}"));
    let found = places.into_iter().find(|place| Path::new(place).is_file());
    found.unwrap_or_else(|| name.to_owned())
}

/// Puts an empty ext4 into a file that becomes a data disk.
///
/// # Errors
/// When `mke2fs` is missing or fails.
pub fn format_data(path: &Path) -> Result<()> {
    format(path, DATA_INODES)
}

/// Formats without a journal: a data disk is mounted read-only, and a scratch disk lives for one
/// trial.
fn format(path: &Path, inodes: &str) -> Result<()> {
    let output = Command::new(program("mke2fs"))
        .args([
            "-q", "-F", "-t", "ext4", "-b", "4096", "-m", "0", "-N", inodes,
        ])
        .args(["-O", "^has_journal,^resize_inode", "-E"])
        .arg("nodiscard,lazy_itable_init=0")
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .context("running mke2fs (Debian package e2fsprogs)")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("mke2fs on {}: {}", path.display(), message.trim());
    }
    Ok(())
}
