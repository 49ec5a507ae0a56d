//! The wait for a victim's end and for the memory that comes with the end.
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::process::{pidfd_send_signal, Signal};

/// Seconds after which a victim that has not ended counts as stuck in the kernel: another is tried.
pub(in crate::protect::oom) const PATIENCE_S: f64 = 2.0;
/// Seconds that the kernel's counters need after a victim's end.
pub(in crate::protect::oom) const SETTLE_S: f64 = 0.03;

/// A process whose end is waited for.
pub(super) struct Dying {
    /// `None`: a dry run's victim, or one that another program has killed.
    pidfd: Option<OwnedFd>,
    pub pid: i32,
    since_s: f64,
    ended_s: Option<f64>,
}

/// How long to wait yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The victim's memory is still on its way.
    Longer,
    /// The victim's memory is there.
    Over,
    /// The victim has not ended in time, as far as that is known.
    InVain,
}

impl Dying {
    pub fn new(pid: i32, pidfd: Option<OwnedFd>, now_s: f64) -> Dying {
        Dying {
            pidfd,
            pid,
            since_s: now_s,
            ended_s: None,
        }
    }

    /// Whether the process is known to have ended.
    pub fn has_ended(&self) -> bool {
        self.ended_s.is_some()
    }

    /// Sends SIGKILL, from which on the wait counts anew. Returns a descriptor of the process.
    pub fn kill(&mut self, now_s: f64) -> Option<OwnedFd> {
        self.since_s = now_s;
        let pidfd = self.pidfd.as_ref()?;
        // A process that has ended meanwhile needs no signal.
        let _ = pidfd_send_signal(pidfd, Signal::KILL);
        pidfd.try_clone().ok()
    }

    /// Checks whether the process has ended.
    pub fn check(&mut self, now_s: f64) -> Wait {
        if self.ended_s.is_none() {
            let ended = match &self.pidfd {
                Some(pidfd) => has_ended(pidfd),
                None => now_s - self.since_s >= PATIENCE_S / 2.0,
            };
            self.ended_s = ended.then_some(now_s);
        }
        let over = match self.ended_s {
            Some(ended_s) => now_s - ended_s >= SETTLE_S,
            None => now_s - self.since_s >= PATIENCE_S,
        };
        let ended = self.ended_s.is_some() && self.pidfd.is_some();
        match (over, ended) {
            (false, _) => Wait::Longer,
            (true, true) => Wait::Over,
            (true, false) => Wait::InVain,
        }
    }
}

/// Whether the process has ended: only then is its pidfd readable.
fn has_ended(pidfd: &OwnedFd) -> bool {
    let mut wait = [PollFd::new(pidfd, PollFlags::IN)];
    let none = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut wait, Some(&none)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{pidfd_open, Pid, PidfdFlags};
    use std::process::{Child, Command};

    fn sleeper() -> (Child, OwnedFd) {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        (child, pidfd)
    }

    #[test]
    fn memory_is_there_soon_after_the_end() {
        let (mut child, pidfd) = sleeper();
        let mut dying = Dying::new(child.id() as i32, Some(pidfd), 10.0);
        assert_eq!(dying.check(10.0), Wait::Longer);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(dying.check(11.0), Wait::Longer);
        assert_eq!(dying.check(11.0 + 2.0 * SETTLE_S), Wait::Over);
    }

    #[test]
    fn a_process_that_does_not_end_is_waited_for_in_vain() {
        let (mut child, pidfd) = sleeper();
        let mut dying = Dying::new(child.id() as i32, Some(pidfd), 0.0);
        assert_eq!(dying.check(PATIENCE_S * 0.9), Wait::Longer);
        assert_eq!(dying.check(PATIENCE_S * 1.1), Wait::InVain);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_without_a_pidfd_is_given_half_the_time() {
        let mut dying = Dying::new(1, None, 0.0);
        assert_eq!(dying.check(PATIENCE_S * 0.4), Wait::Longer);
        assert_eq!(dying.check(PATIENCE_S * 0.6), Wait::Longer);
        assert_eq!(dying.check(PATIENCE_S * 0.6 + 2.0 * SETTLE_S), Wait::InVain);
    }
}
