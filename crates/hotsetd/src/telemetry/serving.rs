//! A process without root's powers that serves status and metrics.
//!
//! The daemon runs at real-time priority and may write every knob. So it talks to no client: this process accepts them,
//! reads what they ask, and asks the daemon for a document over a socket pair, at most [`FRESHEST`] apart. However
//! many clients there are, and whatever they send, the daemon answers four times a second at most.
use super::server::{Kind, Listeners, Server};
use crate::os::process::now_s;
use rustix::event::{epoll, poll, PollFd, PollFlags, Timespec};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{recv, send, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The option by which hotsetd starts itself as this process. Users do not need it.
pub const OPTION: &str = "--serve";

/// Seconds for which a document is served again.
const FRESHEST: f64 = 0.25;
/// Seconds that the daemon may take to answer. A daemon that kills takes longer: clients get the last document.
const PATIENCE_S: i64 = 2;
/// The user and group `nobody`.
const NOBODY: u32 = 65_534;
/// Bytes of a document in one message.
const MESSAGE: usize = 32 << 10;
/// The number of the daemon's socket in epoll.
const DAEMON: u64 = 1;

/// The process, seen from the daemon.
pub struct Serving {
    socket: OwnedFd,
    /// Ends when the socket is closed. By then nobody is left to wait for it.
    child: Child,
    /// Removes the sockets' files at the end.
    _listeners: Listeners,
}

impl Serving {
    /// Starts the process. `program`: hotsetd itself.
    ///
    /// # Errors
    /// When the system has no process or descriptor left.
    pub fn start(program: &Path, listeners: Listeners) -> io::Result<Serving> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let mut command = Command::new(program);
        command.arg(OPTION).stdin(Stdio::from(theirs));
        let mut kept = Vec::new();
        for (kind, fd) in &listeners.all {
            command.arg(format!("{}={}", kind.name(), fd.as_raw_fd()));
            kept.push(fd.as_raw_fd());
        }
        // SAFETY: fcntl(2) is async-signal-safe, and nothing else is done between fork and exec.
        unsafe {
            command.pre_exec(move || {
                for fd in &kept {
                    if libc::fcntl(*fd, libc::F_SETFD, 0) != 0 {
                        return Err(io::Error::last_os_error());
                    }
                }
                Ok(())
            });
        }
        Ok(Serving {
            socket: ours,
            child: command.spawn()?,
            _listeners: listeners,
        })
    }

    /// Readable when the process asks for a document.
    #[must_use]
    pub fn fd(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends the document that the process has asked for. Never waits. `false`: the process has ended.
    pub fn answer(&mut self, respond: impl Fn(Kind) -> Vec<u8>) -> bool {
        let mut asked = [0; 1];
        let kind = match recv(&self.socket, &mut asked, RecvFlags::empty()) {
            Ok((0, _)) => return false,
            Ok(_) => Kind::of(asked[0]),
            Err(Errno::AGAIN | Errno::INTR) => return true,
            Err(_) => return false,
        };
        let Some(kind) = kind else { return true };
        let document = respond(kind);
        let count = document.len().div_ceil(MESSAGE);
        for (at, part) in document.chunks(MESSAGE).enumerate() {
            let mut message = vec![kind.number(), u8::from(at + 1 == count)];
            message.extend_from_slice(part);
            // A process that does not read gets no more. It asks again.
            if send(&self.socket, &message, SendFlags::NOSIGNAL).is_err() {
                break;
            }
        }
        true
    }

    /// The process's exit status, once it has ended. It is a zombie until then.
    pub fn ended(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

/// The process: serves until the daemon has ended.
///
/// # Errors
/// Root's powers cannot be given up, or the system has no descriptor left.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    // The daemon is spared from the OOM killer. This process need not be.
    let _ = std::fs::write("/proc/self/oom_score_adj", "0\n");
    give_up_rights()?;
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: no handler is set. Signals to the daemon's process group are not meant for this process.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let listeners = arguments
        .into_iter()
        .filter_map(|word| listener(word.to_str()?));
    let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut server = Server::new(listeners.collect(), &queue);
    let mut documents = Documents::default();
    let daemon = rustix::stdio::stdin();
    let data = epoll::EventData::new_u64(DAEMON);
    epoll::add(&queue, daemon, data, epoll::EventFlags::RDHUP)?;
    let mut events = Vec::with_capacity(16);
    loop {
        events.clear();
        let second = Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        };
        let room = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&queue, room, Some(&second)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        for event in &events {
            match { event.data }.u64() {
                DAEMON => return Ok(()),
                number => server.answer(number, now_s(), &queue, |kind| documents.get(kind)),
            }
        }
        server.tidy(now_s());
    }
}

/// `status=5`: the listener with descriptor 5.
fn listener(word: &str) -> Option<(Kind, OwnedFd)> {
    let (name, fd) = word.split_once('=')?;
    let kind = [Kind::Status, Kind::Metrics]
        .into_iter()
        .find(|kind| kind.name() == name)?;
    // SAFETY: the daemon has left this descriptor open for this process, which names it once.
    Some((kind, unsafe { OwnedFd::from_raw_fd(fd.parse().ok()?) }))
}

/// Becomes `nobody`. A process that is not root has nothing to give up.
fn give_up_rights() -> io::Result<()> {
    // SAFETY: these calls take numbers; no group is listed.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::geteuid() != 0
            || (libc::setgroups(0, std::ptr::null()) == 0
                && libc::setgid(NOBODY) == 0
                && libc::setuid(NOBODY) == 0)
    };
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// The last document of each kind, and when it was asked for.
#[derive(Default)]
struct Documents([Option<(f64, Vec<u8>)>; 2]);

impl Documents {
    fn get(&mut self, kind: Kind) -> Vec<u8> {
        let place = usize::from(kind.number());
        let fresh = |(at_s, _): &&(f64, Vec<u8>)| now_s() - at_s < FRESHEST;
        if let Some((_, document)) = self.0[place].as_ref().filter(fresh) {
            return document.clone();
        }
        if let Some(document) = ask(kind) {
            self.0[place] = Some((now_s(), document));
        } else if let Some((at_s, _)) = &mut self.0[place] {
            // The daemon is busy: it is left alone for a while.
            *at_s = now_s();
        }
        let last = self.0[place].as_ref();
        last.map(|(_, document)| document.clone())
            .unwrap_or_default()
    }
}

/// Asks the daemon. `None`: it does not answer in time.
fn ask(kind: Kind) -> Option<Vec<u8>> {
    let daemon = rustix::stdio::stdin();
    send(daemon, &[kind.number()], SendFlags::NOSIGNAL).ok()?;
    let mut document = Vec::new();
    let mut message = vec![0; MESSAGE + 2];
    loop {
        let patience = Timespec {
            tv_sec: PATIENCE_S,
            tv_nsec: 0,
        };
        let mut wait = [PollFd::new(&daemon, PollFlags::IN)];
        if poll(&mut wait, Some(&patience)).ok()? == 0 {
            return None;
        }
        let (length, _) = recv(daemon, &mut message[..], RecvFlags::empty()).ok()?;
        let (head, part) = message[..length].split_at_checked(2)?;
        // An answer that came too late for an earlier question.
        if head[0] != kind.number() {
            document.clear();
            continue;
        }
        document.extend_from_slice(part);
        if head[1] == 1 {
            return Some(document);
        }
    }
}
