//! One run in a folder at a time.
use crate::refused;
use anyhow::{anyhow, Result};
use names::{io_error, shown};
use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// The file that a run has locked.
pub const NAME: &str = "lock";

/// Locks a folder until the file is closed.
///
/// # Errors
/// Another run has it, or the file cannot be made.
pub fn take(folder: &Path) -> Result<File> {
    let path = folder.join(NAME);
    let wrong = |error: io::Error| anyhow!("{}: cannot lock: {}", shown(&path), io_error(&error));
    let options = File::options().create(true).append(true).open(&path);
    let file = options.map_err(wrong)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(refused!(
            "{}: another run works in this folder; wait for it, or end it",
            shown(folder)
        )),
        // File systems of clusters may have no locks. There the user sees to it.
        Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(file),
        Err(error) => Err(wrong(error.into())),
    }
}
