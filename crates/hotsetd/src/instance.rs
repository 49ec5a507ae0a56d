//! One daemon at a time.
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Held as long as the daemon runs. The kernel lets go of it however the daemon ends, so a file
/// that is left lying there is harmless.
pub struct Instance {
    _file: File,
    path: PathBuf,
}

impl Instance {
    /// Takes the lock. Waits half a second for it: a daemon that was killed while it started a program
    /// leaves the lock to that for as long as it takes to become it.
    ///
    /// # Errors
    /// `WouldBlock` when another daemon holds it; otherwise when the file cannot be made.
    pub fn take(path: &Path) -> io::Result<Instance> {
        for _ in 0..20 {
            match Instance::try_take(path) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(std::time::Duration::from_millis(25));
                }
                taken => return taken,
            }
        }
        Instance::try_take(path)
    }

    fn try_take(path: &Path) -> io::Result<Instance> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // The file may be removed between opening and locking it: only the one in its place counts.
        loop {
            let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC;
            let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o644))?;
            rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
            let held = rustix::fs::fstat(&opened)?;
            match rustix::fs::stat(path) {
                Ok(there) if (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino) => {
                    let mut file = File::from(opened);
                    file.set_len(0)?;
                    writeln!(file, "{}", std::process::id())?;
                    let path = path.to_owned();
                    return Ok(Instance { _file: file, path });
                }
                _ => {}
            }
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_is_refused_and_the_next_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run/lock");
        let first = Instance::take(&path).unwrap();
        let second = Instance::take(&path).err().unwrap();
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
        drop(first);
        Instance::take(&path).unwrap();
    }
}
