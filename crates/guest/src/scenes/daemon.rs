//! The arm's daemon. It starts before the first scene and stops after the last. Its log goes to the
//! lab.
use anyhow::{bail, Context, Result};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::process::{describe_end, signal};

/// Lines of the log that go to the lab. Further lines are only counted.
const LINES: u64 = 2000;
/// Milliseconds that a daemon may take to write its first line, and to end.
const PATIENCE_MS: f64 = 60_000.0;
/// Milliseconds after which a daemon other than hotsetd counts as started: it need not write a log.
const QUIET_MS: f64 = 2000.0;
const TICK: Duration = Duration::from_millis(10);

/// A running daemon.
pub struct Daemon {
    pid: i32,
    channel: Arc<Channel>,
    /// Lines of the log so far.
    lines: Arc<AtomicU64>,
    ended: Option<WaitStatus>,
    foreign: bool,
}

impl Daemon {
    /// Starts the daemon, and waits for its first line.
    ///
    /// # Errors
    /// When the daemon cannot be started, ends at once or writes nothing.
    pub fn start(daemon: &protocol::spec::Daemon, channel: Arc<Channel>) -> Result<Daemon> {
        let command = &daemon.command;
        let (program, arguments) = command.split_first().context("the daemon has no program")?;
        if program.ends_with("/systemd-oomd") {
            super::systemd::serve()?;
        }
        let (log, out) = std::io::pipe().context("a pipe for the daemon's log")?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(out.try_clone().context("a pipe for the daemon's log")?)
            .stderr(out)
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        let lines = Arc::new(AtomicU64::new(0));
        {
            let (channel, lines) = (channel.clone(), lines.clone());
            std::thread::spawn(move || listen(log, &channel, &lines));
        }
        let mut running = Daemon {
            pid: child.id() as i32,
            channel,
            lines,
            ended: None,
            foreign: daemon.foreign,
        };
        let begin = now_ms();
        while running.lines.load(Ordering::Acquire) == 0 {
            running.wait();
            running.check()?;
            if running.foreign && now_ms() - begin > QUIET_MS {
                break;
            }
            if now_ms() - begin > PATIENCE_MS {
                bail!("{program} wrote no log for {} s", PATIENCE_MS / 1e3);
            }
            std::thread::sleep(TICK);
        }
        running
            .channel
            .event("daemon-start", format!("{}", running.pid));
        Ok(running)
    }

    /// Takes the end of a child of PID 1, which may be the daemon.
    pub fn reaped(&mut self, pid: Pid, status: WaitStatus) {
        if pid.as_raw_nonzero().get() == self.pid {
            self.ended = Some(status);
        }
    }

    /// Checks that the daemon is running.
    ///
    /// # Errors
    /// When it has ended by itself: the rest would measure another arm.
    pub fn check(&mut self) -> Result<()> {
        match self.ended {
            None => Ok(()),
            Some(status) => {
                // Its last lines are still on their way.
                std::thread::sleep(TICK * 10);
                let how = describe_end(status);
                self.channel.event("daemon-exit", how.clone());
                bail!("the daemon ended by itself: {how}; see its last lines in the events `daemon-log`")
            }
        }
    }

    fn wait(&mut self) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        if let Ok(Some((_, status))) = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) {
            self.ended = Some(status);
        }
    }

    /// The CPU time of all of the daemon's threads so far, in microseconds.
    pub fn cpu_us(&self) -> Option<f64> {
        let mut clock = 0;
        // SAFETY: an all-zero timespec is valid, and both calls write to what lives through them.
        let mut time: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let known = unsafe {
            libc::clock_getcpuclockid(self.pid, &mut clock) == 0
                && libc::clock_gettime(clock, &mut time) == 0
        };
        known.then_some(time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3)
    }

    /// Ends the daemon with SIGTERM, which gives its settings back, and reports its cost.
    ///
    /// # Errors
    /// When the daemon has ended before, does not end, or fails.
    pub fn stop(mut self) -> Result<()> {
        self.wait();
        self.check()?;
        self.channel.event("daemon-cost", cost(self.pid));
        let begin = now_ms();
        signal(self.pid, Signal::TERM);
        while self.ended.is_none() {
            if now_ms() - begin > PATIENCE_MS {
                signal(self.pid, Signal::KILL);
                bail!("the daemon did not end within {} s", PATIENCE_MS / 1e3);
            }
            std::thread::sleep(TICK);
            self.wait();
        }
        std::thread::sleep(TICK * 10);
        let how = self.ended.map_or_else(String::new, describe_end);
        let lines = self.lines.load(Ordering::Acquire);
        let ms = now_ms() - begin;
        let detail = format!("{how} after {ms:.0} ms; {lines} lines of log");
        self.channel.event("daemon-exit", detail);
        if how != "exit 0" && !self.foreign {
            bail!("SIGTERM ended the daemon with {how}");
        }
        Ok(())
    }
}

fn listen(log: impl Read, channel: &Channel, lines: &AtomicU64) {
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    // Read as bytes: a log need not be UTF-8, and a full pipe would stop the daemon.
    while log.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        if lines.fetch_add(1, Ordering::AcqRel) < LINES {
            let text = String::from_utf8_lossy(&line).trim_end().to_string();
            channel.event("daemon-log", text);
        }
        line.clear();
    }
}

/// The daemon's CPU time and memory: `cpu_ticks=` (user and system, 10 ms each), `run_ns=` where
/// the kernel counts it, `VmHWM=` and `VmRSS=` in KiB.
fn cost(pid: i32) -> String {
    let file = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
    let mut costs = Vec::new();
    if let Ok(stat) = file("stat") {
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map_or("", |(_, after)| after)
            .split_whitespace()
            .collect();
        let ticks = |n: usize| fields.get(n)?.parse::<u64>().ok();
        if let (Some(user), Some(system)) = (ticks(11), ticks(12)) {
            costs.push(format!("cpu_ticks={}", user + system));
        }
    }
    if let Some(ns) =
        { file("schedstat").ok() }.and_then(|text| text.split_whitespace().next().map(String::from))
    {
        costs.push(format!("run_ns={ns}"));
    }
    for line in file("status").unwrap_or_default().lines() {
        if let Some((name @ ("VmHWM" | "VmRSS"), value)) = line.split_once(':') {
            costs.push(format!("{name}={}", value.trim()));
        }
    }
    costs.join(" ")
}
