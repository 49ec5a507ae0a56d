//! Listens to the kernel's own tracepoints.
//!
//! The events are read as text from `trace_pipe`, which works where there are no histogram triggers
//! (User-Mode Linux).
mod pages;
mod reclaim;

use anyhow::{bail, Context, Result};
use pages::Pages;
use raw::spec::Trace;
use reclaim::Reclaim;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::channel::Channel;
use crate::setup::write;

const TRACEFS: &str = "/sys/kernel/tracing";
/// How often the buffer is emptied: seldom, since each look takes CPU time from what is measured.
const PERIOD: Duration = Duration::from_millis(50);
/// How long the last events may take to be read and told.
const LAST: Duration = Duration::from_secs(60);

/// The listener, if the spec asks for one.
pub struct Tracer {
    seen: Arc<Mutex<Seen>>,
    on: bool,
}

/// What was seen of each scene.
#[derive(Default)]
struct Seen {
    reclaim: Option<Reclaim>,
    pages: Option<Pages>,
    /// When each scene began, and how many events had been lost by then.
    scenes: Vec<(f64, u64)>,
    lost: u64,
    /// How often the buffer was found empty.
    empty: u64,
}

impl Tracer {
    /// Starts to listen, and to tell of what does not wait for the end. The thread is locked in memory
    /// like all of PID 1.
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
        // The clock of all other times of the guest.
        put("trace_clock", "mono")?;
        let buffers = [(reclaim, reclaim::BUFFER_KB), (pages, pages::BUFFER_KB)];
        let buffers = { buffers.iter() }.filter_map(|(on, kb)| on.then_some(*kb));
        let kb = buffers.max().unwrap_or_default();
        put("buffer_size_kb", &kb.to_string())?;
        for (on, events) in [(reclaim, reclaim::EVENTS), (pages, pages::EVENTS)] {
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

    /// Says what was seen of each scene, once all are over.
    ///
    /// # Errors
    /// When there are still events to be read after a minute.
    pub fn tell(&self, channel: &Channel) -> Result<()> {
        if !self.on {
            return Ok(());
        }
        put("tracing_on", "0")?;
        // Two empty looks: the first may have begun before.
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
            let say = |of: &str, name: &str, value: f64| {
                channel.observe(format!("{of}.{name}"), *begin, value);
            };
            if let Some(reclaim) = &seen.reclaim {
                reclaim.tell(place, until, |name, value| {
                    say("direct_reclaim", name, value)
                });
                say("direct_reclaim", "lost", lost as f64);
            }
            if let Some(pages) = &seen.pages {
                pages.tell(place, |name, value| say("page_cache", name, value));
                say("page_cache", "lost", lost as f64);
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
    crate::watch::realtime(40);
    let mut buffer = vec![0u8; 64 << 10];
    let mut kept = 0;
    loop {
        match pipe.read(&mut buffer[kept..]) {
            Ok(n) if n > 0 => {
                let end = kept + n;
                let whole = buffer[..end].iter().rposition(|&b| b == b'\n');
                let whole = whole.map_or(0, |at| at + 1);
                let news = {
                    let mut seen = lock(seen);
                    for line in buffer[..whole].split(|&b| b == b'\n') {
                        // A program's name need not be UTF-8; the rest of the line is ASCII.
                        seen.line(&String::from_utf8_lossy(line));
                    }
                    seen.pages.as_mut().and_then(Pages::news)
                };
                if let Some(news) = news {
                    channel.say(&news);
                }
                buffer.copy_within(whole..end, 0);
                // A line as long as the buffer is none of ours.
                kept = if end - whole == buffer.len() {
                    0
                } else {
                    end - whole
                };
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // Nothing there: the end, where tracing is off.
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

/// `COMM-PID [CPU] FLAGS SECONDS: NAME: DETAIL`.
struct Event<'a> {
    thread: u32,
    t_ms: f64,
    name: &'a str,
    detail: &'a str,
}

fn event(line: &str) -> Option<Event<'_>> {
    // A program's name may have anything in it, but for what comes after it: from there on.
    let (name_at, name) = { reclaim::EVENTS.iter().chain(&pages::EVENTS) }.find_map(|event| {
        let name = event.rsplit('/').next()?;
        Some((line.find(&format!(": {name}:"))?, name))
    })?;
    let (before, seconds) = line[..name_at].rsplit_once(' ')?;
    let (task, _) = before.rsplit_once('[')?;
    let (_, thread) = task.trim_end().rsplit_once('-')?;
    Some(Event {
        thread: thread.parse().ok()?,
        t_ms: seconds.parse::<f64>().ok()? * 1e3,
        name,
        detail: line[name_at + name.len() + 3..].trim(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_the_kernel_dropped_are_told_and_pair_nothing() {
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
        let mut told = std::collections::BTreeMap::new();
        let reclaim = seen.reclaim.as_ref().unwrap();
        reclaim.tell(0, f64::INFINITY, |name, value| {
            told.insert(name.to_string(), value);
        });
        assert_eq!(
            (seen.lost, told["count"], told["unfinished"]),
            (312, 0.0, 0.0)
        );
    }
}
