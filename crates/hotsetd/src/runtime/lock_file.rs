//! One daemon at a time.
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The lock, held as long as the daemon runs. The kernel releases the lock however the daemon
/// ends: a file that is left behind is harmless.
pub struct Instance {
    _file: File,
    path: PathBuf,
}

impl Instance {
    /// Takes the lock. Waits half a second: the child of a killed daemon holds the lock
    /// until it has started its program.
    ///
    /// # Errors
    /// `WouldBlock`: another daemon holds the lock. Any other: the file cannot be made.
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

/// Takes the lock of the daemon below `root`.
///
/// # Errors
/// Another daemon runs, or the file cannot be made.
pub fn take(root: &Path) -> io::Result<Instance> {
    let path = root.join("run/hotset/hotsetd.lock");
    Instance::take(&path).map_err(|error| {
        let message = match error.kind() {
            io::ErrorKind::WouldBlock => "another hotsetd runs: see `hotset status`".into(),
            _ => error.to_string(),
        };
        io::Error::new(error.kind(), format!("{}: {message}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_instance_is_refused_until_the_first_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run/lock");
        let first = Instance::take(&path).unwrap();
        let second = Instance::take(&path).err().unwrap();
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
        drop(first);
        Instance::take(&path).unwrap();
    }
}
