//! Reads the events of the kernel's tracepoints in a thread.
//!
//! Events are read as text from `trace_pipe`, which works without histogram triggers (User-Mode
//! Linux).
use anyhow::{bail, Context, Result};
use protocol::spec::Trace;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::event::{self, event};
use super::pages::{self, Pages};
use super::reclaim::{self, Reclaim};
use crate::channel::Channel;
use crate::kernel_files::write;

const TRACEFS: &str = "/sys/kernel/tracing";
/// The time between two reads of the buffer. Each read takes CPU time from the measurement.
const PERIOD: Duration = Duration::from_millis(50);
/// Time within which the last events must have been read.
const LAST: Duration = Duration::from_secs(60);

/// The listener, if the spec asks for one.
pub struct Tracer {
    seen: Arc<Mutex<Seen>>,
    on: bool,
}

/// The results of each scene.
#[derive(Default)]
struct Seen {
    reclaim: Option<Reclaim>,
    pages: Option<Pages>,
    /// The time at which each scene began, in milliseconds, and the events lost by then.
    scenes: Vec<(f64, u64)>,
    lost: u64,
    /// Times that the buffer was found empty.
    empty: u64,
}

impl Tracer {
    /// Starts to listen, and to report page runs as they come. The thread is locked in memory, as
    /// all of PID 1.
    ///
    /// # Errors
    /// When the kernel has no such tracepoints.
    pub fn start(wanted: &[Trace], channel: &Channel) -> Result<Tracer> {
        let reclaim = wanted.contains(&Trace::DirectReclaim);
        let pages = wanted.contains(&Trace::PageCache);
        let seen = Seen {
            reclaim: reclaim.then(Reclaim::default),
            pages: pages.then(Pages::new),
            ..Seen::default()
        };
        let tracer = Tracer {
            seen: Arc::new(Mutex::new(seen)),
            on: reclaim || pages,
        };
        if !tracer.on {
            return Ok(tracer);
        }
        // The guest's other times come from the same clock.
        put("trace_clock", "mono")?;
        let buffers = [(reclaim, reclaim::BUFFER_KB), (pages, pages::BUFFER_KB)];
        let buffers = { buffers.iter() }.filter_map(|(on, kb)| on.then_some(*kb));
        let kb = buffers.max().unwrap_or_default();
        put("buffer_size_kb", &kb.to_string())?;
        for (on, events) in [(reclaim, event::RECLAIM), (pages, event::PAGES)] {
            for event in events.into_iter().filter(|_| on) {
                put(&format!("events/{event}/enable"), "1")?;
            }
        }
        let path = format!("{TRACEFS}/trace_pipe");
        let mut options = std::fs::OpenOptions::new();
        let pipe = options
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path);
        let pipe = pipe.with_context(|| format!("opening {path}"))?;
        let (seen, channel) = (tracer.seen.clone(), channel.share()?);
        std::thread::spawn(move || listen(pipe, &seen, &channel));
        Ok(tracer)
    }

    /// A scene begins.
    pub fn scene(&self, begin_ms: f64) {
        let mut seen = lock(&self.seen);
        let lost = seen.lost;
        seen.scenes.push((begin_ms, lost));
        seen.reclaim.iter_mut().for_each(|it| it.scene(begin_ms));
        seen.pages.iter_mut().for_each(|it| it.scene(begin_ms));
    }

    /// Observes the numbers of each scene, once all are over.
    ///
    /// # Errors
    /// When the buffer is not empty after a minute.
    pub fn report(&self, channel: &Channel) -> Result<()> {
        if !self.on {
            return Ok(());
        }
        put("tracing_on", "0")?;
        // Two empty reads: the first may have begun before the last event.
        let (from, limit) = (lock(&self.seen).empty, Instant::now() + LAST);
        while lock(&self.seen).empty < from + 2 {
            if Instant::now() > limit {
                bail!("the kernel's trace buffer is not empty after {LAST:?}");
            }
            std::thread::sleep(PERIOD);
        }
        let seen = lock(&self.seen);
        for (place, (begin, lost_before)) in seen.scenes.iter().enumerate() {
            let next = seen.scenes.get(place + 1);
            let lost = next.map_or(seen.lost, |next| next.1) - lost_before;
            let until = next.map_or(f64::INFINITY, |next| next.0);
            let observe = |of: &str, name: &str, value: f64| {
                channel.observe(format!("{of}.{name}"), *begin, value);
            };
            if let Some(reclaim) = &seen.reclaim {
                reclaim.report(place, until, |name, value| {
                    observe("direct_reclaim", name, value)
                });
                observe("direct_reclaim", "lost", lost as f64);
            }
            if let Some(pages) = &seen.pages {
                pages.report(place, |name, value| observe("page_cache", name, value));
                observe("page_cache", "lost", lost as f64);
            }
        }
        Ok(())
    }
}

fn put(file: &str, value: &str) -> Result<()> {
    write(&format!("{TRACEFS}/{file}"), value)
        .context("tracing needs CONFIG_FTRACE and CONFIG_ENABLE_DEFAULT_TRACERS")
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(mut pipe: File, seen: &Mutex<Seen>, channel: &Channel) {
    crate::observe::watch::realtime(40);
    let mut buffer = vec![0u8; 64 << 10];
    let mut kept = 0;
    loop {
        match pipe.read(&mut buffer[kept..]) {
            Ok(n) if n > 0 => {
                let end = kept + n;
                let whole = buffer[..end].iter().rposition(|&b| b == b'\n');
                let whole = whole.map_or(0, |at| at + 1);
                let line_out = {
                    let mut seen = lock(seen);
                    for line in buffer[..whole].split(|&b| b == b'\n') {
                        // A program's name need not be UTF-8; the rest of a line is ASCII.
                        seen.line(&String::from_utf8_lossy(line));
                    }
                    seen.pages.as_mut().and_then(Pages::take_line)
                };
                if let Some(line_out) = line_out {
                    channel.send(&line_out);
                }
                buffer.copy_within(whole..end, 0);
                // A line as long as the buffer is no event: drop it.
                kept = if end - whole == buffer.len() {
                    0
                } else {
                    end - whole
                };
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // Empty buffer, or the end once tracing is off.
            Ok(_) | Err(_) => {
                lock(seen).empty += 1;
                std::thread::sleep(PERIOD);
            }
        }
    }
}

impl Seen {
    fn line(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once("[LOST ") {
            let count = rest.split_whitespace().next();
            self.lost += count.and_then(|n| n.parse().ok()).unwrap_or(1);
            self.reclaim.iter_mut().for_each(Reclaim::lost);
        } else if let Some(event) = event(line) {
            self.reclaim.iter_mut().for_each(|it| it.event(&event));
            self.pages.iter_mut().for_each(|it| it.event(&event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_counted_and_end_no_reclaim() {
        let mut seen = Seen {
            reclaim: Some(Reclaim::default()),
            ..Seen::default()
        };
        seen.reclaim.as_mut().unwrap().scene(0.0);
        for line in [
            "cat-7 [000] ..... 1.0: mm_vmscan_direct_reclaim_begin: order=0",
            "CPU:0 [LOST 312 EVENTS]",
            "cat-7 [000] ..... 9.0: mm_vmscan_direct_reclaim_end: nr_reclaimed=1",
        ] {
            seen.line(line);
        }
        let mut reported = std::collections::BTreeMap::new();
        let reclaim = seen.reclaim.as_ref().unwrap();
        reclaim.report(0, f64::INFINITY, |name, value| {
            reported.insert(name.to_string(), value);
        });
        assert_eq!(
            (seen.lost, reported["count"], reported["unfinished"]),
            (312, 0.0, 0.0)
        );
    }
}
