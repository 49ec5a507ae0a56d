//! The wait for a victim's end and for the memory that comes with the end.
//!
//! A victim may be slow to end, while its memory and that of its storm is long free, and used up again. So /proc, which
//! tells what the dying still hold, is read now and then during the wait.
use policy::victim::Candidate;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::process::{pidfd_send_signal, Signal};

/// Seconds after which a victim that has not ended counts as stuck in the kernel: another is tried.
pub(in crate::protect::oom) const PATIENCE_S: f64 = 2.0;
/// Seconds until /proc is read again where nobody could be killed, or where a victim has not ended. Reading without
/// pause at real-time priority would stop the machine as well.
pub(super) const REST_S: f64 = 0.2;
/// Seconds that the kernel's counters need after a victim's end.
pub(in crate::protect::oom) const SETTLE_S: f64 = 0.03;

/// Seconds that a process has to end when asked: systemd-oomd and earlyoom leave a second or more.
pub(super) const ASKED_S: f64 = 1.0;
/// Where memory lasts for less than this, in seconds, it has no time any more.
pub(super) const LITTLE_TIME_S: f64 = 0.5;

/// A process whose end is waited for.
pub(super) struct Dying {
    /// `None`: a dry run's victim, or one that another program has killed.
    pidfd: Option<OwnedFd>,
    pub pid: i32,
    pub start: u64,
    /// The process was asked to end (SIGTERM), and no more.
    pub asked: bool,
    since_s: f64,
    looked_s: f64,
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
    pub fn new(one: &Candidate, pidfd: Option<OwnedFd>, asked: bool, now_s: f64) -> Dying {
        Dying {
            pidfd,
            pid: one.pid,
            start: one.start,
            asked,
            since_s: now_s,
            looked_s: now_s,
            ended_s: None,
        }
    }

    /// Whether the process was asked to end, and has no time left to. `ends_s`: seconds until memory ends.
    pub fn is_overdue(&self, now_s: f64, ends_s: f64) -> bool {
        let late = now_s - self.since_s >= ASKED_S || ends_s <= LITTLE_TIME_S;
        self.asked && late && self.ended_s.is_none()
    }

    /// Sends SIGKILL, from which on the wait counts anew. Returns a descriptor of the process.
    pub fn kill(&mut self, now_s: f64) -> Option<OwnedFd> {
        (self.asked, self.since_s, self.looked_s) = (false, now_s, now_s);
        let pidfd = self.pidfd.as_ref()?;
        // A process that has ended meanwhile needs no signal.
        let _ = pidfd_send_signal(pidfd, Signal::KILL);
        pidfd.try_clone().ok()
    }

    /// Whether /proc is to be read before the process has ended, as it is every [`REST_S`].
    pub fn is_due(&mut self, now_s: f64) -> bool {
        let lives = self.pidfd.is_some() && !self.asked && self.ended_s.is_none();
        let due = lives && now_s - self.looked_s >= REST_S;
        if due {
            self.looked_s = now_s;
        }
        due
    }

    /// Checks whether the process has ended.
    pub fn check(&mut self, now_s: f64) -> Wait {
        let waited_s = now_s - self.since_s;
        let has_ended = || match &self.pidfd {
            Some(pidfd) => has_ended(pidfd),
            None => waited_s >= PATIENCE_S / 2.0,
        };
        if self.ended_s.is_none() && has_ended() {
            self.ended_s = Some(now_s);
        }
        match self.ended_s {
            Some(ended_s) if now_s - ended_s < SETTLE_S => Wait::Longer,
            Some(_) if self.pidfd.is_some() => Wait::Over,
            None if waited_s < PATIENCE_S => Wait::Longer,
            _ => Wait::InVain,
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
