//! Listens to a guest until the guest ends, the user stops it, or a time limit is over.
use crate::bed::Guest;
use crate::host::stop::Stop;
use anyhow::{Context, Result};
use protocol::wire::Line;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Console lines kept for a trial that did not end well.
pub const TAIL: usize = 100;
/// The longest that a guest may take to power off after its last line or a panic.
const FAREWELL: Duration = Duration::from_secs(20);
/// A part of the first line that the kernel prints when it panics.
const PANIC: &str = "Kernel panic - not syncing";
/// The length in bytes above which a line is dropped: no guest writes one so long.
const LONGEST: usize = 1 << 20;

/// The times after which a guest is given up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest time without a line from the guest.
    pub silent: Duration,
    /// The longest time in all.
    pub total: Duration,
}

/// The reason why listening ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The guest sent its end.
    Finished,
    /// The guest sent an error of its own.
    Error(String),
    Panic(String),
    Silent,
    TooLong,
    /// The guest's process ended, in this way, without an end or an error.
    Died(String),
    /// The user stopped hotset.
    Stopped,
}

/// The result of listening, apart from the lines themselves.
#[derive(Clone, Debug)]
pub struct Heard {
    pub ending: Ending,
    /// The last lines of the console.
    pub tail: Vec<String>,
    /// From the start of the process to the first line of the channel.
    pub boot: Duration,
    /// From the start of the process to its end.
    pub wall: Duration,
    /// The first line of the channel that could not be parsed, and the number of such lines.
    pub garbled: Option<(String, u64)>,
}

/// Reads the guest's lines until the guest has ended. `on_line` gets each line of the channel; `log`
/// gets a copy of the console. The guest's processes are gone when this function returns.
///
/// # Errors
/// When the log cannot be written, or `on_line` fails.
pub fn listen(
    guest: &mut Guest,
    log: &mut dyn Write,
    limits: Limits,
    stop: &Stop,
    on_line: &mut dyn FnMut(Line) -> Result<()>,
) -> Result<Heard> {
    let mut listener = Listener {
        channel: Split::default(),
        console: Split::default(),
        tail: VecDeque::new(),
        panic: None,
        last_line: None,
        first: None,
        heard: guest.started,
        farewell: None,
        garbled: None,
    };
    let cut = listener.read_lines(guest, log, limits, stop, on_line)?;
    let patience = if cut.is_some() {
        Duration::ZERO
    } else {
        Duration::from_secs(5)
    };
    let status = guest.end(patience);
    let wall = guest.started.elapsed();
    let died = || match status {
        Some(status) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Ending::Died(format!("exit status {code}")),
            (_, Some(signal)) => Ending::Died(format!("signal {signal}")),
            _ => Ending::Died("in an unknown way".into()),
        },
        None => Ending::Died("the guest closed its lines, and had to be killed".into()),
    };
    let ending = match (listener.last_line, listener.panic, cut) {
        (Some(Ending::Error(message)), _, _) => Ending::Error(message),
        (_, Some(message), _) => Ending::Panic(message),
        (Some(last), _, _) => last,
        (_, _, Some(cut)) => cut,
        _ => died(),
    };
    Ok(Heard {
        ending,
        tail: listener.tail.into(),
        boot: listener.first.map_or(wall, |at| at - guest.started),
        wall,
        garbled: listener.garbled,
    })
}

/// The state of listening.
struct Listener {
    channel: Split,
    console: Split,
    tail: VecDeque<String>,
    panic: Option<String>,
    last_line: Option<Ending>,
    first: Option<Instant>,
    heard: Instant,
    /// Set once the guest is about to end by itself.
    farewell: Option<Instant>,
    garbled: Option<(String, u64)>,
}

impl Listener {
    /// Reads both lines until they close. Returns the reason if reading ends before.
    fn read_lines(
        &mut self,
        guest: &Guest,
        log: &mut dyn Write,
        limits: Limits,
        stop: &Stop,
        on_line: &mut dyn FnMut(Line) -> Result<()>,
    ) -> Result<Option<Ending>> {
        let mut buffer = vec![0u8; 1 << 16];
        let (mut channel_open, mut console_open) = (true, true);
        while channel_open || console_open {
            let now = Instant::now();
            if stop.asked() {
                return Ok(Some(Ending::Stopped));
            }
            let until = match self.farewell {
                Some(farewell) => farewell + FAREWELL,
                None => (self.heard + limits.silent).min(guest.started + limits.total),
            };
            if now >= until {
                let silent = now >= self.heard + limits.silent;
                return Ok(Some(if silent {
                    Ending::Silent
                } else {
                    Ending::TooLong
                }));
            }
            let open = (channel_open, console_open);
            let (ready_channel, ready_console) = wait(guest, open, stop, until - now)?;
            if ready_console {
                if let Some(bytes) = read(&guest.console, &mut buffer)? {
                    console_open = !bytes.is_empty();
                    log.write_all(bytes).context("writing the console's log")?;
                    for line in self.console.lines(bytes) {
                        self.console_line(line);
                    }
                }
            }
            if ready_channel {
                if let Some(bytes) = read(&guest.channel, &mut buffer)? {
                    channel_open = !bytes.is_empty();
                    for line in self.channel.lines(bytes) {
                        self.channel_line(&line, on_line)?;
                    }
                }
            }
        }
        log.flush().context("writing the console's log")?;
        Ok(None)
    }

    fn console_line(&mut self, line: String) {
        if self.panic.is_none() {
            if let Some(at) = line.find(PANIC) {
                let reason = line[at + PANIC.len()..].trim_start_matches(':').trim();
                self.panic = Some(if reason.is_empty() { PANIC } else { reason }.to_string());
                self.farewell = Some(Instant::now());
            }
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    fn channel_line(
        &mut self,
        text: &str,
        on_line: &mut dyn FnMut(Line) -> Result<()>,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let now = Instant::now();
        match serde_json::from_str::<Line>(text) {
            Ok(line) => {
                self.heard = now;
                self.first.get_or_insert(now);
                match &line {
                    Line::End { .. } => self.last_line = Some(Ending::Finished),
                    Line::Error { message } => {
                        self.last_line = Some(Ending::Error(message.clone()))
                    }
                    _ => {}
                }
                if self.last_line.is_some() {
                    self.farewell = Some(now);
                }
                on_line(line)
            }
            Err(_) => {
                let garbled = self.garbled.get_or_insert_with(|| (text.to_string(), 0));
                garbled.1 += 1;
                Ok(())
            }
        }
    }
}

/// Waits until the channel or the console, as far as they are `open`, can be read, the user stops
/// hotset, or `limit` is over. Returns which of the two can be read.
fn wait(guest: &Guest, open: (bool, bool), stop: &Stop, limit: Duration) -> Result<(bool, bool)> {
    let (channel, console) = guest.lines();
    let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
    if open.0 {
        fds.push(PollFd::from_borrowed_fd(channel, PollFlags::IN));
    }
    if open.1 {
        fds.push(PollFd::from_borrowed_fd(console, PollFlags::IN));
    }
    let limit = Timespec::try_from(limit).ok();
    match poll(&mut fds, limit.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error).context("waiting for the guest"),
    }
    let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
    Ok((open.0 && ready(1), open.1 && ready(1 + usize::from(open.0))))
}

/// The readable bytes; an empty slice at the end. None when no byte is readable after all, and
/// poll(2) is to be called again.
fn read<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Result<Option<&'b [u8]>> {
    match rustix::io::read(fd.as_fd(), &mut *buffer) {
        Ok(n) => Ok(Some(&buffer[..n])),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(None),
        // The other end was killed before it read all bytes that it was sent.
        Err(rustix::io::Errno::CONNRESET) => Ok(Some(&[])),
        Err(error) => Err(error).context("reading from the guest"),
    }
}

/// Splits bytes into whole lines.
#[derive(Default)]
struct Split {
    rest: Vec<u8>,
}

impl Split {
    fn lines(&mut self, bytes: &[u8]) -> Vec<String> {
        self.rest.extend(bytes);
        let mut lines = Vec::new();
        let mut begin = 0;
        for at in 0..self.rest.len() {
            if self.rest[at] == b'\n' {
                let line = String::from_utf8_lossy(&self.rest[begin..at]);
                lines.push(line.trim_end_matches('\r').to_string());
                begin = at + 1;
            }
        }
        self.rest.drain(..begin);
        if self.rest.len() > LONGEST {
            self.rest.clear();
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::Split;

    #[test]
    fn lines_survive_being_cut_anywhere() {
        let text = b"{\"a\":1}\r\n\nlast\nrest";
        for cut in 0..text.len() {
            let mut split = Split::default();
            let mut lines = split.lines(&text[..cut]);
            lines.extend(split.lines(&text[cut..]));
            assert_eq!(lines, ["{\"a\":1}", "", "last"], "cut at {cut}");
        }
    }
}
