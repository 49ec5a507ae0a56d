//! The log: to stderr, syslog or journald, a line at a time, from a buffer of fixed size.
use crate::os::fixed_string::Text;
use crate::telemetry::target::{socket, JOURNALD, SYSLOG};
use rustix::net::{SendFlags, SocketAddrUnix};
use std::fmt;
use std::os::fd::OwnedFd;

pub use crate::telemetry::target::Target;

/// The importance of a line. A line is written if its number is at most the verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// An error that keeps the daemon from its work.
    Error = 0,
    /// A condition that keeps a module from its work, or that the administrator should
    /// check.
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
    /// The level's number in syslog(3).
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

enum Sink {
    Stderr,
    Syslog(OwnedFd, SocketAddrUnix),
    Journald(OwnedFd, SocketAddrUnix),
    /// For tests: everything that was logged.
    Memory(Vec<String>),
    /// For tests that count allocations.
    Nowhere(u64),
}

/// Seconds after which a condition that still lasts is logged again.
const AGAIN_S: f64 = 600.0;

/// A condition that a warning was logged of.
#[derive(Clone, Copy)]
struct Standing {
    condition: u64,
    logged_s: f64,
    suppressed: u32,
}

/// The log.
pub struct Log {
    sink: Sink,
    verbosity: u8,
    standing: Vec<Standing>,
}

impl Log {
    /// Opens the target. If that fails, the log goes to stderr, and begins with a warning.
    pub fn open(target: Target, verbosity: u8) -> Log {
        let (sink, complaint) = match target {
            Target::Stderr => (Sink::Stderr, None),
            Target::Auto if !stderr_is_journald() => (Sink::Stderr, None),
            Target::Auto | Target::Journald => {
                or_stderr(socket(JOURNALD), Sink::Journald, "journald")
            }
            Target::Syslog => or_stderr(socket(SYSLOG), Sink::Syslog, "syslog"),
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
            standing: Vec::with_capacity(64),
        }
    }

    /// A log that keeps its lines, for tests.
    pub fn to_memory(verbosity: u8) -> Log {
        Log::to(Sink::Memory(Vec::new()), verbosity)
    }

    /// A log that formats and counts its lines, for tests that count allocations.
    pub fn to_nowhere(verbosity: u8) -> Log {
        Log::to(Sink::Nowhere(0), verbosity)
    }

    /// The lines that [`Log::to_memory`] kept.
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

    /// Whether a line of this level is written.
    pub fn wants(&self, level: Level) -> bool {
        level as u8 <= self.verbosity
    }

    /// Writes a line. A line that cannot be written is lost.
    pub fn line(&mut self, level: Level, module: &str, text: fmt::Arguments) {
        self.event(level, module, text, "", &[]);
    }

    /// [`Log::line`] of an event that programs look for. journald gets its `MESSAGE_ID`, 32 hexadecimal digits, and
    /// `fields`, by names in capitals.
    pub fn event(
        &mut self,
        level: Level,
        module: &str,
        text: fmt::Arguments,
        id: &str,
        fields: &[(&str, &dyn fmt::Display)],
    ) {
        if !self.wants(level) {
            return;
        }
        let mut text = Text::<1024>::of(text);
        text.drop_error_numbers();
        text.one_line();
        let priority = level.priority();
        match &mut self.sink {
            Sink::Stderr => {
                // syslog and journald date their lines themselves.
                let time = time_of_day();
                let line = Text::<1200>::of(format_args!("hotsetd: {time} {module}: {text}\n"));
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
                let mut line = Text::<2500>::of(format_args!(
                    "MESSAGE={module}: {text}\nPRIORITY={priority}\nSYSLOG_IDENTIFIER=hotsetd\n\
                     HOTSET_MODULE={module}\nHOTSET_VERBOSITY={}\n",
                    level as u8
                ));
                if !id.is_empty() {
                    line.put(format_args!("MESSAGE_ID={id}\n"));
                }
                for (name, value) in fields {
                    let mut value = Text::<256>::of(format_args!("{value}"));
                    value.one_line();
                    line.put(format_args!("{name}={value}\n"));
                }
                send(socket, address, line.as_bytes());
            }
            Sink::Memory(lines) => lines.push(format!("{module}: {text}")),
            Sink::Nowhere(count) => *count += text.as_bytes().len() as u64,
        }
    }

    /// Warns of a condition that may last: once when it begins, then every ten minutes.
    /// [`condition`] numbers it. Returns whether the line was logged.
    pub fn warn(&mut self, now_s: f64, condition: u64, module: &str, text: fmt::Arguments) -> bool {
        let at = self
            .standing
            .iter()
            .position(|standing| standing.condition == condition);
        let suppressed = match at.map(|at| &mut self.standing[at]) {
            Some(standing) if now_s - standing.logged_s < AGAIN_S => {
                standing.suppressed = standing.suppressed.saturating_add(1);
                return false;
            }
            Some(standing) => {
                standing.logged_s = now_s;
                std::mem::take(&mut standing.suppressed)
            }
            None => {
                // More conditions than there is room for: the oldest makes room.
                if self.standing.len() == self.standing.capacity() {
                    self.standing.remove(0);
                }
                self.standing.push(Standing {
                    condition,
                    logged_s: now_s,
                    suppressed: 0,
                });
                0
            }
        };
        if suppressed > 0 {
            let text = format_args!("{text} (and {suppressed} times since the last message)");
            self.line(Level::Warning, module, text);
        } else {
            self.line(Level::Warning, module, text);
        }
        true
    }

    /// The condition has ended: logs the line if the condition was warned of.
    pub fn resolved(&mut self, condition: u64, module: &str, text: fmt::Arguments) {
        if let Some(at) = self
            .standing
            .iter()
            .position(|standing| standing.condition == condition)
        {
            self.standing.remove(at);
            self.line(Level::Notice, module, text);
        }
    }

    /// Whether any condition lasts that was warned of.
    pub fn has_warnings(&self) -> bool {
        !self.standing.is_empty()
    }
}

/// A number for a condition: FNV-1a of the parts.
pub fn condition(parts: &[&str]) -> u64 {
    random::fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0])))
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

/// The local time of day. After the first call it allocates nothing.
fn time_of_day() -> Text<16> {
    let now = crate::os::process::unix_s() as libc::time_t;
    // SAFETY: the structure is plain data, and localtime_r fills it.
    let local = unsafe {
        let mut local: libc::tm = std::mem::zeroed();
        libc::localtime_r(&now, &mut local);
        local
    };
    let (hour, minute, second) = (local.tm_hour, local.tm_min, local.tm_sec);
    Text::of(format_args!("{hour:02}:{minute:02}:{second:02}"))
}

fn send(socket: &OwnedFd, address: &SocketAddrUnix, bytes: &[u8]) {
    // Without waiting: a full log must not stop the event loop.
    let _ = rustix::net::sendto(socket, bytes, SendFlags::NOSIGNAL, address);
}

/// Whether stderr goes to journald. systemd shows it in `JOURNAL_STREAM`: device and inode.
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
    fn the_name_of_a_process_cannot_control_the_terminal() {
        let mut log = Log::to_memory(3);
        let name = "evil\x1b[2J\r\u{9b}1m";
        log.line(Level::Action, "protect", format_args!("killed {name}"));
        assert!(
            !log.lines()[0].contains(char::is_control),
            "{:?}",
            log.lines()
        );
    }

    #[test]
    fn a_time_of_day_has_hours_minutes_and_seconds() {
        let time = time_of_day();
        let parts: Vec<u32> = time
            .as_str()
            .split(':')
            .map(|n| n.parse().unwrap())
            .collect();
        assert!(parts.len() == 3 && parts[0] < 24 && parts[1] < 60 && parts[2] <= 60);
    }

    #[test]
    fn a_condition_is_logged_once_and_again_after_ten_minutes() {
        let mut log = Log::to_memory(3);
        let vmstat = condition(&["sample", "/proc/vmstat"]);
        for second in 0..1000 {
            log.warn(
                f64::from(second),
                vmstat,
                "sample",
                format_args!("vmstat is gone"),
            );
        }
        assert_eq!(log.lines().len(), 2);
        assert!(log.lines()[1].contains("599 times"), "{:?}", log.lines());
        log.resolved(vmstat, "sample", format_args!("vmstat is back"));
        log.resolved(vmstat, "sample", format_args!("vmstat is back"));
        assert_eq!(log.lines().len(), 3);
        log.warn(1001.0, vmstat, "sample", format_args!("vmstat is gone"));
        assert_eq!(log.lines().len(), 4);
    }

    #[test]
    fn more_conditions_than_there_is_room_for_are_all_logged() {
        let mut log = Log::to_memory(3);
        for number in 0..500u64 {
            log.warn(0.0, number, "sample", format_args!("{number}"));
        }
        assert_eq!(log.lines().len(), 500);
    }

    /// The datagram that a sink sends to its reader.
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
    fn a_message_cannot_add_a_field_for_journald() {
        assert_eq!(
            sent(Sink::Journald),
            "MESSAGE=sample: one PRIORITY=0\nPRIORITY=4\nSYSLOG_IDENTIFIER=hotsetd\n\
             HOTSET_MODULE=sample\nHOTSET_VERBOSITY=1\n"
        );
    }

    #[test]
    fn an_event_has_fields_that_cannot_add_others() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("log");
        let reader = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
        let (fd, address) = socket(place.to_str().unwrap()).unwrap();
        let mut log = Log::to(Sink::Journald(fd, address), 5);
        let fields: [(&str, &dyn fmt::Display); 2] =
            [("HOTSET_PID", &7), ("HOTSET_NAME", &"a\nPRIORITY=0")];
        log.event(
            Level::Warning,
            "protect",
            format_args!("one"),
            "ab12",
            &fields,
        );
        let mut bytes = [0; 1024];
        let length = reader.recv(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
        let wanted = "MESSAGE_ID=ab12\nHOTSET_PID=7\nHOTSET_NAME=a PRIORITY=0\n";
        assert!(text.ends_with(wanted), "{text}");
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
