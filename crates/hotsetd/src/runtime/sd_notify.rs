//! Notifies systemd: ready, stopping, still alive.
use crate::os::fixed_string::Text;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

/// The socket of sd_notify(3), or nothing where the environment names none.
pub struct Notify {
    socket: Option<(OwnedFd, SocketAddrUnix)>,
    /// Seconds of the unit's watchdog.
    unit_s: Option<f64>,
    /// Seconds of the watchdog at present.
    watchdog_s: Option<f64>,
}

/// Seconds of the watchdog while vm.swappiness may be changed. systemd kills a stopped daemon
/// after that long, and `--restore` gives the knob back.
const STRICT_S: f64 = 10.0;

impl Notify {
    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
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

    /// Seconds between two notices to the watchdog: half of its time, as
    /// sd_watchdog_enabled(3) advises.
    pub fn interval_s(&self) -> Option<f64> {
        self.watchdog_s.map(|seconds| seconds / 2.0)
    }

    /// Sets systemd's watchdog to the shorter time, or to the unit's. Returns whether the time
    /// has changed.
    pub fn be_strict(&mut self, strict: bool) -> bool {
        let wanted_s = match strict {
            true => self.unit_s.map(|seconds| seconds.min(STRICT_S)),
            false => self.unit_s,
        };
        let changed = wanted_s != self.watchdog_s;
        if let (Some(seconds), true) = (wanted_s, changed) {
            let text = Text::<48>::of(format_args!("WATCHDOG_USEC={:.0}", seconds * 1e6));
            self.watchdog_s = wanted_s;
            self.send(text.as_str());
        }
        changed
    }

    /// Tells systemd that a reload has begun. It ends with `READY=1`.
    pub fn reloading(&self) {
        // Type=notify-reload wants the moment by the clock that systemd asks.
        let now_us = crate::os::process::now_s() * 1e6;
        let text = Text::<64>::of(format_args!("RELOADING=1\nMONOTONIC_USEC={now_us:.0}"));
        self.send(text.as_str());
    }

    /// Sends a notice, such as `READY=1`. The daemon goes on whether or not systemd takes
    /// it.
    pub fn send(&self, text: &str) {
        if let Some((socket, address)) = &self.socket {
            let flags = rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT;
            let _ = rustix::net::sendto(socket, text.as_bytes(), flags, address);
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
