//! The line to the lab. Every process of the guest writes whole lines to the same serial line; the
//! tty layer keeps one write(2) together.
use anyhow::{Context, Result};
use protocol::wire::Line;
use rustix::fs::{Mode, OFlags};
use rustix::termios::{self, OptionalActions, QueueSelector};
use std::os::fd::OwnedFd;

/// The serial line of both beds.
const DEFAULT: &str = "/dev/ttyS0";

/// The line to the lab.
pub struct Channel {
    tty: OwnedFd,
}

impl Channel {
    /// Opens the serial line that `hotset.channel=` names on the kernel's command line, else
    /// /dev/ttyS0, and makes it raw.
    pub fn open() -> Result<Channel> {
        let cmdline = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
        let path = cmdline
            .split_whitespace()
            .find_map(|word| word.strip_prefix("hotset.channel="))
            .unwrap_or(DEFAULT);
        let tty = rustix::fs::open(
            path,
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .with_context(|| format!("opening {path}, the line to the lab"))?;
        let mut attributes =
            termios::tcgetattr(&tty).with_context(|| format!("{path}: tcgetattr"))?;
        attributes.make_raw();
        termios::tcsetattr(&tty, OptionalActions::Now, &attributes)
            .with_context(|| format!("{path}: tcsetattr"))?;
        Ok(Channel { tty })
    }

    /// Duplicates the channel, for another thread.
    pub fn share(&self) -> Result<Channel> {
        Ok(Channel {
            tty: self
                .tty
                .try_clone()
                .context("duplicating the line to the lab")?,
        })
    }

    /// Duplicates the serial line, for another program.
    pub fn line(&self) -> Result<OwnedFd> {
        Ok(self.share()?.tty)
    }

    /// Writes one line. A line that cannot be written is lost: there is no other way to report it.
    pub fn send(&self, line: &Line) {
        let mut text = serde_json::to_vec(line).unwrap_or_default();
        text.push(b'\n');
        let mut rest = &text[..];
        while !rest.is_empty() {
            match rustix::io::write(&self.tty, rest) {
                Ok(n) => rest = &rest[n..],
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    pub fn observe(&self, name: String, t_ms: f64, value: f64) {
        self.send(&Line::Observe { t_ms, name, value });
    }

    pub fn event(&self, name: &str, detail: String) {
        self.send(&Line::Event {
            t_ms: now_ms(),
            name: name.into(),
            detail,
        });
    }

    /// Waits until the lab has read everything.
    pub fn drain(&self) {
        let _ = termios::tcdrain(&self.tty);
        let _ = termios::tcflush(&self.tty, QueueSelector::IFlush);
    }
}

/// Milliseconds of CLOCK_MONOTONIC.
pub fn now_ms() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // libc, not rustix: rustix needs a vDSO, which User-Mode Linux does not have.
    // SAFETY: clock_gettime(2) writes the struct, which lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}
