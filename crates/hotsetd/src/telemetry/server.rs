//! The status socket and the metrics' socket. A client of the first receives the document and
//! the end of the stream. The second answers HTTP as far as a scraper needs it.
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The group that may read the sockets besides root.
pub const GROUP: &str = "hotset";
/// Clients at a time. A further one replaces the oldest.
const MOST_CLIENTS: usize = 8;
/// Seconds after which a client is dropped.
const PATIENCE_S: f64 = 10.0;

/// Where metrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Nowhere,
    Unix(PathBuf),
    Tcp(std::net::SocketAddr),
}

/// The two kinds of listeners and of their clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Status,
    Metrics,
}

struct Client {
    fd: OwnedFd,
    kind: Kind,
    number: u64,
    since_s: f64,
    asked: Vec<u8>,
    answer: Vec<u8>,
    sent: usize,
}

impl Kind {
    /// The name of the kind's listener.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Status => "status",
            Kind::Metrics => "metrics",
        }
    }

    /// 0 or 1.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The kind of a [`Kind::number`].
    #[must_use]
    pub fn of(number: u8) -> Option<Kind> {
        [Kind::Status, Kind::Metrics]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// The status socket and the metrics' listener. Their files end with this value.
pub struct Listeners {
    pub all: Vec<(Kind, OwnedFd)>,
    places: Vec<PathBuf>,
}

impl Listeners {
    /// Opens both below `root`. Also returns a message for each that could not be opened: the daemon does its
    /// work without.
    pub fn open(status: Option<&Path>, metrics: &Listen, root: &Path) -> (Listeners, Vec<String>) {
        let mut listeners = Listeners {
            all: Vec::new(),
            places: Vec::new(),
        };
        let mut wrong = Vec::new();
        let group = group_of(root);
        if let Some(path) = status {
            let path = below(root, path);
            match listeners.unix(&path, group) {
                Ok(fd) => listeners.all.push((Kind::Status, fd)),
                Err(error) => wrong.push(format!("status socket {}: {error}", path.display())),
            }
        }
        let opened = match metrics {
            Listen::Nowhere => None,
            Listen::Unix(path) => {
                let path = below(root, path);
                Some((format!("{}", path.display()), listeners.unix(&path, group)))
            }
            Listen::Tcp(address) => Some((address.to_string(), tcp(address))),
        };
        match opened {
            Some((_, Ok(fd))) => listeners.all.push((Kind::Metrics, fd)),
            Some((place, Err(error))) => {
                let cure = match error.raw_os_error() {
                    Some(libc::EAFNOSUPPORT) => "; listen in hotsetd.conf(5) has a drop-in for TCP",
                    _ => "",
                };
                wrong.push(format!("metrics at {place}: {error}{cure}"));
            }
            None => {}
        }
        (listeners, wrong)
    }

    /// A socket for root and `group`: the documents name other users' processes and files.
    fn unix(&mut self, path: &Path, group: Option<u32>) -> io::Result<OwnedFd> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // The lock excludes another daemon: a socket here was left behind.
        match std::fs::symlink_metadata(path) {
            Ok(there) if std::os::unix::fs::FileTypeExt::is_socket(&there.file_type()) => {
                std::fs::remove_file(path)?;
            }
            Ok(_) => {
                let message = "a file that is no socket is in its place: remove it";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
            }
            Err(_) => {}
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let address = SocketAddrUnix::new(path)?;
        as_group(group, || rustix::net::bind(&fd, &address))??;
        self.places.push(path.to_owned());
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o660))?;
        rustix::net::listen(&fd, 8)?;
        Ok(fd)
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        for place in &self.places {
            let _ = std::fs::remove_file(place);
        }
    }
}

/// Does `work` with `group` as the group of new files. chown(2) would need another capability.
fn as_group<T>(group: Option<u32>, work: impl FnOnce() -> T) -> io::Result<T> {
    let Some(group) = group else {
        return Ok(work());
    };
    let own = rustix::process::getegid().as_raw();
    set_group(group)?;
    let done = work();
    set_group(own)?;
    Ok(done)
}

/// Sets this thread's effective group. The C library's function would set that of all threads.
fn set_group(group: u32) -> io::Result<()> {
    let same = libc::gid_t::MAX;
    // SAFETY: takes numbers only.
    match unsafe { libc::syscall(libc::SYS_setresgid, same, group, same) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The id of the group [`GROUP`], where the machine has one.
fn group_of(root: &Path) -> Option<u32> {
    let groups = std::fs::read_to_string(root.join("etc/group")).ok()?;
    let line = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(GROUP)).then(|| fields.nth(1))
    })?;
    line?.parse().ok()
}

/// All listeners and their clients.
pub struct Server {
    listeners: Vec<(Kind, OwnedFd)>,
    clients: Vec<Client>,
    next: u64,
}

/// The number of the status listener in epoll.
const STATUS: u64 = 1 << 32;
/// The number of the metrics listener in epoll.
const METRICS: u64 = 2 << 32;
/// The first number of a client in epoll.
const CLIENTS: u64 = 1 << 40;

impl Server {
    /// Serves `listeners`, all of whose events come by `poll`.
    #[must_use]
    pub fn new(listeners: Vec<(Kind, OwnedFd)>, poll: &OwnedFd) -> Server {
        let mut server = Server {
            listeners: Vec::new(),
            clients: Vec::with_capacity(MOST_CLIENTS),
            next: CLIENTS,
        };
        for (kind, fd) in listeners {
            server.add(kind, fd, poll);
        }
        server
    }

    /// Answers the event `number` of a listener or client. `respond` makes the document.
    pub fn answer(
        &mut self,
        number: u64,
        now_s: f64,
        poll: &OwnedFd,
        respond: impl FnMut(Kind) -> Vec<u8>,
    ) {
        match number {
            STATUS => self.accept(Kind::Status, now_s, poll, respond),
            METRICS => self.accept(Kind::Metrics, now_s, poll, respond),
            client => self.serve(client, poll, respond),
        }
    }

    fn add(&mut self, kind: Kind, fd: OwnedFd, poll: &OwnedFd) {
        let number = match kind {
            Kind::Status => STATUS,
            Kind::Metrics => METRICS,
        };
        let data = epoll::EventData::new_u64(number);
        let _ = epoll::add(poll, &fd, data, epoll::EventFlags::IN);
        self.listeners.push((kind, fd));
    }

    /// Accepts one client. `respond` makes the answer.
    fn accept(
        &mut self,
        kind: Kind,
        now_s: f64,
        poll: &OwnedFd,
        mut respond: impl FnMut(Kind) -> Vec<u8>,
    ) {
        let Some((_, listener)) = self.listeners.iter().find(|(of, _)| *of == kind) else {
            return;
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(fd) = rustix::net::accept_with(listener, flags) else {
            return;
        };
        if self.clients.len() == MOST_CLIENTS {
            self.clients.remove(0);
        }
        let number = self.next;
        self.next += 1;
        let mut client = Client {
            fd,
            kind,
            number,
            since_s: now_s,
            asked: Vec::new(),
            answer: Vec::new(),
            sent: 0,
        };
        if kind == Kind::Status {
            client.answer = respond(kind);
            if client.send() {
                return;
            }
        }
        let wanted = match kind {
            Kind::Status => epoll::EventFlags::OUT,
            Kind::Metrics => epoll::EventFlags::IN,
        };
        let data = epoll::EventData::new_u64(number);
        if epoll::add(poll, &client.fd, data, wanted).is_ok() {
            self.clients.push(client);
        }
    }

    /// Serves a client that can be read from or written to.
    fn serve(&mut self, number: u64, poll: &OwnedFd, mut respond: impl FnMut(Kind) -> Vec<u8>) {
        let Some(at) = self
            .clients
            .iter()
            .position(|client| client.number == number)
        else {
            return;
        };
        let client = &mut self.clients[at];
        let finished = if client.answer.is_empty() {
            match client.receive() {
                Some(true) => {
                    client.answer = http(&client.asked, || respond(client.kind));
                    let data = epoll::EventData::new_u64(number);
                    let out = epoll::EventFlags::OUT;
                    client.send() || epoll::modify(poll, &client.fd, data, out).is_err()
                }
                Some(false) => false,
                None => true,
            }
        } else {
            client.send()
        };
        if finished {
            self.clients.remove(at);
        }
    }

    /// Drops the clients that have been there for too long.
    pub fn tidy(&mut self, now_s: f64) {
        self.clients
            .retain(|client| now_s - client.since_s < PATIENCE_S);
    }
}

impl Client {
    /// Sends the answer. `true`: all of it is sent, or the client is gone.
    fn send(&mut self) -> bool {
        loop {
            let rest = &self.answer[self.sent..];
            if rest.is_empty() {
                return true;
            }
            match rustix::net::send(&self.fd, rest, SendFlags::NOSIGNAL) {
                Ok(length) => self.sent += length,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Reads the request. `Some(true)`: it is complete; `None`: it will never be complete.
    fn receive(&mut self) -> Option<bool> {
        let mut bytes = [0; 1024];
        match rustix::net::recv(&self.fd, &mut bytes, RecvFlags::empty()) {
            Ok((0, _)) => None,
            Ok((length, _)) => {
                self.asked.extend_from_slice(&bytes[..length]);
                let ended = |end: &[u8]| self.asked.windows(end.len()).any(|at| at == end);
                match self.asked.len() {
                    8192.. => None,
                    _ => Some(ended(b"\r\n\r\n") || ended(b"\n\n")),
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => Some(false),
            Err(_) => None,
        }
    }
}

/// The answer to a request. Public for the fuzz targets alone.
#[doc(hidden)]
pub fn http(asked: &[u8], respond: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let line = asked.split(|&byte| byte == b'\r' || byte == b'\n').next();
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    let mut parts = line.split(' ');
    let (verb, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let (status, body) = match (verb, path.split('?').next()) {
        ("GET" | "HEAD", Some("/metrics" | "/")) => ("200 OK", respond()),
        ("GET" | "HEAD", _) => ("404 Not Found", b"see /metrics\n".to_vec()),
        _ => ("405 Method Not Allowed", b"GET only\n".to_vec()),
    };
    let kind = match status {
        "200 OK" => "text/plain; version=0.0.4; charset=utf-8",
        _ => "text/plain",
    };
    let length = body.len();
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    )
    .into_bytes();
    if verb != "HEAD" {
        answer.extend(body);
    }
    answer
}

fn tcp(address: &std::net::SocketAddr) -> io::Result<OwnedFd> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener.into())
}

/// `path` below `root`.
pub fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_answers_get_and_refuses_the_rest() {
        let ask = |request: &str| String::from_utf8(http(request.as_bytes(), || b"m\n".to_vec()));
        let answer = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nm\n"));
        assert!(ask("GET /x HTTP/1.1\r\n\r\n").unwrap().contains(" 404 "));
        assert!(ask("POST / HTTP/1.1\r\n\r\n").unwrap().contains(" 405 "));
        assert!(ask("\r\n\r\n").unwrap().contains(" 405 "));
    }
}
