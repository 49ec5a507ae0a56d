//! Connections to local sockets that take a bounded time.
use rustix::net::{sockopt, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Each step of a connection takes at most so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// A stream to the socket at `path`. Connecting, a read and a write wait for at most a second.
///
/// # Errors
/// Nobody listens there, or the listener's queue is full.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let (flags, stream) = (SocketFlags::CLOEXEC, SocketType::STREAM);
    let socket = rustix::net::socket_with(AddressFamily::UNIX, stream, flags, None)?;
    // The time to send is the time to connect as well.
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(PATIENCE))?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}
