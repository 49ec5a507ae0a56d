//! The arm's daemon: started before the first scene, stopped after the last, and listened to.
use anyhow::{bail, Context, Result};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::play::{said, signal};

/// Lines of its log that are told as they come. Of a daemon that says more, the rest is counted.
const LINES: u64 = 2000;
/// How long it may take to say its first word, and to give everything back.
const PATIENCE_MS: f64 = 60_000.0;
/// Others than hotsetd need not say anything: after so long they are taken to be at work.
const QUIET_MS: f64 = 2000.0;
const TICK: Duration = Duration::from_millis(10);

/// A running daemon.
pub struct Daemon {
    pid: i32,
    channel: Arc<Channel>,
    /// Lines of its log so far.
    lines: Arc<AtomicU64>,
    ended: Option<WaitStatus>,
    foreign: bool,
}

impl Daemon {
    /// Starts it, and waits for its first word.
    ///
    /// # Errors
    /// When it cannot be started, ends at once or says nothing.
    pub fn start(daemon: &raw::spec::Daemon, channel: Arc<Channel>) -> Result<Daemon> {
        let command = &daemon.command;
        let (program, arguments) = command.split_first().context("the daemon has no program")?;
        if program.ends_with("/systemd-oomd") {
            crate::systemd::serve()?;
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
                bail!("{program} said nothing for {} s", PATIENCE_MS / 1e3);
            }
            std::thread::sleep(TICK);
        }
        running
            .channel
            .event("daemon-start", format!("{}", running.pid));
        Ok(running)
    }

    /// A child of PID 1 has ended, perhaps this one.
    pub fn reaped(&mut self, pid: Pid, status: WaitStatus) {
        if pid.as_raw_nonzero().get() == self.pid {
            self.ended = Some(status);
        }
    }

    /// # Errors
    /// When it has ended unasked: what follows would be the measurement of another arm.
    pub fn check(&mut self) -> Result<()> {
        match self.ended {
            None => Ok(()),
            Some(status) => {
                // Its last words are on their way.
                std::thread::sleep(TICK * 10);
                let how = said(status);
                self.channel.event("daemon-exit", how.clone());
                bail!("the daemon died: {how}; events daemon-log have its last words")
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

    /// Has it give everything back and end, and tells what it cost.
    ///
    /// # Errors
    /// When it had ended before, does not end, or ends otherwise than well.
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
        let how = self.ended.map_or_else(String::new, said);
        let lines = self.lines.load(Ordering::Acquire);
        let ms = now_ms() - begin;
        let detail = format!("{how} after {ms:.0} ms; {lines} lines of log");
        self.channel.event("daemon-exit", detail);
        if how != "exit 0" && !self.foreign {
            bail!("the daemon was told to end, and ended with {how}");
        }
        Ok(())
    }
}

fn listen(log: impl Read, channel: &Channel, lines: &AtomicU64) {
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    // By bytes: a log need not be UTF-8, and a pipe that nobody reads would stop the daemon.
    while log.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        if lines.fetch_add(1, Ordering::AcqRel) < LINES {
            let text = String::from_utf8_lossy(&line).trim_end().to_string();
            channel.event("daemon-log", text);
        }
        line.clear();
    }
}

/// CPU time and memory: `cpu_ticks=` (user and system, 10 ms each), `run_ns=` where the kernel keeps
/// it, `VmHWM=` and `VmRSS=` in KiB.
fn cost(pid: i32) -> String {
    let file = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
    let mut words = Vec::new();
    if let Ok(stat) = file("stat") {
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map_or("", |(_, after)| after)
            .split_whitespace()
            .collect();
        let ticks = |n: usize| fields.get(n)?.parse::<u64>().ok();
        if let (Some(user), Some(system)) = (ticks(11), ticks(12)) {
            words.push(format!("cpu_ticks={}", user + system));
        }
    }
    if let Some(ns) =
        { file("schedstat").ok() }.and_then(|text| text.split_whitespace().next().map(String::from))
    {
        words.push(format!("run_ns={ns}"));
    }
    for line in file("status").unwrap_or_default().lines() {
        if let Some((name @ ("VmHWM" | "VmRSS"), value)) = line.split_once(':') {
            words.push(format!("{name}={}", value.trim()));
        }
    }
    words.join(" ")
}
