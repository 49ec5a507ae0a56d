//! A file that stays open, read from its start each time.
//!
//! A held descriptor saves the walk down the path, and keeps the kernel's own buffer of a
//! sequential file, which is grown by trial on each first read (fs/seq_file.c).
use crate::{Error, ErrorKind};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No file of interest comes near it: zoneinfo of 1024 CPUs and 8 nodes is 2 MB.
const LIMIT: usize = 16 << 20;
const FIRST_SIZE: usize = 64 << 10;
const LINE: usize = 128;

/// Bytes of the file that was read last; one for all files.
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
    /// The same and short, as sysctls are. Of those the kernel allocates and clears as much as is
    /// asked for (`proc_sys_call_handler`): asking for 64 KiB takes four times as long as for a line.
    Line,
    /// Record by record: only a read of nothing tells the end.
    Records,
}

/// One file.
#[derive(Debug)]
pub struct Held {
    path: Arc<Path>,
    shape: Shape,
    fd: Option<OwnedFd>,
    /// Not a file of the kernel's: it may be deleted or replaced while it is held.
    replaceable: bool,
    /// Whether its absence is a fault even before it was ever there.
    required: bool,
    seen: bool,
    failures: u32,
    /// Samples until it is tried again.
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

    /// Whether `kind` is worth telling: a file that this kernel never had is not.
    #[must_use]
    pub fn is_fault(&self, kind: ErrorKind) -> bool {
        kind != ErrorKind::Missing || self.required || self.seen
    }

    /// `kind`, with this file's name.
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
    /// When it cannot be opened or read. It is then tried again: at the next call, and from then
    /// on at longer and longer distances, up to 62 calls.
    pub fn read<'b>(&mut self, buffer: &'b mut Buffer) -> Result<&'b [u8], ErrorKind> {
        if self.fd.is_none() && self.wait > 0 {
            self.wait -= 1;
            return Err(self.last);
        }
        let held = self.fd.is_some();
        let mut result = self.once(buffer);
        // What was held may be gone while something new stands under its name.
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
    fn reads_what_is_there_now() {
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
    fn long_files_and_endless_ones() {
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
    fn it_is_tried_again_at_longer_distances() {
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
