//! The destination of the log.
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;
use std::str::FromStr;

/// The destination of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// journald if stderr is connected to journald, else stderr.
    #[default]
    Auto,
    Stderr,
    Syslog,
    Journald,
}

impl Target {
    /// Checks that somebody takes the log.
    ///
    /// # Errors
    /// The socket of syslog or journald is missing. The error names it.
    pub fn check(self) -> io::Result<()> {
        let place = match self {
            Target::Syslog => SYSLOG,
            Target::Journald => JOURNALD,
            Target::Auto | Target::Stderr => return Ok(()),
        };
        reached(place)
    }
}

fn reached(place: &str) -> io::Result<()> {
    socket(place).map(drop).map_err(|errno| {
        let error = io::Error::from(errno);
        let text = format!("{place}: {}", names::io_error(&error));
        io::Error::new(error.kind(), text)
    })
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

pub(super) const SYSLOG: &str = "/dev/log";
pub(super) const JOURNALD: &str = "/run/systemd/journal/socket";

/// A datagram socket and its address. The socket is not connected: the reader may be restarted.
pub(super) fn socket(place: &str) -> rustix::io::Result<(OwnedFd, SocketAddrUnix)> {
    let address = SocketAddrUnix::new(place)?;
    rustix::fs::stat(place)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_nobody_listens_at_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("log");
        let place = place.to_str().unwrap();
        let error = reached(place).unwrap_err().to_string();
        assert!(error.starts_with(place), "{error}");
        let _socket = std::os::unix::net::UnixDatagram::bind(place).unwrap();
        reached(place).unwrap();
        Target::Stderr.check().unwrap();
    }
}
