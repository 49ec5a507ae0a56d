//! Workers that take anonymous memory.
use anyhow::{Context, Result};
use raw::spec::Fill;
use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::{data_path, settled_path, stopping};
use crate::channel::{now_ms, Channel};
use crate::counters::{read, vmstat_field};

const PAGE: usize = 4096;
/// Memory is mapped in pieces of this size: small enough for the overcommit heuristic.
const PIECE: usize = 16 << 20;
/// A limited hog pauses after each of these.
const STEP: usize = 256 << 10;

/// Takes memory up to `size` bytes (0: without end) at `rate` bytes a second (0: unlimited), then
/// holds it.
pub fn hog(size: u64, rate: u64, fill: Fill, seed: u64) -> Result<()> {
    let mut random = Random::new(seed);
    let begin = now_ms();
    let mut taken = 0u64;
    while size == 0 || taken < size {
        let want = if size == 0 {
            PIECE
        } else {
            PIECE.min((size - taken) as usize)
        };
        let piece = map(want)?;
        for step in piece.chunks_mut(STEP) {
            for page in step.chunks_mut(PAGE) {
                random.page(page, fill);
            }
            taken += step.len() as u64;
            if rate > 0 {
                let due = begin + taken as f64 / rate as f64 * 1e3;
                let wait = due - now_ms();
                if wait > 0.0 {
                    std::thread::sleep(Duration::from_micros((wait * 1e3) as u64));
                }
            }
        }
    }
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Starts processes for ever, each of which takes `size` bytes and holds them.
pub fn forks(size: u64, period_ms: u64) -> Result<()> {
    loop {
        // SAFETY: this process has one thread, so the child may do anything.
        match unsafe { libc::fork() } {
            0 => {
                map(size as usize)?
                    .chunks_mut(PAGE)
                    .for_each(|page| page[0] = 1);
                loop {
                    std::thread::sleep(Duration::from_secs(3600));
                }
            }
            // No memory or no number for one more: that is what it is for.
            _ => std::thread::sleep(Duration::from_millis(period_ms)),
        }
    }
}

/// The pages that a worker touches.
pub struct Set {
    pub size: u64,
    pub fill: Fill,
    /// Pages drawn at random rather than in turn.
    pub random: bool,
}

/// Holds the set and touches as many pages as it has each period.
pub fn touch(worker: &str, set: &Set, period_ms: u64, seed: u64, channel: &Channel) -> Result<()> {
    let mut random = Random::new(seed);
    let memory = map(set.size as usize)?;
    for page in memory.chunks_mut(PAGE) {
        random.page(page, set.fill);
    }
    let pages = memory.len() / PAGE;
    let swapped_in = || vmstat_field(&read("/proc/vmstat").unwrap_or_default(), "pswpin");
    while !stopping() {
        let before = swapped_in();
        let begin = now_ms();
        for turn in 0..pages {
            let page = if set.random {
                (random.next() % pages as u64) as usize
            } else {
                turn
            };
            // Volatile: the compiler would see that nobody reads it. Read, not written, so that a
            // page of zeros stays one.
            // SAFETY: the pointer is to the first byte of a live, mapped page.
            unsafe { std::ptr::read_volatile(memory[page * PAGE..].as_ptr()) };
        }
        channel.observe(format!("{worker}.round_ms"), begin, now_ms() - begin);
        // A kernel without swap has no such counter, and then there is nothing to observe.
        if let (Some(before), Some(after)) = (before, swapped_in()) {
            let pages = after.saturating_sub(before) as f64;
            channel.observe(format!("{worker}.swapped_in"), begin, pages);
        }
        std::thread::sleep(Duration::from_millis(period_ms));
    }
    Ok(())
}

/// What [`fixed`] does.
pub struct Sequence<'a> {
    pub file: &'a str,
    pub size: u64,
    pub rounds: u64,
    pub settle: u64,
    pub read: u64,
    pub fill: Fill,
}

/// A fixed sequence of reads from the file and writes to anonymous memory: the same in every kernel
/// with the same seed.
pub fn fixed(worker: &str, sequence: &Sequence, seed: u64, channel: &Channel) -> Result<()> {
    let path = data_path(sequence.file);
    let file = File::open(&path).with_context(|| format!("opening {path}"))?;
    let read = (sequence.read / PAGE as u64).max(1) * PAGE as u64;
    let chunks = (file.metadata()?.len() / read).max(1);
    let mut buffer = vec![0u8; read as usize];
    let mut random = Random::new(seed);
    let memory = map(sequence.size as usize)?;
    let pages = (memory.len() / PAGE).max(1) as u64;
    let mut rounds = |count: u64| -> Result<()> {
        for _ in 0..count {
            let at = random.next() % chunks * read;
            file.read_exact_at(&mut buffer, at)
                .with_context(|| format!("reading {path}"))?;
            let page = (random.next() % pages) as usize * PAGE;
            random.page(&mut memory[page..page + PAGE], sequence.fill);
        }
        Ok(())
    };
    rounds(sequence.settle)?;
    let mark = settled_path(worker, std::process::id());
    File::create(&mark).with_context(|| format!("creating {mark}"))?;
    let begin = now_ms();
    rounds(sequence.rounds)?;
    channel.observe(format!("{worker}.done_ms"), begin, now_ms() - begin);
    Ok(())
}

/// Anonymous memory, zero pages not yet there, never unmapped.
pub(super) fn map(len: usize) -> Result<&'static mut [u8]> {
    // SAFETY: a fresh private mapping, aliased by nothing, valid until the process ends.
    unsafe {
        let at = mmap_anonymous(
            std::ptr::null_mut(),
            len.max(PAGE),
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
        .with_context(|| format!("mapping {len} bytes"))?;
        Ok(std::slice::from_raw_parts_mut(at.cast(), len))
    }
}

/// xorshift64*: seeded, the same on every machine, and fast enough never to be what is measured.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // Never zero, which xorshift would keep; neighbouring seeds far apart.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1, without 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_mut(8) {
            let random = self.next().to_le_bytes();
            word.copy_from_slice(&random[..word.len()]);
        }
    }

    /// Writes one page as `fill` says.
    pub fn page(&mut self, page: &mut [u8], fill: Fill) {
        match fill {
            Fill::Zero => page.fill(0),
            Fill::Mixed => {
                let third = page.len() / 3;
                self.fill(&mut page[..third]);
            }
            Fill::Random => self.fill(page),
        }
    }
}
