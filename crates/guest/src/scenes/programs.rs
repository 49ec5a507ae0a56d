//! Workers that are programs: what they print, whether they are ready, and how they end.
use anyhow::{bail, Context, Result};
use protocol::spec::Workload;
use protocol::work::Program;
use regex_lite::Regex;
use rustix::process::WaitStatus;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::process::describe_end;

/// Lines of each worker that go to the lab. Further lines are only measured.
const LINES: u64 = 500;
/// Lines that an error quotes.
const TAIL: usize = 5;
/// Bytes of a line that are kept and measured.
const LONGEST: usize = 4096;
/// Milliseconds that the last lines of a program that has ended may take.
const LAST_MS: f64 = 500.0;
/// All memory of PID 1 is locked: a reader needs no more than this.
const STACK: usize = 256 << 10;

/// The processes of workers that are programs.
pub struct Programs {
    channel: Arc<Channel>,
    of: BTreeMap<String, Arc<Spoken>>,
    /// By the number of the process.
    heard: BTreeMap<i32, Heard>,
}

/// What the processes of one worker have printed.
struct Spoken {
    name: String,
    orders: Program,
    ready: Option<Regex>,
    /// Name, expression, and whether it has matched.
    measures: Vec<(String, Regex, AtomicBool)>,
    lines: AtomicU64,
    tail: Mutex<VecDeque<String>>,
    started: AtomicBool,
    /// A process was killed, or failed where it may: it need not have printed everything.
    cut: AtomicBool,
}

/// One process.
struct Heard {
    of: Arc<Spoken>,
    started_ms: f64,
    ready: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
}

impl Programs {
    /// # Errors
    /// When an expression does not compile.
    pub fn new(workload: &Workload, channel: Arc<Channel>) -> Result<Programs> {
        let mut of = BTreeMap::new();
        for (name, worker) in &workload.workers {
            if let Some(orders) = worker.does.program() {
                of.insert(name.clone(), Arc::new(Spoken::new(name, orders)?));
            }
        }
        Ok(Programs {
            channel,
            of,
            heard: BTreeMap::new(),
        })
    }

    /// Starts a process of a worker with its output in a pipe, and reads it from a thread of its own.
    ///
    /// # Errors
    /// When the process cannot be started: `raw_os_error` is that of the system.
    pub fn spawn(&mut self, name: &str, command: &mut Command) -> std::io::Result<i32> {
        let Some(of) = self.of.get(name).cloned() else {
            return Ok(command.spawn()?.id() as i32);
        };
        let (from, to) = std::io::pipe()?;
        command
            .stdin(Stdio::null())
            .stdout(to.try_clone()?)
            .stderr(to);
        let pid = command.spawn()?.id() as i32;
        // The command has the ends of the pipe that the process has: reading would never end.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        of.started.store(true, Ordering::Release);
        let heard = Heard {
            of,
            started_ms: now_ms(),
            ready: Arc::default(),
            closed: Arc::default(),
        };
        let (of, channel) = (heard.of.clone(), self.channel.clone());
        let (ready, closed) = (heard.ready.clone(), heard.closed.clone());
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                of.listen(from, &channel, &ready);
                closed.store(true, Ordering::Release);
            })?;
        self.heard.insert(pid, heard);
        Ok(pid)
    }

    /// Takes the end of a process that nobody asked for.
    ///
    /// # Errors
    /// When the program ended badly, or is a service.
    pub fn ended(&mut self, pid: i32, status: WaitStatus) -> Result<()> {
        let Some(heard) = self.heard.remove(&pid) else {
            return Ok(());
        };
        heard.wait();
        let (of, end) = (&heard.of, now_ms());
        let observe = |metric: &str, value| {
            self.channel
                .observe(format!("{}.{metric}", of.name), end, value);
        };
        if let Some(libc::SIGKILL | libc::SIGTERM) = status.terminating_signal() {
            of.cut.store(true, Ordering::Release);
            return Ok(());
        }
        let well = status.exit_status() == Some(0);
        if of.ready.is_some() || !(well || of.orders.may_fail) {
            bail!(
                "workers.{}.does.program.command: {} {} ({}){}",
                of.name,
                of.orders.command[0],
                if well {
                    "is a service, and ended by itself"
                } else {
                    "ended badly"
                },
                describe_end(status),
                of.last_lines()
            );
        }
        if well {
            observe("done_ms", end - heard.started_ms);
        } else {
            of.cut.store(true, Ordering::Release);
        }
        if of.orders.may_fail {
            observe("failed", f64::from(u8::from(!well)));
        }
        Ok(())
    }

    /// Forgets a process that was stopped, once its last lines have come.
    pub fn stopped(&mut self, pid: i32) {
        if let Some(heard) = self.heard.remove(&pid) {
            heard.wait();
        }
    }

    /// Whether all processes of services are ready.
    ///
    /// # Errors
    /// When one has taken too long.
    pub fn ready(&self) -> Result<bool> {
        let waiting =
            |heard: &&Heard| heard.of.ready.is_some() && !heard.ready.load(Ordering::Acquire);
        let Some(heard) = self.heard.values().find(waiting) else {
            return Ok(true);
        };
        let (of, limit) = (&heard.of, heard.of.orders.ready_s);
        if now_ms() - heard.started_ms > limit as f64 * 1e3 {
            bail!(
                "workers.{}.does.program.ready: no line of {} matched within {limit} s{}",
                of.name,
                of.orders.command[0],
                of.last_lines()
            );
        }
        Ok(false)
    }

    /// Checks, after the last scene, that each expression has matched.
    ///
    /// # Errors
    /// Names the first that has not. A worker whose processes were killed need not have printed all.
    pub fn finish(&self) -> Result<()> {
        for of in self.of.values() {
            if !of.started.load(Ordering::Acquire) || of.cut.load(Ordering::Acquire) {
                continue;
            }
            let unmatched = |one: &&(String, Regex, AtomicBool)| !one.2.load(Ordering::Acquire);
            if let Some((metric, expression, _)) = of.measures.iter().find(unmatched) {
                bail!(
                    "workers.{}.does.program.measure.{metric}: no line of {} matched {expression}{}",
                    of.name,
                    of.orders.command[0],
                    of.last_lines()
                );
            }
        }
        Ok(())
    }
}

impl Heard {
    /// Waits for the last lines. A child that the program leaves may keep the pipe open.
    fn wait(&self) {
        let begin = now_ms();
        while !self.closed.load(Ordering::Acquire) && now_ms() - begin < LAST_MS {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Spoken {
    fn new(name: &str, orders: &Program) -> Result<Spoken> {
        let compile = |field: &str, text: &str| {
            Regex::new(text).with_context(|| format!("workers.{name}.does.program.{field}"))
        };
        let ready = orders.ready.as_deref();
        let measures = orders.measure.iter().map(|(metric, text)| {
            let expression = compile(&format!("measure.{metric}"), text)?;
            Ok((metric.clone(), expression, AtomicBool::new(false)))
        });
        Ok(Spoken {
            name: name.into(),
            orders: orders.clone(),
            ready: ready.map(|text| compile("ready", text)).transpose()?,
            measures: measures.collect::<Result<_>>()?,
            lines: AtomicU64::new(0),
            tail: Mutex::default(),
            started: AtomicBool::new(false),
            cut: AtomicBool::new(false),
        })
    }

    fn listen(&self, from: PipeReader, channel: &Channel, ready: &AtomicBool) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while next_line(&mut from, &mut line) {
            if !line.is_empty() {
                self.take(&String::from_utf8_lossy(&line), channel, ready);
            }
        }
    }

    /// Takes one line: keeps it, and measures it.
    fn take(&self, line: &str, channel: &Channel, ready: &AtomicBool) {
        if self.lines.fetch_add(1, Ordering::AcqRel) < LINES {
            channel.event("program-output", format!("{}: {line}", self.name));
        }
        if let Ok(mut tail) = self.tail.lock() {
            if tail.len() == TAIL {
                tail.pop_front();
            }
            tail.push_back(line.to_string());
        }
        if self
            .ready
            .as_ref()
            .is_some_and(|ready| ready.is_match(line))
        {
            ready.store(true, Ordering::Release);
        }
        for (metric, value) in self.samples(line) {
            channel.observe(format!("{}.{metric}", self.name), now_ms(), value);
        }
    }

    /// The samples that a line has. A group that matches no number is no sample.
    fn samples<'a>(&'a self, line: &'a str) -> impl Iterator<Item = (&'a str, f64)> {
        self.measures
            .iter()
            .filter_map(move |(metric, expression, matched)| {
                let group = expression.captures(line)?.get(1)?.as_str();
                let value: f64 = group.replace(',', "").parse().ok()?;
                matched.store(true, Ordering::Release);
                Some((metric.as_str(), value))
            })
    }

    /// "; its last lines:" and the lines, for a message.
    fn last_lines(&self) -> String {
        let tail = self
            .tail
            .lock()
            .map(|tail| tail.clone())
            .unwrap_or_default();
        if tail.is_empty() {
            return "; it printed nothing".into();
        }
        let lines: Vec<String> = tail.into_iter().collect();
        format!("; its last lines:\n{}", lines.join("\n"))
    }
}

/// Reads up to the next end of a line, or of a line that progress overwrites. False at the end. What
/// of a line is longer than [`LONGEST`] is dropped.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    loop {
        let part = match from.fill_buf() {
            Ok([]) => return !line.is_empty(),
            Ok(part) => part,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return false,
        };
        let end = part.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let taken = &part[..end.unwrap_or(part.len())];
        let room = LONGEST - line.len();
        line.extend_from_slice(&taken[..taken.len().min(room)]);
        let used = taken.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_both_ends_of_lines_and_long_ones_are_cut() {
        let long = "x".repeat(LONGEST + 10);
        let text = format!("a\r20%\r\n{long}\nlast");
        let mut from = BufReader::with_capacity(7, text.as_bytes());
        let mut line = Vec::new();
        let mut lines = Vec::new();
        while next_line(&mut from, &mut line) {
            lines.push(String::from_utf8(line.clone()).unwrap());
        }
        assert_eq!(lines, ["a", "20%", "", &long[..LONGEST], "last"]);
    }

    #[test]
    fn each_matching_line_is_a_sample() {
        let orders: Program = serde_json::from_str(
            r#"{"command": ["p"], "measure": {"tps": "tps = ([0-9.,]+)", "n": "n=(\\w+)"}}"#,
        )
        .unwrap();
        let spoken = Spoken::new("p", &orders).unwrap();
        let samples = |line: &str| -> Vec<(String, f64)> {
            let found = spoken.samples(line);
            found
                .map(|(metric, value)| (metric.into(), value))
                .collect()
        };
        assert_eq!(samples("tps = 1,234.5 (x)"), [("tps".to_string(), 1234.5)]);
        assert_eq!(samples("n=3 tps = 2").len(), 2);
        assert_eq!(samples("nothing"), []);
        assert_eq!(samples("n=three"), [], "no number");
        let matched: Vec<bool> = { spoken.measures.iter() }
            .map(|(_, _, matched)| matched.load(Ordering::Acquire))
            .collect();
        assert_eq!(matched, [true, true]);
    }
}
