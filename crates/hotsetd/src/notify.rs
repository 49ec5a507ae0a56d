//! Telling systemd: ready, stopping, still alive, and what it shows as the unit's status.
use crate::text::Text;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

/// The socket of sd_notify(3), or nothing where the environment names none.
pub struct Notify {
    socket: Option<(OwnedFd, SocketAddrUnix)>,
    /// What the unit says, and what holds now.
    unit_s: Option<f64>,
    watchdog_s: Option<f64>,
}

/// The watchdog while a knob that steers reclaim may be changed: a daemon that is stopped then is
/// killed, and `--restore` gives back, within this many seconds.
const STRICT_S: f64 = 10.0;

impl Notify {
    /// As `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` say.
    pub fn from_environment() -> Notify {
        let variable = |name| std::env::var(name).ok();
        let mine = variable("WATCHDOG_PID").is_none_or(|pid| pid == std::process::id().to_string());
        let watchdog_s = variable("WATCHDOG_USEC")
            .filter(|_| mine)
            .and_then(|us| us.parse::<u64>().ok())
            .filter(|&us| us > 0)
            .map(|us| us as f64 / 1e6);
        Notify {
            socket: variable("NOTIFY_SOCKET").and_then(|place| open(&place)),
            unit_s: watchdog_s,
            watchdog_s,
        }
    }

    /// Seconds between two signs of life: half of what systemd waits, as sd_watchdog_enabled(3)
    /// advises.
    pub fn interval_s(&self) -> Option<f64> {
        self.watchdog_s.map(|seconds| seconds / 2.0)
    }

    /// Has systemd wait for less, or as long as the unit says again. Whether that is anything new.
    pub fn be_strict(&mut self, strict: bool) -> bool {
        let wanted_s = match strict {
            true => self.unit_s.map(|seconds| seconds.min(STRICT_S)),
            false => self.unit_s,
        };
        let changed = wanted_s != self.watchdog_s;
        if let (Some(seconds), true) = (wanted_s, changed) {
            let words = Text::<48>::of(format_args!("WATCHDOG_USEC={:.0}", seconds * 1e6));
            self.watchdog_s = wanted_s;
            self.send(words.as_str());
        }
        changed
    }

    /// Sends it, such as `READY=1`. Whether systemd takes it makes no difference to the daemon.
    pub fn send(&self, words: &str) {
        if let Some((socket, address)) = &self.socket {
            let flags = rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT;
            let _ = rustix::net::sendto(socket, words.as_bytes(), flags, address);
        }
    }
}

fn open(place: &str) -> Option<(OwnedFd, SocketAddrUnix)> {
    let address = match place.strip_prefix('@') {
        Some(name) => SocketAddrUnix::new_abstract_name(name.as_bytes()),
        None => SocketAddrUnix::new(place),
    };
    let flags = SocketFlags::CLOEXEC;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None).ok()?;
    Some((socket, address.ok()?))
}
