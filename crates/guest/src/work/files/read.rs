//! Workers that read files through read(2), as cat(1) does.
use anyhow::{Context, Result};
use protocol::work::Pass;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::kernel_files::write;
use crate::paths::data_path;
use crate::work::stop::stopping;
use crate::xorshift::Random;

/// Bytes that cat(1) reads at a time.
pub(in crate::work) const CHUNK: usize = 128 << 10;
const PAGE: u64 = 4096;

/// Reads the file from end to end for ever.
pub fn stream(name: &str) -> Result<()> {
    let path = data_path(name);
    let mut buffer = vec![0u8; CHUNK];
    loop {
        read_all(&mut open(&path)?, &mut buffer).with_context(|| format!("reading {path}"))?;
    }
}

/// Reads the file each period, and observes the share that was resident before, and the time of the
/// read. The observation has the time at which the read began, so that a stuck read belongs to the
/// scene in which it began.
pub fn probe(worker: &str, name: &str, period_ms: u64, channel: &Channel) -> Result<()> {
    let path = data_path(name);
    let mut buffer = vec![0u8; CHUNK];
    while !stopping() {
        let begin = now_ms();
        let mut file = open(&path)?;
        let resident = resident_share(&file).with_context(|| format!("cachestat of {path}"))?;
        let start = now_ms();
        read_all(&mut file, &mut buffer).with_context(|| format!("reading {path}"))?;
        let end = now_ms();
        channel.observe(format!("{worker}.resident"), begin, resident);
        channel.observe(format!("{worker}.read_ms"), begin, end - start);
        if !stopping() {
            std::thread::sleep(Duration::from_millis(period_ms));
        }
    }
    Ok(())
}

/// Reads the file once.
pub fn once(worker: &str, name: &str, channel: &Channel) -> Result<()> {
    let path = data_path(name);
    let mut buffer = vec![0u8; CHUNK];
    let begin = now_ms();
    read_all(&mut open(&path)?, &mut buffer).with_context(|| format!("reading {path}"))?;
    channel.observe(format!("{worker}.read_ms"), begin, now_ms() - begin);
    Ok(())
}

/// Reads the file several times, with a rest after each read.
pub fn pass(worker: &str, orders: &Pass, seed: u64, channel: &Channel) -> Result<()> {
    let path = data_path(&orders.file);
    let mut buffer = vec![0u8; CHUNK];
    begin_anywhen(seed);
    let begin = now_ms();
    for _ in 0..orders.times {
        let mut file = open(&path)?;
        while file
            .read(&mut buffer)
            .with_context(|| format!("reading {path}"))?
            > 0
        {
            if orders.rest_ms > 0 {
                std::thread::sleep(Duration::from_millis(orders.rest_ms));
            }
        }
    }
    channel.observe(format!("{worker}.done_ms"), begin, now_ms() - begin);
    Ok(())
}

/// Reads the file and has half of it reclaimed, `times` times.
pub fn squeeze(worker: &str, name: &str, times: u64, seed: u64, channel: &Channel) -> Result<()> {
    const NODE: &str = "/sys/devices/system/node/node0/reclaim";
    // Reclaim for the root cgroup is reclaim for the node. Kernels before 6.17 have only that.
    const ROOT: &str = "/sys/fs/cgroup/memory.reclaim";
    let ask = [NODE, ROOT].into_iter().find(|ask| Path::new(ask).exists());
    let ask = ask.with_context(|| format!("this kernel has neither {NODE} nor {ROOT}"))?;
    let path = data_path(name);
    let mut buffer = vec![0u8; CHUNK];
    let half = (open(&path)?.metadata()?.len() / 2).to_string();
    begin_anywhen(seed);
    for _ in 0..times {
        // The lists are the same each time.
        write("/proc/sys/vm/drop_caches", "1")?;
        read_all(&mut open(&path)?, &mut buffer).with_context(|| format!("reading {path}"))?;
        let begin = now_ms();
        std::fs::write(ask, &half).with_context(|| format!("writing {half} to {ask}"))?;
        let end = now_ms();
        channel.observe(format!("{worker}.reclaim_ms"), begin, end - begin);
    }
    Ok(())
}

/// Waits for up to 20 ms, by the seed. Without this wait, repetitions of work without randomness would be
/// identical where the clock counts instructions. With the wait, they meet the kernel's timers at
/// different moments.
fn begin_anywhen(seed: u64) {
    std::thread::sleep(Duration::from_micros(Random::new(seed).next() % 20_000));
}

fn open(path: &str) -> Result<File> {
    File::open(path).with_context(|| format!("opening {path}"))
}

pub(in crate::work) fn read_all(file: &mut File, buffer: &mut [u8]) -> std::io::Result<()> {
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// struct cachestat of include/uapi/linux/mman.h.
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    nr_cache: u64,
    nr_dirty: u64,
    nr_writeback: u64,
    nr_evicted: u64,
    nr_recently_evicted: u64,
}

#[repr(C)]
struct CachestatRange {
    off: u64,
    len: u64,
}

/// Share of the file's pages that are in the page cache.
pub(in crate::work) fn resident_share(file: &File) -> Result<f64> {
    let (cached, pages) = resident(file)?;
    Ok(cached as f64 / pages.max(1) as f64)
}

/// Pages of the file in the page cache, and all of its pages, by cachestat(2) of Linux 6.5. Unlike
/// mincore(2), cachestat needs no mapping, whose page tables would disturb the measurement.
pub(in crate::work) fn resident(file: &File) -> Result<(u64, u64)> {
    const SYS_CACHESTAT: libc::c_long = 451;
    let pages = file.metadata()?.len().div_ceil(PAGE);
    let range = CachestatRange { off: 0, len: 0 };
    let mut stat = Cachestat::default();
    // SAFETY: both structs have the layout of the kernel's and live through the call; length 0
    // means to the file's end.
    let result = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &range, &mut stat, 0) };
    if result != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok((stat.nr_cache, pages))
}
