//! The kill: one victim, or one fork storm, and then the memory is waited for.
//!
//! By pidfd, so that a number that was given to another process meanwhile is never signalled;
//! process_mrelease(2) then frees the victim's memory from here, at this thread's priority, without
//! waiting until the victim itself gets the CPU.
use super::marks::Marks;
use super::processes::{Processes, REMEMBER_S};
use crate::text::Text;
use policy::victim::{choose, Candidate, Choice, Storm};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};

/// A victim that has not ended after so long is stuck in the kernel: the next is tried.
const PATIENCE_S: f64 = 2.0;
/// After its end the counters need a moment.
const SETTLE_S: f64 = 0.03;
/// Where nobody could be killed, /proc is not read again sooner: at real-time priority that would be
/// another way to stop the machine.
const REST_S: f64 = 0.2;
/// A storm's newborn are looked for at most so often.
const ROUNDS: usize = 4;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Killed {
    /// The last victim's memory is still being waited for, or somebody is dying anyway.
    Waiting,
    /// Nobody may be killed, or none is worth it.
    Nobody,
    Done(Victim),
    Failed(Victim, Errno),
}

/// Whom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Victim {
    pub pid: i32,
    pub uid: u32,
    pub name: Text<16>,
    /// Pages: of all that were killed.
    pub memory: u64,
    pub score: i64,
    /// Processes: 1, or a storm's.
    pub count: u32,
    /// It was only said.
    pub pretended: bool,
    /// Microseconds from the decision to the last signal.
    pub took_us: u32,
}

/// Whoever is being waited for.
struct Dying {
    pidfd: Option<OwnedFd>,
    pid: i32,
    since_s: f64,
    ended_s: Option<f64>,
}

/// Carries it out.
pub struct Killer {
    processes: Processes,
    marks: Marks,
    /// Only say it.
    pretend: bool,
    dying: Option<Dying>,
    rest_until_s: f64,
    /// Waited for in vain: not chosen again.
    stuck: Vec<(i32, u64)>,
    /// The candidates without those; room that is used again.
    rest: Vec<Candidate>,
}

impl Killer {
    /// `pretend`: nobody is killed. Nor is anybody where `processes` are not this machine's.
    #[must_use]
    pub fn new(processes: Processes, marks: Marks, pretend: bool) -> Killer {
        let pretend = pretend || !processes.is_real();
        Killer {
            processes,
            marks,
            pretend,
            dying: None,
            rest_until_s: f64::NEG_INFINITY,
            stuck: Vec::with_capacity(16),
            rest: Vec::with_capacity(1024),
        }
    }

    #[must_use]
    pub fn pretends(&self) -> bool {
        self.pretend
    }

    #[must_use]
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// It may come to a kill: who grows is noted.
    pub fn prepare(&mut self, now_s: f64) {
        if self.processes.age_s(now_s) >= REMEMBER_S {
            // What cannot be listed now is told when it is needed.
            let _ = self.processes.look(now_s, &self.marks);
        }
    }

    /// Memory is exhausted: kills, unless the last victim's memory is still on its way. `total`:
    /// pages of memory and swap.
    pub fn kill(&mut self, now_s: f64, total: u64, page_size: u64) -> Killed {
        if now_s < self.rest_until_s || self.is_waiting(now_s) {
            return Killed::Waiting;
        }
        self.rest_until_s = now_s + REST_S;
        let begun_s = crate::harden::now_s();
        if let Err(errno) = self.processes.look(now_s, &self.marks) {
            return Killed::Failed(Victim::default(), errno);
        }
        let list = self.processes.list();
        // Somebody who does not die is as good as not there.
        let stuck = &self.stuck;
        let others = list
            .iter()
            .filter(|one| !stuck.contains(&(one.pid, one.start)));
        self.rest.clear();
        self.rest.extend(others);
        let choice = choose(&self.rest, total, page_size);
        let (at, storm) = match choice {
            Choice::Nobody => return Killed::Nobody,
            Choice::Wait(at) => {
                // Somebody else's kill: it gets as long as ours.
                self.rest_until_s = f64::NEG_INFINITY;
                self.wait_for(self.rest[at].pid, None, now_s);
                return Killed::Waiting;
            }
            Choice::One(at) => (at, false),
            Choice::Storm(at) => (at, true),
        };
        let head = self.rest[at];
        let mut victim = Victim {
            pid: head.pid,
            uid: head.uid,
            name: Text::of(format_args!("{}", head.name())),
            memory: head.memory,
            score: head.score(total).unwrap_or(0),
            count: 1,
            pretended: self.pretend,
            took_us: 0,
        };
        // Whoever starts them goes first, or there are more of them by the end.
        let storm = storm.then(|| Storm::of(&head, &self.rest));
        let parent = self.rest.iter().find(|one| one.pid == head.parent);
        if let (Some(parent), Some(storm)) = (parent.copied(), &storm) {
            self.strike_one_of(storm, &parent, total, &mut victim);
        }
        let done = match self.pretend {
            true => Ok(None),
            false => self.strike(&head).map(Some),
        };
        if let Some(storm) = &storm {
            self.strike_rest(now_s, storm, &head, total, &mut victim);
        }
        victim.took_us = ((crate::harden::now_s() - begun_s) * 1e6) as u32;
        match done {
            Ok(pidfd) => {
                self.rest_until_s = f64::NEG_INFINITY;
                self.wait_for(head.pid, pidfd, now_s);
                Killed::Done(victim)
            }
            // Gone meanwhile: its memory is free.
            Err(Errno::SRCH) => {
                self.rest_until_s = f64::NEG_INFINITY;
                Killed::Waiting
            }
            Err(errno) => {
                self.remember_stuck(&head);
                Killed::Failed(victim, errno)
            }
        }
    }

    /// Everybody else of the storm; looked for anew until no more were started meanwhile.
    fn strike_rest(
        &mut self,
        now_s: f64,
        storm: &Storm,
        head: &Candidate,
        total: u64,
        victim: &mut Victim,
    ) {
        for _ in 0..ROUNDS {
            let before = victim.count;
            for at in 0..self.rest.len() {
                let one = self.rest[at];
                if one.pid != head.pid && one.pid != head.parent {
                    self.strike_one_of(storm, &one, total, victim);
                }
            }
            if self.pretend || victim.count == before {
                return;
            }
            if self.processes.look(now_s, &self.marks).is_err() {
                return;
            }
            self.rest.clear();
            self.rest.extend(self.processes.list());
        }
    }

    fn strike_one_of(&mut self, storm: &Storm, one: &Candidate, total: u64, victim: &mut Victim) {
        if storm.has(one, total) && (self.pretend || self.strike(one).is_ok()) {
            victim.count += 1;
            victim.memory += one.memory;
        }
    }

    /// Sends SIGKILL to this very process, and frees its memory.
    fn strike(&mut self, one: &Candidate) -> Result<OwnedFd, Errno> {
        let pid = Pid::from_raw(one.pid).ok_or(Errno::SRCH)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        // From here on the number cannot be another's; was it before?
        if !self.processes.is_still(one, &self.marks) {
            return Err(Errno::SRCH);
        }
        pidfd_send_signal(&pidfd, Signal::KILL)?;
        release(&pidfd);
        Ok(pidfd)
    }

    fn wait_for(&mut self, pid: i32, pidfd: Option<OwnedFd>, now_s: f64) {
        self.dying = Some(Dying {
            pidfd,
            pid,
            since_s: now_s,
            ended_s: None,
        });
    }

    /// Is the last victim's memory still to come?
    fn is_waiting(&mut self, now_s: f64) -> bool {
        let Some(dying) = &mut self.dying else {
            return false;
        };
        if dying.ended_s.is_none() {
            let ended = match &dying.pidfd {
                Some(pidfd) => has_ended(pidfd),
                // Pretended, or somebody else's.
                None => now_s - dying.since_s >= PATIENCE_S / 2.0,
            };
            dying.ended_s = ended.then_some(now_s);
            if let (false, Some(pidfd)) = (ended, &dying.pidfd) {
                // It may not have been possible the first time: a lock of the victim's was held.
                release(pidfd);
            }
        }
        let over = match dying.ended_s {
            Some(ended_s) => now_s - ended_s >= SETTLE_S,
            None => now_s - dying.since_s >= PATIENCE_S,
        };
        if !over {
            return true;
        }
        let (pid, hung) = (dying.pid, dying.ended_s.is_none() || dying.pidfd.is_none());
        self.dying = None;
        let one = self.processes.list().iter().find(|one| one.pid == pid);
        if let (Some(one), true, false) = (one.copied(), hung, self.pretend) {
            self.remember_stuck(&one);
        }
        false
    }

    fn remember_stuck(&mut self, one: &Candidate) {
        if self.stuck.len() == self.stuck.capacity() {
            self.stuck.remove(0);
        }
        self.stuck.push((one.pid, one.start));
    }
}

/// Readable: the process has ended.
fn has_ended(pidfd: &OwnedFd) -> bool {
    let mut wait = [PollFd::new(pidfd, PollFlags::IN)];
    let none = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut wait, Some(&none)).is_ok_and(|ready| ready > 0)
}

/// process_mrelease(2), from 5.15 on. That a kernel lacks it, or that the victim is gone already, is
/// no fault: its memory then comes with its end.
fn release(pidfd: &OwnedFd) {
    // SAFETY: takes a descriptor that lives through the call, and flags; touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_process_mrelease, pidfd.as_raw_fd(), 0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn killer() -> Killer {
        let processes = Processes::open("/".as_ref(), 4096).unwrap();
        Killer::new(processes, Marks::default(), false)
    }

    fn candidate(killer: &mut Killer, pid: u32) -> Candidate {
        killer.processes.look(0.0, &Marks::default()).unwrap();
        let list = killer.processes.list();
        *list.iter().find(|one| one.pid == pid as i32).unwrap()
    }

    fn sleeper() -> std::process::Child {
        std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap()
    }

    #[test]
    fn a_child_is_struck_and_its_end_is_seen() {
        let mut child = sleeper();
        let mut killer = killer();
        let one = candidate(&mut killer, child.id());
        let pidfd = killer.strike(&one).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        assert!(has_ended(&pidfd));
        killer.wait_for(one.pid, Some(pidfd), 10.0);
        assert!(killer.is_waiting(10.0));
        assert!(!killer.is_waiting(10.0 + 2.0 * SETTLE_S));
    }

    #[test]
    fn a_number_that_is_anothers_by_now_is_left_alone() {
        let mut child = sleeper();
        let mut killer = killer();
        let mut one = candidate(&mut killer, child.id());
        one.start += 1;
        assert_eq!(killer.strike(&one).err(), Some(Errno::SRCH));
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_victim_that_does_not_die_is_given_up() {
        let mut child = sleeper();
        let mut killer = killer();
        let one = candidate(&mut killer, child.id());
        // Nothing is sent: as if it hung in the kernel.
        let pid = Pid::from_raw(one.pid).unwrap();
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        killer.wait_for(one.pid, Some(pidfd), 0.0);
        assert!(killer.is_waiting(PATIENCE_S * 0.9));
        assert!(!killer.is_waiting(PATIENCE_S * 1.1));
        assert_eq!(killer.stuck, [(one.pid, one.start)]);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn where_nobody_may_be_killed_it_does_not_look_for_ever() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let processes = Processes::open(root.path(), 4096).unwrap();
        let mut killer = Killer::new(processes, Marks::default(), false);
        assert_eq!(killer.kill(1.0, 1 << 20, 4096), Killed::Nobody);
        assert_eq!(
            killer.kill(1.0 + REST_S / 2.0, 1 << 20, 4096),
            Killed::Waiting
        );
        assert_eq!(
            killer.kill(1.0 + REST_S * 1.5, 1 << 20, 4096),
            Killed::Nobody
        );
    }

    #[test]
    fn this_machines_processes_are_real_and_a_folders_are_not() {
        assert!(!killer().pretends());
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let processes = Processes::open(root.path(), 4096).unwrap();
        assert!(Killer::new(processes, Marks::default(), false).pretends());
    }
}
