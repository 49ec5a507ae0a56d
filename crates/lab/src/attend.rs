//! Listens to a guest until it ends, is told to, or is given up.
use crate::bed::Guest;
use crate::stop::Stop;
use anyhow::{Context, Result};
use raw::wire::Line;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Console lines kept for a trial that did not end well.
pub const TAIL: usize = 100;
/// How long a guest may take to power off after its last word or a panic.
const FAREWELL: Duration = Duration::from_secs(20);
/// The kernel says this first of all when it panics.
const PANIC: &str = "Kernel panic - not syncing";
/// A line longer than this is not one of a guest's.
const LONGEST: usize = 1 << 20;

/// When a guest is given up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Without a line from the guest.
    pub silent: Duration,
    /// In all.
    pub total: Duration,
}

/// Why listening ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The guest said that it was finished.
    Finished,
    /// The guest said why it could not go on.
    Error(String),
    Panic(String),
    Silent,
    TooLong,
    /// The guest's process ended without a last word; how.
    Died(String),
    /// hotset was asked to stop.
    Stopped,
}

/// What was heard, apart from the lines themselves.
#[derive(Clone, Debug)]
pub struct Heard {
    pub ending: Ending,
    /// Last lines of the console.
    pub tail: Vec<String>,
    /// From the start of the process to the first line, and to the end.
    pub boot: Duration,
    pub wall: Duration,
    /// Lines of the channel that could not be read; the first of them, and how many.
    pub garbled: Option<(String, u64)>,
}

/// Reads the guest's lines until it has ended. `on_line` gets each line of the channel; the console
/// is copied to `log`. The guest's processes are gone when this returns.
///
/// # Errors
/// When the log cannot be written, or `on_line` fails.
pub fn attend(
    guest: &mut Guest,
    log: &mut dyn Write,
    limits: Limits,
    stop: &Stop,
    on_line: &mut dyn FnMut(Line) -> Result<()>,
) -> Result<Heard> {
    let mut ears = Ears {
        channel: Split::default(),
        console: Split::default(),
        tail: VecDeque::new(),
        panic: None,
        last_word: None,
        first: None,
        heard: guest.started,
        farewell: None,
        garbled: None,
    };
    let cut = ears.listen(guest, log, limits, stop, on_line)?;
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
        None => Ending::Died("its lines closed, and it had to be killed".into()),
    };
    let ending = match (ears.last_word, ears.panic, cut) {
        (Some(Ending::Error(message)), _, _) => Ending::Error(message),
        (_, Some(message), _) => Ending::Panic(message),
        (Some(said), _, _) => said,
        (_, _, Some(cut)) => cut,
        _ => died(),
    };
    Ok(Heard {
        ending,
        tail: ears.tail.into(),
        boot: ears.first.map_or(wall, |at| at - guest.started),
        wall,
        garbled: ears.garbled,
    })
}

/// The state of listening.
struct Ears {
    channel: Split,
    console: Split,
    tail: VecDeque<String>,
    panic: Option<String>,
    last_word: Option<Ending>,
    first: Option<Instant>,
    heard: Instant,
    /// Set once the guest is about to end by itself.
    farewell: Option<Instant>,
    garbled: Option<(String, u64)>,
}

impl Ears {
    /// None when both lines closed, else why it was cut short.
    fn listen(
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
            let (channel, console) = guest.lines();
            let (ready_channel, ready_console) = {
                let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
                if channel_open {
                    fds.push(PollFd::from_borrowed_fd(channel, PollFlags::IN));
                }
                if console_open {
                    fds.push(PollFd::from_borrowed_fd(console, PollFlags::IN));
                }
                let wait = Timespec::try_from(until - now).ok();
                match poll(&mut fds, wait.as_ref()) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error).context("waiting for the guest"),
                }
                let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
                (
                    channel_open && ready(1),
                    console_open && ready(1 + usize::from(channel_open)),
                )
            };
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
                let said = line[at + PANIC.len()..].trim_start_matches(':').trim();
                self.panic = Some(if said.is_empty() { PANIC } else { said }.to_string());
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
                    Line::End { .. } => self.last_word = Some(Ending::Finished),
                    Line::Error { message } => {
                        self.last_word = Some(Ending::Error(message.clone()))
                    }
                    _ => {}
                }
                if self.last_word.is_some() {
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

/// What is readable, nothing at the end. None when there is nothing after all: poll(2) will say
/// when there is.
fn read<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Result<Option<&'b [u8]>> {
    match rustix::io::read(fd.as_fd(), &mut *buffer) {
        Ok(n) => Ok(Some(&buffer[..n])),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(None),
        // The other end was killed with bytes of ours unread.
        Err(rustix::io::Errno::CONNRESET) => Ok(Some(&[])),
        Err(error) => Err(error).context("reading from the guest"),
    }
}

/// Bytes to whole lines.
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
