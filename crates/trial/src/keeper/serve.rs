//! The keeper's own loop.
use super::knobs::{recover, Knobs};
use super::programs::{self, Started};
use super::wire::{Bytes, Ending, Message, Order};
use anyhow::{Context, Result};
use hotsetd::runtime::lock_file::Instance;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest time from one start of a program beside the command to its next.
const RESTART: Duration = Duration::from_millis(100);
/// The time that hotsetd has to give its knobs back.
const PATIENCE: Duration = Duration::from_secs(15);

struct Beside {
    line: String,
    log: PathBuf,
    running: Option<i32>,
    last: Instant,
}

struct Serve {
    root: PathBuf,
    /// The folder of journals. None: the trial changes nothing.
    folder: Option<PathBuf>,
    knobs: Option<Knobs>,
    command: Option<Started>,
    beside: Vec<Beside>,
    daemon: Option<i32>,
    /// oom_score_adj of programs; the keeper has its own.
    oom: String,
}

/// Carries out orders from standard input until it closes, then undoes all. Answers on standard output.
///
/// # Errors
/// The process cannot be set up, or something cannot be undone.
pub fn serve(root: &Path, folder: Option<&Path>) -> Result<()> {
    // SAFETY: to ignore a signal needs no handler. An answer to a dead trial must not end the keeper.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let asked = Arc::new(AtomicBool::new(false));
    let (wake, woken) = UnixStream::pair().context("making a socket pair")?;
    for socket in [&wake, &woken] {
        socket.set_nonblocking(true).context("a socket pair")?;
    }
    for signal in [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGCHLD,
    ] {
        if signal != libc::SIGCHLD {
            signal_hook::flag::register(signal, asked.clone()).context("a signal handler")?;
        }
        let socket = woken.try_clone().context("a socket pair")?;
        signal_hook::low_level::pipe::register(signal, socket).context("a signal handler")?;
    }
    // It fails for the leader of a group, which a shell's job may be; then keys reach the handlers above.
    let _ = rustix::process::setsid();
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).context("adopting processes")?;
    let oom = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
    programs::spare("-1000");
    let (lock, notes) = match begin(root, folder) {
        Ok((lock, notes)) => (lock, notes),
        Err(error) => {
            say(&Message::Failed {
                why: format!("{error:#}"),
            });
            return Ok(());
        }
    };
    let mut serve = Serve {
        root: root.into(),
        folder: folder.map(Into::into),
        knobs: folder.map(|folder| Knobs::open(root, folder)).transpose()?,
        command: None,
        beside: Vec::new(),
        daemon: None,
        oom: oom.trim().to_string(),
    };
    say(&Message::Done { notes });
    let served = serve.listen(&wake, &asked);
    let undone = serve.undo().map_err(anyhow::Error::msg);
    if let (Ok(()), Some(folder)) = (&undone, folder) {
        // Nothing is left to be given back, and an empty folder harms nobody.
        let _ = std::fs::remove_dir_all(folder);
    }
    drop(lock);
    undone.and(served)
}

/// Takes the lock of all trials, and gives back what a killed one left.
fn begin(root: &Path, folder: Option<&Path>) -> Result<(Option<Instance>, Vec<String>)> {
    let Some(folder) = folder else {
        return Ok((None, Vec::new()));
    };
    let path = folder.join("lock");
    let lock = Instance::take(&path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => anyhow::anyhow!("another trial runs; wait for its end"),
        _ => anyhow::anyhow!("{}: {}", names::shown(&path), names::io_error(&error)),
    })?;
    let given = recover(root, folder)?;
    let note = |knob: &String| format!("an earlier trial was killed: {knob} is given back");
    Ok((Some(lock), given.iter().map(note).collect()))
}

/// Gives back what a killed trial left. Returns the knobs with their values.
///
/// # Errors
/// A trial runs, or a knob cannot be given back.
pub fn restore(root: &Path, folder: &Path) -> Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let (_lock, notes) = begin(root, Some(folder))?;
    Ok(notes)
}

impl Serve {
    fn listen(&mut self, mut wake: &UnixStream, asked: &AtomicBool) -> Result<()> {
        // Unbuffered: poll(2) does not see what lies in a buffer.
        let input = rustix::stdio::stdin();
        let mut lines: Vec<u8> = Vec::new();
        let mut buffer = [0; 4096];
        while !asked.load(Ordering::Relaxed) {
            let mut fds = [
                PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN),
                PollFd::new(wake, PollFlags::IN),
            ];
            let due = self.restart();
            let due = due.map(|due| Timespec::try_from(due).unwrap_or_default());
            match poll(&mut fds, due.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error).context("waiting for orders"),
            }
            let ordered = !fds[0].revents().is_empty();
            while matches!(wake.read(&mut buffer), Ok(1..)) {}
            while let Some((pid, ending)) = programs::reap() {
                self.ended(pid, ending);
            }
            if !ordered {
                continue;
            }
            let taken = rustix::io::read(input, &mut buffer).context("reading orders")?;
            if taken == 0 {
                return Ok(());
            }
            lines.extend_from_slice(&buffer[..taken]);
            while let Some(end) = lines.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = lines.drain(..=end).collect();
                let order = serde_json::from_slice(&line).context("an order is malformed")?;
                say(&match self.carry_out(order) {
                    Ok(notes) => Message::Done { notes },
                    Err(why) => Message::Failed { why },
                });
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, order: Order) -> Result<Vec<String>, String> {
        let started = |error: io::Error| error.to_string();
        let words = |words: &[Bytes]| words.iter().map(Bytes::word).collect::<Vec<OsString>>();
        match order {
            Order::Set { knob, value } => match &mut self.knobs {
                Some(knobs) => knobs.set(&knob, &value).map(|()| Vec::new()),
                None => Err(format!("{knob}: this trial writes no knobs")),
            },
            Order::GiveBack => self.knobs.as_mut().map_or(Ok(Vec::new()), Knobs::give_back),
            Order::Daemon { words: all, log } => {
                let start = programs::start(&words(&all), &log.path(), Signal::TERM, "-1000");
                self.daemon = Some(start.map_err(started)?.pid);
                Ok(Vec::new())
            }
            Order::EndDaemon => self.end_daemon(),
            Order::Beside { lines, log } => {
                for line in lines {
                    let (log, last) = (log.path(), Instant::now());
                    let mut beside = Beside {
                        line,
                        log,
                        running: None,
                        last,
                    };
                    beside.start(&self.oom)?;
                    self.beside.push(beside);
                }
                Ok(Vec::new())
            }
            Order::Command { words: all, log } => {
                let start = programs::start(&words(&all), &log.path(), Signal::KILL, &self.oom);
                self.command = Some(start.map_err(started)?);
                Ok(Vec::new())
            }
            Order::EndPrograms => self.end_programs().map(|()| Vec::new()),
        }
    }

    /// Starts programs again that have ended. Returns the time until the next one is due.
    fn restart(&mut self) -> Option<Duration> {
        let mut next = None;
        for beside in &mut self.beside {
            if beside.running.is_some() {
                continue;
            }
            let left = RESTART.saturating_sub(beside.last.elapsed());
            if left > Duration::ZERO {
                next = Some(next.map_or(left, |next: Duration| next.min(left)));
            } else if let Err(why) = beside.start(&self.oom) {
                let ending = Ending {
                    code: Some(127),
                    ..Ending::default()
                };
                let line = format!("{}: {why}", beside.line);
                say(&Message::Beside { line, ending });
                beside.last = Instant::now();
            }
        }
        next
    }

    /// Takes note of a child's end.
    fn ended(&mut self, pid: i32, mut ending: Ending) {
        if self.command.is_some_and(|command| command.pid == pid) {
            let since = self.command.take().map(|command| command.since);
            ending.wall_s = since.map_or(0.0, |since| since.elapsed().as_secs_f64());
            say(&Message::Command(ending));
        } else if self.daemon == Some(pid) {
            self.daemon = None;
            say(&Message::Daemon(ending));
        } else if let Some(beside) = self.beside.iter_mut().find(|it| it.running == Some(pid)) {
            beside.running = None;
            if !ending.is_good() {
                let line = beside.line.clone();
                say(&Message::Beside { line, ending });
            }
        }
    }

    fn end_programs(&mut self) -> Result<(), String> {
        self.command = None;
        self.beside.clear();
        let mut lost = None;
        let daemon = self.daemon;
        let ended = programs::end_others(daemon, |pid, ending| {
            if daemon == Some(pid) {
                lost = Some(ending);
            }
        });
        if let Some(ending) = lost {
            self.daemon = None;
            say(&Message::Daemon(ending));
        }
        ended
    }

    fn end_daemon(&mut self) -> Result<Vec<String>, String> {
        if let Some(pid) = self.daemon.take() {
            programs::end_one(pid, PATIENCE, |_, _| {});
        }
        let Some(folder) = &self.folder else {
            return Ok(Vec::new());
        };
        // A hotsetd that ended well has removed its journal, and nothing is left to be done.
        let knobs = self.knobs.take();
        let journal = crate::setting::daemon::Files::of(folder).journal;
        let left = journal.exists();
        let recovered = match left {
            true => recover(&self.root, folder).map_err(|error| format!("{error:#}")),
            false => Ok(Vec::new()),
        };
        self.knobs = match (left, knobs) {
            (false, knobs) => knobs,
            (true, _) => Knobs::open(&self.root, folder).ok(),
        };
        recovered.map(|knobs| {
            { knobs.iter() }
                .map(|it| format!("given back after hotsetd: {it}"))
                .collect()
        })
    }

    /// Ends all, and gives all back.
    fn undo(&mut self) -> Result<(), String> {
        let programs = self.end_programs();
        let daemon = self.end_daemon().map(drop);
        let knobs = self.knobs.as_mut().map_or(Ok(Vec::new()), Knobs::give_back);
        programs.and(daemon).and(knobs.map(drop))
    }
}

impl Beside {
    fn start(&mut self, oom: &str) -> Result<(), String> {
        let words = ["/bin/sh", "-c", &self.line].map(OsString::from);
        let started = programs::start(&words, &self.log, Signal::KILL, oom);
        let started = started.map_err(|error| error.to_string())?;
        self.running = Some(started.pid);
        self.last = started.since;
        Ok(())
    }
}

/// Tells the trial. A trial that has ended hears nothing, and standard input then closes, too.
fn say(message: &Message) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let mut out = io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}
