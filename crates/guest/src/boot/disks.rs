//! Disks and swap.
use anyhow::{bail, Context, Result};
use protocol::spec::{Disk, Scratch};
use rustix::mount::{mount, MountFlags};
use std::path::Path;

use crate::kernel_files::write;
use crate::paths::{DATA, SCRATCH};

/// Makes /dev/zram0 a swap device of `mb` MiB; 0 for none.
///
/// # Errors
/// When the kernel refuses.
pub fn zram_swap(mb: u64) -> Result<()> {
    if mb == 0 {
        return Ok(());
    }
    write("/sys/block/zram0/disksize", &format!("{mb}M"))?;
    std::fs::write("/dev/zram0", swap_header(mb))
        .context("writing the swap header to /dev/zram0")?;
    swap_on("/dev/zram0")
}

/// The header that mkswap(8) writes: the kernel's union swap_header with version 1, the last page,
/// and no bad pages.
fn swap_header(mb: u64) -> Vec<u8> {
    let mut header = vec![0u8; 4096];
    header[1024..1028].copy_from_slice(&1u32.to_le_bytes());
    header[1028..1032].copy_from_slice(&((mb * 256) as u32 - 1).to_le_bytes());
    header[4086..].copy_from_slice(b"SWAPSPACE2");
    header
}

/// Adds swap. The kernel fills an earlier swap first.
fn swap_on(path: &str) -> Result<()> {
    let name = std::ffi::CString::new(path)?;
    // SAFETY: swapon(2) takes a NUL-terminated path, which lives through the call.
    if unsafe { libc::swapon(name.as_ptr(), 0) } != 0 {
        bail!("swapon {path}: {}", std::io::Error::last_os_error());
    }
    Ok(())
}

/// The disk's contents, where the lab hands them over in the initramfs: the disk is then in RAM.
const IMAGE: &str = "/hotset/disk.img";

/// Moves the disk's contents from the first root, a tmpfs, to a RAM disk. The contents move in
/// parts, since memory need not hold both copies.
fn fill(device: &str) -> Result<()> {
    use rustix::fs::{fadvise, fallocate, Advice, FallocateFlags};
    use std::io::{Read, Write};
    const PART: usize = 4 << 20;
    let context = || format!("moving {IMAGE} to {device}");
    let open = |path: &str, write| {
        let file = std::fs::File::options().read(true).write(write).open(path);
        file.with_context(|| format!("opening {path}"))
    };
    let (mut from, mut to) = (open(IMAGE, true)?, open(device, true)?);
    let mut part = vec![0; PART];
    let mut at = 0;
    loop {
        let n = from.read(&mut part).with_context(context)?;
        if n == 0 {
            break;
        }
        to.write_all(&part[..n]).with_context(context)?;
        to.sync_data().with_context(context)?;
        // Frees the part in the first root and in the page cache of the device.
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&from, hole, at, n as u64).with_context(context)?;
        fadvise(
            &to,
            at,
            std::num::NonZeroU64::new(n as u64),
            Advice::DontNeed,
        )
        .with_context(context)?;
        at += n as u64;
    }
    drop(from);
    std::fs::remove_file(IMAGE).with_context(context)
}

/// Mounts the disk with the experiment's files.
///
/// # Errors
/// When it cannot be filled or mounted.
pub fn mount_data(disk: &Disk, read_only: bool) -> Result<()> {
    if Path::new(IMAGE).exists() {
        fill(&disk.device)?;
    }
    let mut flags = MountFlags::NOATIME;
    if read_only {
        flags |= MountFlags::RDONLY;
    }
    let _ = std::fs::create_dir_all(DATA);
    mount(disk.device.as_str(), DATA, "ext4", flags, None)
        .with_context(|| format!("mounting {} at {DATA}", disk.device))
}

/// Mounts the disk that workers may write to, and makes its swap file.
///
/// # Errors
/// When it cannot be mounted, or the swap file cannot be made.
pub fn mount_scratch(scratch: &Scratch) -> Result<()> {
    let _ = std::fs::create_dir_all(SCRATCH);
    let device = scratch.device.as_str();
    mount(device, SCRATCH, "ext4", MountFlags::NOATIME, None)
        .with_context(|| format!("mounting {device} at {SCRATCH}"))?;
    match scratch.swap_mb {
        0 => Ok(()),
        mb => swap_file(&format!("{SCRATCH}/swap"), mb),
    }
}

/// Makes a swap file of `mb` MiB. The kernel fills zram before it.
fn swap_file(path: &str, mb: u64) -> Result<()> {
    use rustix::fs::{fallocate, FallocateFlags};
    let context = || format!("making the swap file {path}");
    let file = std::fs::File::create_new(path).with_context(context)?;
    fallocate(&file, FallocateFlags::empty(), 0, mb << 20).with_context(context)?;
    std::os::unix::fs::FileExt::write_all_at(&file, &swap_header(mb), 0).with_context(context)?;
    file.sync_all().with_context(context)?;
    swap_on(path)
}
