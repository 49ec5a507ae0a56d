//! Slots on the disk, past the page cache.
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// What a disk can be asked to write past the page cache: aligned to this many bytes.
const ALIGNED: usize = 4096;

/// Opens a file for writes that are on the disk when they return, past the page cache where the file system can.
pub fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::DSYNC | OFlags::NOFOLLOW;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP;
    match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
        Err(Errno::INVAL) => {
            if flags.contains(OFlags::EXCL) {
                // The file was made before the kernel saw that it cannot be opened so.
                let _ = std::fs::remove_file(path);
            }
            Ok(rustix::fs::open(path, flags, mode)?)
        }
        opened => Ok(opened?),
    }
}

/// Reads a slot.
pub fn read_slot(file: &OwnedFd, place: u64, into: &mut [u8]) -> io::Result<()> {
    let offset = place * into.len() as u64;
    match rustix::io::pread(file, &mut *into, offset)? {
        got if got == into.len() => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Writes a slot.
pub fn write_slot(file: &OwnedFd, place: u64, bytes: &[u8]) -> Result<(), Errno> {
    let offset = place * bytes.len() as u64;
    match rustix::io::pwrite(file, bytes, offset)? {
        wrote if wrote == bytes.len() => Ok(()),
        // The disk is full.
        _ => Err(Errno::NOSPC),
    }
}

/// Bytes at an address that a disk takes.
pub struct Aligned {
    bytes: Vec<u8>,
    at: usize,
    length: usize,
}

impl Aligned {
    pub fn new(length: usize) -> Aligned {
        let bytes = vec![0; length + ALIGNED];
        let at = bytes.as_ptr().align_offset(ALIGNED);
        Aligned { bytes, at, length }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.at..self.at + self.length]
    }
}
