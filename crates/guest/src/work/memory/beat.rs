//! The worker that is to run ten times a second: how long a machine stands still.
use anyhow::{Context, Result};
use protocol::work::{Beat, Fill};
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::fs::File;
use std::time::Duration;

use super::anon::map;
use crate::channel::{now_ms, Channel};
use crate::paths::data_path;
use crate::work::stop::stopping;
use crate::xorshift::Random;

const PAGE: usize = 4096;
/// Beats that touch all of the memory together.
const ROUND: usize = 16;
/// A delay from which on the machine stands still, in milliseconds: about the limit for a person's flow
/// of thought to stay uninterrupted (Nielsen, Usability Engineering, 1993).
const STILL_MS: f64 = 1000.0;

/// Beats until it is stopped.
///
/// # Errors
/// When the memory or the file cannot be mapped.
pub fn beat(worker: &str, orders: &Beat, seed: u64, channel: &Channel) -> Result<()> {
    let mut random = Random::new(seed);
    let memory = map(orders.memory.bytes() as usize)?;
    for page in memory.chunks_mut(PAGE) {
        random.page(page, Fill::Mixed);
    }
    let code = orders.file.as_deref().map(code).transpose()?;
    let code = code.unwrap_or_default();
    // The first round brings the code to memory, as the start of a program does.
    for turn in 0..ROUND {
        touch(code, turn, |page| {
            // SAFETY: the pointer is to a live, mapped page. Volatile: an unused read is dropped.
            unsafe { std::ptr::read_volatile(page.as_ptr()) };
        });
    }
    let late = format!("{worker}.late_ms");
    let still = format!("{worker}.still_s");
    let mut beats = Beats::from(now_ms(), orders.period_ms as f64);
    // A run without a stall has stood still for 0 s.
    channel.observe(still.clone(), now_ms(), 0.0);
    let mut turn = 0;
    while !stopping() {
        let wait = beats.due - now_ms();
        if wait > 0.0 {
            std::thread::sleep(Duration::from_micros((wait * 1e3) as u64));
            continue;
        }
        touch_all(memory, code, turn % ROUND);
        turn += 1;
        let delays = beats.done(now_ms());
        if let Some((due, delay)) = delays.first().filter(|(_, delay)| *delay >= STILL_MS) {
            channel.observe(still.clone(), *due, delay / 1e3);
        }
        for (due, delay) in delays {
            channel.observe(late.clone(), due, delay);
        }
    }
    Ok(())
}

/// Touches the part of both that belongs to a beat: writes the memory, reads the code.
fn touch_all(memory: &mut [u8], code: &[u8], turn: usize) {
    let pages = memory.len() / PAGE;
    for page in part(pages, turn) {
        let first = memory[page * PAGE..].as_mut_ptr();
        // SAFETY: the pointer is to the first byte of a live, mapped page.
        unsafe { std::ptr::write_volatile(first, turn as u8) };
    }
    touch(code, turn, |page| {
        // SAFETY: as above.
        unsafe { std::ptr::read_volatile(page.as_ptr()) };
    });
}

fn touch(code: &[u8], turn: usize, read: impl Fn(&[u8])) {
    for page in part(code.len() / PAGE, turn) {
        read(&code[page * PAGE..(page + 1) * PAGE]);
    }
}

/// The pages of a beat: a sixteenth of all.
fn part(pages: usize, turn: usize) -> std::ops::Range<usize> {
    pages * turn / ROUND..pages * (turn + 1) / ROUND
}

/// Maps a file of the data disk as a program's code is mapped.
fn code(file: &str) -> Result<&'static [u8]> {
    let path = data_path(file);
    let file = File::open(&path).with_context(|| format!("opening {path}"))?;
    let len = file.metadata()?.len() as usize;
    // SAFETY: a fresh mapping of a file on a disk that is mounted read-only, never unmapped.
    unsafe {
        let at = mmap(
            std::ptr::null_mut(),
            len.max(1),
            ProtFlags::READ | ProtFlags::EXEC,
            MapFlags::PRIVATE,
            &file,
            0,
        )
        .with_context(|| format!("mapping {path}"))?;
        Ok(std::slice::from_raw_parts(at.cast(), len))
    }
}

/// The moments at which beats are due, and their delays. Times are in milliseconds.
struct Beats {
    due: f64,
    period: f64,
}

impl Beats {
    fn from(start: f64, period: f64) -> Beats {
        Beats {
            due: start + period,
            period,
        }
    }

    /// A round has ended: each beat that was due until then with its delay, the oldest first. Beats that
    /// were left out in a stall count: otherwise a stall of an hour would be one late beat of many.
    fn done(&mut self, now: f64) -> Vec<(f64, f64)> {
        let mut delays = Vec::new();
        while self.due <= now {
            delays.push((self.due, now - self.due));
            self.due += self.period;
        }
        delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beat_that_was_due_counts_with_its_own_delay() {
        let mut beats = Beats::from(1000.0, 100.0);
        assert_eq!(beats.done(1101.0), [(1100.0, 1.0)]);
        assert_eq!(beats.due, 1200.0, "no drift");
        // Two seconds and a half pass.
        let stall = beats.done(3700.0);
        assert_eq!(stall.len(), 26);
        assert_eq!(
            stall[0],
            (1200.0, 2500.0),
            "the stall is its first beat's delay"
        );
        assert_eq!(stall[25], (3700.0, 0.0));
        assert_eq!(beats.done(3750.0), []);
    }

    #[test]
    fn sixteen_beats_touch_every_page_once() {
        for pages in [0, 1, 15, 16, 2048, 2049] {
            let all: Vec<usize> = (0..ROUND).flat_map(|turn| part(pages, turn)).collect();
            assert_eq!(all, (0..pages).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_beat_writes_its_part_of_the_memory_and_no_other() {
        let mut memory = vec![255; 32 * PAGE];
        touch_all(&mut memory, &[], 3);
        let written = |page: usize| memory[page * PAGE] == 3;
        let pages: Vec<usize> = (0..32).filter(|page| written(*page)).collect();
        assert_eq!(pages, [6, 7]);
    }
}
