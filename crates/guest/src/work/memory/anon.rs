//! Workers that take anonymous memory.
use anyhow::{ensure, Context, Result};
use protocol::work::{Fixed, Hog, Touch};
use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, vmstat_field};
use crate::paths::{data_path, settled_path};
use crate::work::stop::stopping;
use crate::xorshift::Random;

const PAGE: usize = 4096;
/// Bytes of one mapping: small enough for the overcommit heuristic.
const PIECE: usize = 16 << 20;
/// Bytes after which a limited hog pauses.
const STEP: usize = 256 << 10;

/// Takes memory up to the wanted size at the wanted rate, then holds it.
pub fn hog(hog: &Hog, seed: u64) -> Result<()> {
    let (size, rate) = (hog.size.bytes(), hog.rate.bytes());
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
                random.page(page, hog.fill);
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
            // A failed fork, for want of memory or process ids, is expected.
            _ => std::thread::sleep(Duration::from_millis(period_ms)),
        }
    }
}

/// Holds the memory, and touches as many pages as it has each period.
///
/// # Errors
/// When a page is not what was written: the kernel, or the test bed, has given it to somebody else.
pub fn touch(worker: &str, set: &Touch, seed: u64, channel: &Channel) -> Result<()> {
    let mut random = Random::new(seed);
    let memory = map(set.size.bytes() as usize)?;
    let mut written = Vec::with_capacity(memory.len() / PAGE);
    for page in memory.chunks_mut(PAGE) {
        random.page(page, set.fill);
        written.push(page[0]);
    }
    let pages = written.len();
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
            // Volatile: the compiler would drop an unused read. A read keeps a page of zeros as it is.
            // SAFETY: the pointer is to the first byte of a live, mapped page.
            let found = unsafe { std::ptr::read_volatile(memory[page * PAGE..].as_ptr()) };
            ensure!(
                found == written[page],
                "page {page} of {pages} is not what was written"
            );
        }
        channel.observe(format!("{worker}.round_ms"), begin, now_ms() - begin);
        // A kernel without swap has no such counter.
        if let (Some(before), Some(after)) = (before, swapped_in()) {
            let pages = after.saturating_sub(before) as f64;
            channel.observe(format!("{worker}.swapped_in"), begin, pages);
        }
        std::thread::sleep(Duration::from_millis(set.period_ms));
    }
    Ok(())
}

/// A fixed sequence of reads from the file and writes to anonymous memory: the same in every kernel
/// with the same seed.
pub fn fixed(worker: &str, sequence: &Fixed, seed: u64, channel: &Channel) -> Result<()> {
    let path = data_path(&sequence.file);
    let file = File::open(&path).with_context(|| format!("opening {path}"))?;
    let read = (sequence.read.bytes() / PAGE as u64).max(1) * PAGE as u64;
    let chunks = (file.metadata()?.len() / read).max(1);
    let mut buffer = vec![0u8; read as usize];
    let mut random = Random::new(seed);
    let memory = map(sequence.size.bytes() as usize)?;
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

/// Maps anonymous memory. Its pages do not exist yet; it is never unmapped.
pub(in crate::work) fn map(len: usize) -> Result<&'static mut [u8]> {
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
