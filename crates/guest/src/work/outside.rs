//! A hog whose memory another process fills.
use anyhow::{bail, Context, Result};
use raw::spec::Fill;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::memory::{map, Random};
use crate::channel::{now_ms, Channel};

/// What is mapped where there is no end to it: more than any guest has.
const WITHOUT_END: u64 = 1 << 36;
/// Written at a time; a limited hog pauses after each.
const STEP: usize = 256 << 10;
/// What is told is how fast such a stretch was.
const STRETCH_MS: f64 = 20.0;

/// Takes memory up to `size` bytes (0: without end) at `rate` bytes a second (0: unlimited), then
/// holds it. The process that has it sleeps; its child writes.
pub fn hog(worker: &str, size: u64, rate: u64, fill: Fill, channel: &Channel) -> Result<()> {
    let size = if size == 0 { WITHOUT_END } else { size };
    let at = map(size as usize)?.as_ptr() as u64;
    let owner = std::process::id();
    // SAFETY: this process has one thread, so the child may do anything.
    match unsafe { libc::fork() } {
        -1 => bail!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // Said as it goes: who has no memory left may not live to say it.
            let metric = format!("{worker}.mb_per_s");
            write(owner, at, size, rate, fill, |mb_per_s| {
                channel.observe(metric.clone(), now_ms(), mb_per_s);
            })
        }
        _ => loop {
            std::thread::sleep(Duration::from_secs(3600));
        },
    }
}

/// Writes until all of it is there or its owner is gone. Tells the MB a second of each stretch that was
/// faster than any before by a twentieth.
fn write(
    owner: u32,
    at: u64,
    size: u64,
    rate: u64,
    fill: Fill,
    mut tell: impl FnMut(f64),
) -> Result<()> {
    let path = format!("/proc/{owner}/mem");
    let memory = std::fs::OpenOptions::new().write(true).open(&path);
    let memory = memory.with_context(|| format!("opening {path}"))?;
    let mut step = vec![0u8; STEP];
    Random::new(1).page(&mut step, fill);
    let begin = now_ms();
    let (mut taken, mut fastest) = (0u64, 0.0f64);
    let mut stretch = (begin, 0u64);
    while taken < size {
        // Nothing is written once the owner's memory is gone; an error, where that is just going on.
        match memory.write_at(&step, at + taken) {
            Ok(length @ 1..) => taken += length as u64,
            _ => break,
        }
        let now = now_ms();
        if now - stretch.0 >= STRETCH_MS {
            let mb_per_s = (taken - stretch.1) as f64 / (now - stretch.0) / 1e3;
            if mb_per_s > fastest * 1.05 {
                fastest = mb_per_s;
                tell(fastest);
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
