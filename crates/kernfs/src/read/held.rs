//! A file that stays open, read from its start each time.
//!
//! A held descriptor saves the walk down the path. It also keeps the kernel's buffer of a
//! sequential file, which the first read grows by trial (fs/seq_file.c).
use crate::{Error, ErrorKind};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest file, bytes. zoneinfo of 1024 CPUs and 8 nodes has 2 MB.
const LIMIT: usize = 16 << 20;
/// Bytes of a new buffer.
const FIRST_SIZE: usize = 64 << 10;
/// Bytes that a read of [`Shape::Line`] asks for.
const LINE: usize = 128;

/// The bytes of the file that was read last. One buffer serves all files.
#[derive(Debug)]
pub struct Buffer(Vec<u8>);

impl Default for Buffer {
    fn default() -> Self {
        Self(vec![0; FIRST_SIZE])
    }
}

/// How the kernel makes a file's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In one piece: sysfs, single_open() files. One pread(2) gives all.
    Whole,
    /// In one piece and short: sysctls. For those the kernel allocates and clears as many bytes as a read
    /// asks for (`proc_sys_call_handler` in fs/proc/proc_sysctl.c). A read of 64 KiB takes four times as
    /// long as a read of a line.
    Line,
    /// Record by record: only a read of no bytes shows the end.
    Records,
}

/// One file.
#[derive(Debug)]
pub struct Held {
    path: Arc<Path>,
    shape: Shape,
    fd: Option<OwnedFd>,
    /// The file is not the kernel's: it may be deleted or replaced while it is held.
    replaceable: bool,
    /// Whether its absence is an error even if it was never there.
    required: bool,
    seen: bool,
    failures: u32,
    /// Calls until the file is tried again.
    wait: u32,
    last: ErrorKind,
}

impl Held {
    #[must_use]
    pub fn new(path: PathBuf, shape: Shape, required: bool) -> Self {
        Self {
            path: path.into(),
            shape,
            fd: None,
            replaceable: false,
            required,
            seen: false,
            failures: 0,
            wait: 0,
            last: ErrorKind::Missing,
        }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether `kind` is worth reporting. The absence of a file that this kernel never had is not.
    #[must_use]
    pub fn is_reportable(&self, kind: ErrorKind) -> bool {
        kind != ErrorKind::Missing || self.required || self.seen
    }

    /// An error of this kind with the file's path.
    #[must_use]
    pub fn error(&self, kind: ErrorKind) -> Error {
        Error {
            path: Arc::clone(&self.path),
            kind,
        }
    }

    /// The file's bytes as they are now.
    ///
    /// # Errors
    /// The file cannot be opened or read. The file is tried again at the next call, and then at longer and
    /// longer distances, up to 62 calls.
    pub fn read<'b>(&mut self, buffer: &'b mut Buffer) -> Result<&'b [u8], ErrorKind> {
        if self.fd.is_none() && self.wait > 0 {
            self.wait -= 1;
            return Err(self.last);
        }
        let held = self.fd.is_some();
        let mut result = self.once(buffer);
        // The held file may be gone while a new one has its name.
        if held && matches!(result, Err(kind) if !matches!(kind, ErrorKind::TooLong { .. })) {
            self.fd = None;
            result = self.once(buffer);
        }
        match result {
            Ok(filled) => {
                (self.failures, self.seen) = (0, true);
                Ok(&buffer.0[..filled])
            }
            Err(kind) => {
                self.fd = None;
                self.last = kind;
                self.failures = (self.failures + 1).min(6);
                self.wait = (1 << self.failures) - 2;
                Err(kind)
            }
        }
    }

    fn once(&mut self, buffer: &mut Buffer) -> Result<usize, ErrorKind> {
        if self.fd.is_none() {
            // Never blocks, should a pipe lie where a file belongs.
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            let fd = rustix::fs::open(&*self.path, flags, Mode::empty())?;
            self.replaceable = !is_kernels(&fd);
            self.fd = Some(fd);
        }
        let Some(fd) = &self.fd else {
            return Err(ErrorKind::Missing);
        };
        if self.replaceable && rustix::fs::fstat(fd)?.st_nlink == 0 {
            return Err(ErrorKind::Missing);
        }
        let mut filled = 0;
        loop {
            if filled == buffer.0.len() {
                if filled >= LIMIT {
                    return Err(ErrorKind::TooLong { limit: LIMIT });
                }
                buffer.0.resize(filled * 2, 0);
            }
            let end = match self.shape {
                Shape::Line => buffer.0.len().min(filled + LINE),
                Shape::Whole | Shape::Records => buffer.0.len(),
            };
            let got = match rustix::io::pread(fd, &mut buffer.0[filled..end], filled as u64) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            filled += got;
            let whole = self.shape != Shape::Records && filled < end;
            if got == 0 || whole {
                return Ok(filled);
            }
        }
    }
}

/// On procfs, cgroup v2, sysfs or debugfs, by the numbers of linux/magic.h.
fn is_kernels(fd: &OwnedFd) -> bool {
    const KERNELS: [rustix::fs::FsWord; 4] = [0x9fa0, 0x6367_7270, 0x6265_6572, 0x6462_6720];
    rustix::fs::fstatfs(fd).is_ok_and(|found| KERNELS.contains(&found.f_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(path: &Path) -> Held {
        Held::new(path.into(), Shape::Records, true)
    }

    #[test]
    fn a_read_gives_the_file_that_has_the_name_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut buffer = Buffer::default();
        let mut file = held(&path);
        assert_eq!(file.read(&mut buffer), Err(ErrorKind::Missing));
        std::fs::write(&path, "one").unwrap();
        assert_eq!(file.read(&mut buffer).unwrap(), b"one");
        std::fs::write(&path, "another").unwrap();
        assert_eq!(file.read(&mut buffer).unwrap(), b"another");
        // Replaced by rename, as an editor does: the held descriptor is of the old one.
        let new = dir.path().join("new");
        std::fs::write(&new, "new").unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert_eq!(file.read(&mut buffer).unwrap(), b"new");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file.read(&mut buffer), Err(ErrorKind::Missing));
        std::fs::write(&path, "back").unwrap();
        assert_eq!(file.read(&mut buffer).unwrap(), b"back");
    }

    #[test]
    fn long_files_are_read_whole_and_endless_ones_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut buffer = Buffer::default();
        let long = vec![b'x'; 3 * FIRST_SIZE + 7];
        std::fs::write(&path, &long).unwrap();
        for shape in [Shape::Whole, Shape::Line, Shape::Records] {
            let mut file = Held::new(path.clone(), shape, true);
            assert_eq!(file.read(&mut buffer).unwrap(), long);
        }
        let mut zero = Held::new("/dev/zero".into(), Shape::Records, true);
        let limit = LIMIT;
        assert_eq!(zero.read(&mut buffer), Err(ErrorKind::TooLong { limit }));
    }

    #[test]
    fn a_missing_file_is_found_within_63_calls() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut buffer = Buffer::default();
        let mut file = held(&path);
        for _ in 0..500 {
            assert!(file.read(&mut buffer).is_err());
        }
        std::fs::write(&path, "late").unwrap();
        let tries = (1..).find(|_| file.read(&mut buffer).is_ok()).unwrap();
        assert!(tries <= 63, "{tries}");
    }

    #[test]
    fn a_directory_and_a_pipe_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let mut buffer = Buffer::default();
        assert_eq!(
            held(dir.path()).read(&mut buffer),
            Err(ErrorKind::Io(Errno::ISDIR))
        );
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(
            held(&pipe).read(&mut buffer),
            Err(ErrorKind::Io(Errno::SPIPE))
        );
    }
}
