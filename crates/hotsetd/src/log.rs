//! The log: to stderr, syslog or journald, a line at a time, out of a fixed buffer.
use crate::text::Text;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::fmt;
use std::os::fd::OwnedFd;
use std::str::FromStr;

/// How much a line matters. A line is written when its number is at most the verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What keeps the daemon from its work.
    Error = 0,
    /// What keeps a module from its work, or what the administrator should look at.
    Warning = 1,
    /// Start, stop, knobs given back or yielded.
    Notice = 2,
    /// Each action with its reason.
    Action = 3,
    /// Each node's forecast.
    Forecast = 4,
    /// Rates, at every sample.
    Rates = 5,
}

impl Level {
    /// syslog(3)'s number for it.
    fn priority(self) -> u8 {
        match self {
            Level::Error => 3,
            Level::Warning => 4,
            Level::Notice => 5,
            Level::Action => 6,
            Level::Forecast | Level::Rates => 7,
        }
    }
}

/// Where the log goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// To journald when stderr is a stream of its, else to stderr.
    #[default]
    Auto,
    Stderr,
    Syslog,
    Journald,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "auto" => Ok(Target::Auto),
            "stderr" => Ok(Target::Stderr),
            "syslog" => Ok(Target::Syslog),
            "journald" => Ok(Target::Journald),
            _ => Err(format!(
                "{word:?} is none of auto, stderr, syslog, journald"
            )),
        }
    }
}

enum Sink {
    Stderr,
    Syslog(OwnedFd, SocketAddrUnix),
    Journald(OwnedFd, SocketAddrUnix),
    /// For tests: everything that was logged.
    Memory(Vec<String>),
    /// For tests that count allocations.
    Nowhere(u64),
}

/// Seconds after which something that is still wrong is said again.
const AGAIN_S: f64 = 600.0;

#[derive(Clone, Copy)]
struct Fault {
    what: u64,
    said_s: f64,
    kept_back: u32,
}

/// The log.
pub struct Log {
    sink: Sink,
    verbosity: u8,
    faults: Vec<Fault>,
}

impl Log {
    /// Opens the target. Where that fails it is stderr, and says so.
    pub fn open(target: Target, verbosity: u8) -> Log {
        let (sink, complaint) = match target {
            Target::Stderr => (Sink::Stderr, None),
            Target::Auto if !stderr_is_journald() => (Sink::Stderr, None),
            Target::Auto | Target::Journald => or_stderr(
                socket("/run/systemd/journal/socket"),
                Sink::Journald,
                "journald",
            ),
            Target::Syslog => or_stderr(socket("/dev/log"), Sink::Syslog, "syslog"),
        };
        let mut log = Log::to(sink, verbosity);
        if let Some(complaint) = complaint {
            log.line(Level::Warning, "log", format_args!("{complaint}"));
        }
        log
    }

    fn to(sink: Sink, verbosity: u8) -> Log {
        Log {
            sink,
            verbosity,
            faults: Vec::with_capacity(64),
        }
    }

    /// Keeps what is logged, for tests.
    pub fn to_memory(verbosity: u8) -> Log {
        Log::to(Sink::Memory(Vec::new()), verbosity)
    }

    /// Formats and counts what is logged, for tests that count allocations.
    pub fn to_nowhere(verbosity: u8) -> Log {
        Log::to(Sink::Nowhere(0), verbosity)
    }

    /// What [`Log::to_memory`] kept.
    pub fn lines(&self) -> &[String] {
        match &self.sink {
            Sink::Memory(lines) => lines,
            _ => &[],
        }
    }

    pub fn verbosity(&self) -> u8 {
        self.verbosity
    }

    pub fn set_verbosity(&mut self, verbosity: u8) {
        self.verbosity = verbosity;
    }

    /// Would a line of this level be written?
    pub fn wants(&self, level: Level) -> bool {
        level as u8 <= self.verbosity
    }

    /// Writes a line. That it cannot be written has nobody to be told to, and changes nothing.
    pub fn line(&mut self, level: Level, module: &str, words: fmt::Arguments) {
        if !self.wants(level) {
            return;
        }
        let mut text = Text::<1024>::of(words);
        text.one_line();
        let priority = level.priority();
        match &mut self.sink {
            Sink::Stderr => {
                let line = Text::<1200>::of(format_args!("hotsetd: {module}: {text}\n"));
                let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
            }
            Sink::Syslog(socket, address) => {
                // 3 is the facility of daemons.
                let pid = std::process::id();
                let pri = (3 << 3) | priority;
                let line =
                    Text::<1200>::of(format_args!("<{pri}>hotsetd[{pid}]: {module}: {text}"));
                send(socket, address, line.as_bytes());
            }
            Sink::Journald(socket, address) => {
                let line = Text::<1300>::of(format_args!(
                    "MESSAGE={module}: {text}\nPRIORITY={priority}\nSYSLOG_IDENTIFIER=hotsetd\n\
                     HOTSET_MODULE={module}\nHOTSET_VERBOSITY={}\n",
                    level as u8
                ));
                send(socket, address, line.as_bytes());
            }
            Sink::Memory(lines) => lines.push(format!("{module}: {text}")),
            Sink::Nowhere(count) => *count += text.as_bytes().len() as u64,
        }
    }

    /// A line about something that may be wrong for long: once when it begins, then every ten
    /// minutes. `what` tells faults apart. Returns whether it was said.
    pub fn fault(&mut self, now_s: f64, what: u64, module: &str, words: fmt::Arguments) -> bool {
        let at = self.faults.iter().position(|fault| fault.what == what);
        let kept_back = match at.map(|at| &mut self.faults[at]) {
            Some(fault) if now_s - fault.said_s < AGAIN_S => {
                fault.kept_back = fault.kept_back.saturating_add(1);
                return false;
            }
            Some(fault) => {
                fault.said_s = now_s;
                std::mem::take(&mut fault.kept_back)
            }
            None => {
                // More different faults than there is room for: the oldest makes room.
                if self.faults.len() == self.faults.capacity() {
                    self.faults.remove(0);
                }
                self.faults.push(Fault {
                    what,
                    said_s: now_s,
                    kept_back: 0,
                });
                0
            }
        };
        if kept_back > 0 {
            let words = format_args!("{words} (and {kept_back} times since it was last said)");
            self.line(Level::Warning, module, words);
        } else {
            self.line(Level::Warning, module, words);
        }
        true
    }

    /// It is well again; says so if it had been said to be wrong.
    pub fn well(&mut self, what: u64, module: &str, words: fmt::Arguments) {
        if let Some(at) = self.faults.iter().position(|fault| fault.what == what) {
            self.faults.remove(at);
            self.line(Level::Notice, module, words);
        }
    }

    /// Is anything wrong at the moment?
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }
}

/// A number that tells faults apart: FNV-1a of the parts.
pub fn fault_of(parts: &[&str]) -> u64 {
    parts
        .iter()
        .flat_map(|part| part.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

fn or_stderr(
    opened: rustix::io::Result<(OwnedFd, SocketAddrUnix)>,
    sink: fn(OwnedFd, SocketAddrUnix) -> Sink,
    name: &str,
) -> (Sink, Option<String>) {
    match opened {
        Ok((socket, address)) => (sink(socket, address), None),
        Err(error) => (
            Sink::Stderr,
            Some(format!(
                "{name} cannot be reached ({error}): logging to stderr"
            )),
        ),
    }
}

/// A datagram socket and where it sends. The address is kept, not connected to: whoever listens
/// there may be started anew.
fn socket(place: &str) -> rustix::io::Result<(OwnedFd, SocketAddrUnix)> {
    let address = SocketAddrUnix::new(place)?;
    rustix::fs::stat(place)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    Ok((socket, address))
}

fn send(socket: &OwnedFd, address: &SocketAddrUnix, bytes: &[u8]) {
    // Not waited for: a log that is full must not stop the loop.
    let _ = rustix::net::sendto(socket, bytes, SendFlags::NOSIGNAL, address);
}

/// Does stderr go to journald? systemd says so in `JOURNAL_STREAM`: device and inode.
fn stderr_is_journald() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else {
        return false;
    };
    rustix::fs::fstat(rustix::stdio::stderr())
        .is_ok_and(|stat| stream == format!("{}:{}", stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_above_the_verbosity_is_left_out() {
        let mut log = Log::to_memory(3);
        log.line(Level::Action, "a", format_args!("yes"));
        log.line(Level::Forecast, "a", format_args!("no"));
        assert_eq!(log.lines(), ["a: yes"]);
    }

    #[test]
    fn a_fault_is_said_once_and_again_after_ten_minutes() {
        let mut log = Log::to_memory(3);
        let what = fault_of(&["sample", "/proc/vmstat"]);
        for second in 0..1000 {
            log.fault(
                f64::from(second),
                what,
                "sample",
                format_args!("vmstat is gone"),
            );
        }
        assert_eq!(log.lines().len(), 2);
        assert!(log.lines()[1].contains("599 times"), "{:?}", log.lines());
        log.well(what, "sample", format_args!("vmstat is back"));
        log.well(what, "sample", format_args!("vmstat is back"));
        assert_eq!(log.lines().len(), 3);
        log.fault(1001.0, what, "sample", format_args!("vmstat is gone"));
        assert_eq!(log.lines().len(), 4);
    }

    #[test]
    fn more_faults_than_there_is_room_for() {
        let mut log = Log::to_memory(3);
        for number in 0..500u64 {
            log.fault(0.0, number, "sample", format_args!("{number}"));
        }
        assert_eq!(log.lines().len(), 500);
    }

    /// What a sink sends, seen from a socket that stands for its reader.
    fn sent(sink: fn(OwnedFd, SocketAddrUnix) -> Sink) -> String {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("socket");
        let reader = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
        let (fd, address) = socket(place.to_str().unwrap()).unwrap();
        let mut log = Log::to(sink(fd, address), 5);
        log.line(Level::Warning, "sample", format_args!("one\nPRIORITY=0"));
        let mut bytes = [0; 1024];
        let length = reader.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[test]
    fn journald_gets_its_fields_and_nobody_else_can_add_one() {
        assert_eq!(
            sent(Sink::Journald),
            "MESSAGE=sample: one PRIORITY=0\nPRIORITY=4\nSYSLOG_IDENTIFIER=hotsetd\n\
             HOTSET_MODULE=sample\nHOTSET_VERBOSITY=1\n"
        );
    }

    #[test]
    fn syslog_gets_its_priority() {
        let pid = std::process::id();
        assert_eq!(
            sent(Sink::Syslog),
            format!("<28>hotsetd[{pid}]: sample: one PRIORITY=0")
        );
    }
}
