//! A hog whose memory another process fills.
use anyhow::{bail, Context, Result};
use protocol::work::Hog;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::anon::map;
use crate::channel::{now_ms, Channel};
use crate::xorshift::Random;

/// Bytes that a hog without a limit maps: more than any guest has.
const WITHOUT_END: u64 = 1 << 36;
/// Bytes of one write; a limited hog pauses after each.
const STEP: usize = 256 << 10;
/// Length of the stretches whose speed is observed.
const STRETCH_MS: f64 = 20.0;

/// Takes memory up to the wanted size at the wanted rate, then holds it. The process that owns the
/// memory sleeps; its child writes.
pub fn hog(worker: &str, hog: &Hog, channel: &Channel) -> Result<()> {
    let size = match hog.size.bytes() {
        0 => WITHOUT_END,
        size => size,
    };
    let at = map(size as usize)?.as_ptr() as u64;
    let owner = std::process::id();
    // SAFETY: this process has one thread, so the child may do anything.
    match unsafe { libc::fork() } {
        -1 => bail!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // Observed at once: a process that is out of memory may be killed before it reports.
            let metric = format!("{worker}.mb_per_s");
            write(owner, at, size, hog, |mb_per_s| {
                channel.observe(metric.clone(), now_ms(), mb_per_s);
            })
        }
        _ => loop {
            std::thread::sleep(Duration::from_secs(3600));
        },
    }
}

/// Writes until all of the memory is filled or its owner is gone. Observes the MB a second of each
/// stretch that is at least a twentieth faster than all before.
fn write(owner: u32, at: u64, size: u64, hog: &Hog, mut observe: impl FnMut(f64)) -> Result<()> {
    let rate = hog.rate.bytes();
    let path = format!("/proc/{owner}/mem");
    let memory = std::fs::OpenOptions::new().write(true).open(&path);
    let memory = memory.with_context(|| format!("opening {path}"))?;
    let mut step = vec![0u8; STEP];
    Random::new(1).page(&mut step, hog.fill);
    let begin = now_ms();
    let (mut taken, mut fastest) = (0u64, 0.0f64);
    let mut stretch = (begin, 0u64);
    while taken < size {
        // Nothing is written once the owner's memory is gone, and an error while it goes.
        match memory.write_at(&step, at + taken) {
            Ok(length @ 1..) => taken += length as u64,
            _ => break,
        }
        let now = now_ms();
        if now - stretch.0 >= STRETCH_MS {
            let mb_per_s = (taken - stretch.1) as f64 / (now - stretch.0) / 1e3;
            if mb_per_s > fastest * 1.05 {
                fastest = mb_per_s;
                observe(fastest);
            }
            stretch = (now, taken);
        }
        let due = begin + taken as f64 / rate.max(1) as f64 * 1e3;
        if rate > 0 && due > now {
            std::thread::sleep(Duration::from_micros(((due - now) * 1e3) as u64));
        }
    }
    Ok(())
}
