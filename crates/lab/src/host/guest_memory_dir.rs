//! The folder of the host in which guests keep their memory: one in RAM, with enough room.
use anyhow::{bail, Result};
use rustix::fs::{statfs, statvfs, StatVfsMountFlags};
use std::path::{Path, PathBuf};

/// The environment variable that names the folder.
pub const VARIABLE: &str = "HOTSET_RAM_DIR";
const TMPFS: i64 = 0x0102_1994;

/// A folder, and its fitness for guests' memory.
struct Candidate {
    path: PathBuf,
    ram: bool,
    /// User-Mode Linux executes from it.
    exec: bool,
    free: u64,
}

fn inspect(path: PathBuf) -> Option<Candidate> {
    let (kind, room) = (statfs(&path).ok()?, statvfs(&path).ok()?);
    rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).ok()?;
    Some(Candidate {
        path,
        ram: kind.f_type == TMPFS,
        exec: !room.f_flag.contains(StatVfsMountFlags::NOEXEC),
        free: room.f_bavail * room.f_frsize,
    })
}

/// A writable folder with `bytes` of room from which programs may run, in RAM if there is one.
///
/// # Errors
/// When there is none; the message lists the candidates and the space in each.
pub fn choose(bytes: u64) -> Result<PathBuf> {
    if let Some(given) = std::env::var_os(VARIABLE) {
        return Ok(given.into());
    }
    let user = rustix::process::getuid().as_raw();
    let places = ["/dev/shm", &format!("/run/user/{user}"), "/tmp", "/var/tmp"];
    let mut candidates: Vec<Candidate> = places
        .iter()
        .filter_map(|place| inspect(Path::new(place).into()))
        .collect();
    // A stable sort: equal candidates stay in order.
    candidates.sort_by_key(|candidate| !candidate.ram);
    let fits = |candidate: &&Candidate| candidate.exec && candidate.free >= bytes;
    if let Some(found) = candidates.iter().find(fits) {
        if !found.ram {
            eprintln!(
                "hotset: guests keep their memory in {}, which is not in RAM: they will be slow; \
                 {VARIABLE} names a better folder",
                found.path.display()
            );
        }
        return Ok(found.path.clone());
    }
    let listed: Vec<String> = candidates
        .iter()
        .map(|candidate| {
            let free = candidate.free >> 20;
            let exec = if candidate.exec {
                ""
            } else {
                ", mounted noexec"
            };
            format!("{}: {free} MB free{exec}", candidate.path.display())
        })
        .collect();
    bail!(
        "guests need {} MB for their memory in a folder from which programs may run ({}): make room \
         (mount -o remount,size=...), run fewer at once (--jobs), or name another folder in {VARIABLE}",
        bytes >> 20,
        listed.join("; ")
    )
}
