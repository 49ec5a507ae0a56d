//! A guest as a process of the host: its session, its two lines and its end.
use anyhow::{Context, Result};
use rustix::io::{fcntl_setfd, FdFlags};
use rustix::net::{socketpair, AddressFamily, SocketFlags, SocketType};
use rustix::pipe::{fcntl_setpipe_size, pipe_with, PipeFlags};
use rustix::process::{
    getppid, kill_process_group, set_child_subreaper, set_parent_process_death_signal, setrlimit,
    setsid, waitpgid, Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest time that killed processes may take to end.
const DEATH: Duration = Duration::from_secs(10);

/// The bytes of a roomy pipe: the most that a user may ask for (/proc/sys/fs/pipe-max-size).
const ROOM: usize = 1 << 20;

/// Both ends of a guest's lines: the lab's end, then the guest's.
pub struct Lines {
    channel: (OwnedFd, OwnedFd),
    console: (OwnedFd, OwnedFd),
}

impl Lines {
    /// Socket pairs: a bed may write to them without blocking, and poll for room.
    pub fn new() -> Result<Lines> {
        let pair = || {
            socketpair(
                AddressFamily::UNIX,
                SocketType::STREAM,
                SocketFlags::CLOEXEC,
                None,
            )
            .context("making a socket pair")
        };
        Ok(Lines {
            channel: pair()?,
            console: pair()?,
        })
    }

    /// Pipes of a MiB each, for a bed that writes single bytes and drops those that find no room.
    /// (In a socket's buffer each such byte would take most of a kilobyte.)
    pub fn roomy() -> Result<Lines> {
        let pipe = || -> rustix::io::Result<(OwnedFd, OwnedFd)> {
            let ends = pipe_with(PipeFlags::CLOEXEC)?;
            fcntl_setpipe_size(&ends.0, ROOM)?;
            Ok(ends)
        };
        Ok(Lines {
            channel: pipe().context("making a pipe")?,
            console: pipe().context("making a pipe")?,
        })
    }

    /// Number of the guest's end of the channel, in the guest's process.
    pub fn channel_number(&self) -> i32 {
        self.channel.1.as_raw_fd()
    }

    pub fn console_number(&self) -> i32 {
        self.console.1.as_raw_fd()
    }
}

/// A running guest. Dropping it ends all of its processes.
pub struct Guest {
    pub channel: OwnedFd,
    pub console: OwnedFd,
    pub started: Instant,
    /// Leader of the guest's session and process group.
    leader: Pid,
    ended: Option<WaitStatus>,
    gone: bool,
    /// Removed with the guest.
    dir: TempDir,
}

impl Guest {
    /// The guest's folder on the host.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Starts `command` in a session of its own, with the guest's ends of `lines` open, standard
    /// output and error on the console. `dir` lives as long as the guest.
    pub fn spawn(mut command: Command, lines: Lines, dir: TempDir) -> Result<Guest> {
        // Orphans of the guest become children of this process and are reaped here, not by init.
        set_child_subreaper(Some(rustix::process::getpid())).context("PR_SET_CHILD_SUBREAPER")?;
        let console = &lines.console.1;
        let copy = || {
            console
                .try_clone()
                .context("duplicating the console's socket")
        };
        command.stdin(Stdio::null()).stdout(copy()?).stderr(copy()?);
        let numbers = [lines.channel.1.as_raw_fd(), lines.console.1.as_raw_fd()];
        let parent = rustix::process::getpid();
        // SAFETY: the closure only makes system calls: it allocates no memory and takes no lock. The
        // borrowed numbers are open in the child, which has a copy of `lines`.
        unsafe {
            command.pre_exec(move || {
                setsid()?;
                set_parent_process_death_signal(Some(Signal::KILL))?;
                if getppid() != Some(parent) {
                    // hotset died before the previous statement.
                    return Err(std::io::ErrorKind::Interrupted.into());
                }
                let none = Rlimit {
                    current: Some(0),
                    maximum: Some(0),
                };
                setrlimit(Resource::Core, none)?;
                for number in numbers {
                    fcntl_setfd(BorrowedFd::borrow_raw(number), FdFlags::empty())?;
                }
                Ok(())
            });
        }
        let started = Instant::now();
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        let leader = Pid::from_child(&child);
        Ok(Guest {
            channel: lines.channel.0,
            console: lines.console.0,
            started,
            leader,
            ended: None,
            gone: false,
            dir,
        })
    }

    pub fn lines(&self) -> (BorrowedFd<'_>, BorrowedFd<'_>) {
        (self.channel.as_fd(), self.console.as_fd())
    }

    /// Waits for the guest to end by itself, then kills its remaining processes. Returns how the
    /// guest's first process ended; none if it had to be killed.
    pub fn end(&mut self, patience: Duration) -> Option<WaitStatus> {
        let limit = Instant::now() + patience;
        while self.ended.is_none() && !self.gone && Instant::now() < limit {
            self.reap();
            if self.ended.is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let ended = self.ended;
        self.kill();
        ended
    }

    /// Ends all of the guest's processes and waits until they are gone.
    pub fn kill(&mut self) {
        let limit = Instant::now() + DEATH;
        while !self.gone && Instant::now() < limit {
            // An unreaped leader keeps its number, so the group cannot be another program's.
            let _ = kill_process_group(self.leader, Signal::KILL);
            self.reap();
            if !self.gone {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Collects those of the guest's processes that have ended.
    fn reap(&mut self) {
        while !self.gone {
            match waitpgid(self.leader, WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.leader {
                        self.ended = Some(status);
                    }
                }
                Ok(None) => return,
                Err(_) => self.gone = true,
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}
