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

/// A folder's lock. Dropping it frees the folder.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    // To close the file is not enough: a child that another thread has forked has it, too, until its exec.
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Locks a folder.
///
/// # Errors
/// Another run has it, or the file cannot be made.
pub fn take(folder: &Path) -> Result<Lock> {
    let path = folder.join(NAME);
    let wrong = |error: io::Error| anyhow!("{}: cannot lock: {}", shown(&path), io_error(&error));
    let options = File::options().create(true).append(true).open(&path);
    let file = options.map_err(wrong)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock(file)),
        Err(Errno::WOULDBLOCK) => Err(refused!(
            "{}: another run works in this folder; wait for it, or end it",
            shown(folder)
        )),
        // File systems of clusters may have no locks. There the user sees to it.
        Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(Lock(file)),
        Err(error) => Err(wrong(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::take;

    #[test]
    fn a_child_that_has_the_file_open_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path()).unwrap();
        let _of_a_child = first.0.try_clone().unwrap();
        assert!(take(folder.path()).is_err());
        drop(first);
        assert!(take(folder.path()).is_ok());
    }
}
