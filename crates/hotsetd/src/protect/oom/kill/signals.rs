//! Signals to processes that were chosen, and the freeing of their memory.
use super::release::{self, QUEUE};
use crate::protect::oom::processes::Processes;
use policy::victim::Candidate;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{kill_process, pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};
use std::sync::mpsc::SyncSender;

pub(super) struct Signals {
    /// The kernel has pidfd_open(2), as Linux has from 5.3 on. Without it nobody's end can be waited for.
    pub has_pidfds: bool,
    /// Of the thread that frees memory. `None` in a dry run, or where the system had no thread left.
    queue: Option<SyncSender<OwnedFd>>,
    /// Processes that have their signal and hold memory yet. The room is used again.
    held: Vec<OwnedFd>,
}

impl Signals {
    pub fn new(dry_run: bool) -> Signals {
        let own = pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
        Signals {
            // Any other error than `NOSYS` concerns this very process only.
            has_pidfds: own.err() != Some(Errno::NOSYS),
            queue: if dry_run { None } else { release::start() },
            held: Vec::with_capacity(QUEUE),
        }
    }

    /// Sends the signal to this very process.
    pub fn send(
        &self,
        signal: Signal,
        one: &Candidate,
        processes: &mut Processes,
    ) -> Result<Option<OwnedFd>, Errno> {
        let pid = Pid::from_raw(one.pid).ok_or(Errno::SRCH)?;
        let pidfd = match self.has_pidfds {
            true => Some(pidfd_open(pid, PidfdFlags::empty())?),
            // The pid could go to another process between the check below and the signal.
            false => None,
        };
        // The pidfd now holds the pid, but another process may have got the pid before.
        if !processes.is_still(one) {
            return Err(Errno::SRCH);
        }
        match &pidfd {
            Some(pidfd) => pidfd_send_signal(pidfd, signal)?,
            None => kill_process(pid, signal)?,
        }
        Ok(pidfd)
    }

    /// Keeps a process until [`Signals::release_all`]. Without room its memory comes with its own end.
    pub fn hold(&mut self, pidfd: Option<OwnedFd>) {
        if let (Some(pidfd), true) = (pidfd, self.held.len() < QUEUE) {
            self.held.push(pidfd);
        }
    }

    /// Has the memory of all that are held freed.
    pub fn release_all(&mut self) {
        while let Some(pidfd) = self.held.pop() {
            self.release(Some(pidfd));
        }
    }

    /// Has a killed process's memory freed. Never waits.
    pub fn release(&self, pidfd: Option<OwnedFd>) {
        if let (Some(queue), Some(pidfd)) = (&self.queue, pidfd) {
            // A full queue drops the descriptor.
            let _ = queue.try_send(pidfd);
        }
    }
}
