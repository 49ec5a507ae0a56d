//! The process between hotset and the recorded command.
//!
//! It adopts all processes of the command, so that it can end them: when it is asked to, and when hotset
//! dies. It lives as long as any of them.
use super::signals::{self, Arrived, Signals};
use ::processes::descendants;
use anyhow::{ensure, Context, Result};
use clap::Args;
use rustix::process::{self as processes, Pid, Signal, WaitOptions};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time that the processes have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// The time from SIGKILL until a process that does not die is left alone.
const LAST: Duration = Duration::from_secs(10);
/// The time between two looks for processes that were started after the last look.
const AGAIN: Duration = Duration::from_millis(20);
/// The signal that the kernel sends when hotset has died.
const ORPHANED: Signal = Signal::USR1;

#[derive(Args)]
pub struct GuardArgs {
    /// The process that starts this one
    #[arg(long)]
    parent: i32,
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

/// Runs the command, and ends when all its processes have ended. The exit status is the command's.
///
/// # Errors
/// The command cannot be started.
pub fn run(args: &GuardArgs) -> Result<ExitCode> {
    signals::restore();
    // SIGQUIT ends hotset; this process then still has the others to end.
    let others = [libc::SIGQUIT, ORPHANED.as_raw(), libc::SIGCHLD];
    let signals = Signals::block(signals::ending().chain(others));
    processes::set_child_subreaper(Some(processes::getpid())).context("adopting processes")?;
    processes::set_parent_process_death_signal(Some(ORPHANED)).context("watching hotset")?;
    let parent = processes::getppid().map(Pid::as_raw_pid);
    ensure!(parent == Some(args.parent), "hotset ended");
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]);
    // SAFETY: both closures make system calls only, which is allowed between fork(2) and exec(2).
    unsafe {
        command.pre_exec(move || {
            signals.unblock();
            processes::set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(())
        });
    }
    let name = args.command[0].to_string_lossy().into_owned();
    let child = command.spawn().context(name)?;
    let child = Pid::from_child(&child);
    let code = Guard::new(signals, child).watch();
    Ok(ExitCode::from(code))
}

struct Guard {
    signals: Signals,
    command: Pid,
    code: u8,
    /// When the processes are killed, once they have been asked to end.
    kill_at: Option<Instant>,
}

impl Guard {
    fn new(signals: Signals, command: Pid) -> Guard {
        Guard {
            signals,
            command,
            code: 0,
            kill_at: None,
        }
    }

    /// Waits until all processes have ended. Returns the command's exit status, 128 and the signal's number for
    /// a signal.
    fn watch(mut self) -> u8 {
        while self.reap() {
            let now = Instant::now();
            let left = self
                .kill_at
                .map(|at| match at.saturating_duration_since(now) {
                    Duration::ZERO => AGAIN,
                    left => left,
                });
            match self.signals.wait(left) {
                Some(arrived) => self.take(&arrived),
                None if self.kill_at.is_some_and(|at| now > at + LAST) => break,
                None => {}
            }
            if self.kill_at.is_some_and(|at| Instant::now() >= at) {
                descendants::send(&descendants::all(), Signal::KILL);
            }
        }
        self.code
    }

    fn take(&mut self, arrived: &Arrived) {
        if arrived.signal == ORPHANED.as_raw() {
            self.kill_at = Some(Instant::now());
        }
        if !signals::ENDING.contains(&arrived.signal) || self.kill_at.is_some() {
            return;
        }
        self.kill_at = Some(Instant::now() + GRACE);
        let own = processes::getpgrp().as_raw_pid();
        let Some(signal) = Signal::from_named_raw(arrived.signal) else {
            return;
        };
        // A terminal has sent its signal to the whole group already.
        let all = descendants::all();
        let to = all
            .iter()
            .filter(|process| !arrived.by_kernel || process.group != own);
        descendants::send(to, signal);
    }

    /// Takes leave of processes that have ended. Returns whether any is left.
    fn reap(&mut self) -> bool {
        loop {
            match processes::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.command => {
                    self.code = code(ExitStatus::from_raw(status.as_raw()));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}

fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    // A status has eight bits, and a signal's number is below 65.
    status.code().or(signal).unwrap_or(0) as u8
}

/// The guard, as hotset sees it.
pub struct Started(Child);

impl Started {
    /// Starts the guard, which starts the command. Where standard output is taken by the trace, the
    /// command writes to standard error.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(command: &[OsString], stdout_is_taken: bool) -> io::Result<Started> {
        let mut guard = Command::new("/proc/self/exe");
        guard
            .arg0("hotset")
            .args(["trace", "record-guard", "--parent"])
            .arg(std::process::id().to_string())
            .arg("--")
            .args(command);
        if stdout_is_taken {
            guard.stdout(Stdio::from(io::stderr()));
        }
        Ok(Started(guard.spawn()?))
    }

    /// The process, for [`ask`].
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Waits for the end of all processes. Returns the command's exit status.
    ///
    /// # Errors
    /// The status is lost.
    pub fn wait(mut self) -> io::Result<u8> {
        Ok(code(self.0.wait()?))
    }
}

/// Has the guard end all processes: by this signal, and after a while by SIGKILL. The guard must not have been
/// waited for.
pub fn ask(guard: Pid, signal: Signal) {
    // It may have ended already.
    let _ = processes::kill_process(guard, signal);
}
