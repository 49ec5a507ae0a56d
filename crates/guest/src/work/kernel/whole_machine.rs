//! Requests to the whole machine for memory: hibernation, CMA, memory blocks that go offline.
use crate::kernel_files::write;
use anyhow::{bail, Context, Result};
use std::path::{Path, PathBuf};

/// Hibernates up to the test of the freezer, which comes after the allocation of the image
/// (kernel/power/hibernate.c), and wakes up again after some 5 s. Returns 1, or 0 if there was no memory
/// for the image.
pub fn hibernation() -> Result<f64> {
    write("/sys/power/image_size", "0")?;
    write("/sys/power/pm_test", "freezer")?;
    match std::fs::write("/sys/power/state", "disk") {
        Ok(()) => Ok(1.0),
        Err(error) if refused(&error) => Ok(0.0),
        Err(error) => bail!("/sys/power/state: {error}"),
    }
}

/// Allocates each CMA area whole. Returns the share of all areas that was given.
pub fn cma() -> Result<f64> {
    let (mut given, mut asked) = (0, 0);
    for area in entries("/sys/kernel/debug/cma", "")? {
        let pages: u64 = number(&area.join("count"))?;
        asked += pages;
        match std::fs::write(area.join("alloc"), pages.to_string()) {
            Ok(()) => {
                given += pages;
                let free = area.join("free");
                write(&free.to_string_lossy(), &pages.to_string())?;
            }
            Err(error) if refused(&error) => {}
            Err(error) => bail!("{}/alloc: {error}", area.display()),
        }
    }
    share(
        given,
        asked,
        "no CMA area: cma= is missing on the command line",
    )
}

/// Takes each movable memory block offline, and then all of them online again. Returns the share
/// that went offline.
pub fn offline() -> Result<f64> {
    let (mut gone, mut refusals) = (Vec::new(), 0);
    for block in entries("/sys/devices/system/memory", "memory")? {
        // The file lists the block's possible zones. The first one is its zone.
        let zones = std::fs::read_to_string(block.join("valid_zones")).unwrap_or_default();
        if !zones.starts_with("Movable") {
            continue;
        }
        let state = block.join("state");
        match std::fs::write(&state, "offline") {
            Ok(()) => gone.push(state),
            Err(error) if refused(&error) => refusals += 1,
            // A block with holes, such as the last one, cannot go offline.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            Err(error) => bail!("{}: {error}", state.display()),
        }
    }
    for state in &gone {
        write(&state.to_string_lossy(), "online_movable")?;
    }
    let none = "no whole memory block is movable: movablecore= on the command line is missing or too small";
    share(gone.len() as u64, gone.len() as u64 + refusals, none)
}

fn refused(error: &std::io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EBUSY | libc::ENOMEM | libc::EAGAIN)
    )
}

fn share(given: u64, asked: u64, none: &str) -> Result<f64> {
    if asked == 0 {
        bail!("{none}");
    }
    Ok(given as f64 / asked as f64)
}

/// The folders below a folder whose names are `prefix` and a number; all of them if `prefix` is
/// empty.
fn entries(dir: &str, prefix: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("{dir}: the kernel has none"))? {
        let entry = entry.with_context(|| dir.to_string())?;
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let numbered = rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if entry.path().is_dir() && (prefix.is_empty() || numbered) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn number(path: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let text = text.trim();
    text.parse()
        .with_context(|| format!("{}: {text:?}", path.display()))
}
