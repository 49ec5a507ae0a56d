//! The kill: one victim or one fork storm, whose memory is then waited for.
//!
//! The signal goes to a pidfd, so a pid that was given to another process meanwhile is never signalled.
//!
//! The call process_mrelease(2) then frees the victim's memory at this thread's priority. It does not wait
//! until the victim itself gets the CPU.
use super::dying::{release_memory, Dying, Wait};
use super::processes::{Processes, REMEMBER_S};
use super::rules::Rules;
use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use policy::victim::{choose, Candidate, Choice, Storm};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};

/// Seconds until /proc is read again where nobody could be killed. Reading without pause at real-time
/// priority would stop the machine as well.
const REST_S: f64 = 0.2;
/// Samples of the processes, at most, in search of those that a storm has started meanwhile.
const ROUNDS: usize = 4;

/// The outcome of a kill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Killed {
    /// The last victim's memory is still on its way, or another process is dying anyway.
    Waiting,
    /// No process may be killed, or none holds enough memory.
    Nobody,
    /// /proc cannot be listed.
    Unlisted(Errno),
    Done(Victim),
    Failed(Victim, Errno),
}

/// The process that was killed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Victim {
    pub pid: i32,
    pub uid: u32,
    pub name: Text<16>,
    /// Pages of all processes that were killed.
    pub memory: u64,
    pub score: i64,
    /// Processes killed: 1, or those of a storm.
    pub count: u32,
    /// The victim was only named, and lives.
    pub dry_run: bool,
    /// Microseconds from the decision to the last signal.
    pub took_us: u32,
}

/// Chooses the victim, and kills it.
pub struct Killer {
    clock: Clock,
    processes: Processes,
    rules: Rules,
    /// Name the victim, and kill nobody.
    dry_run: bool,
    dying: Option<Dying>,
    rest_until_s: f64,
    /// Pid and start of processes that were waited for in vain: not chosen again.
    stuck: Vec<(i32, u64)>,
    /// The processes of the last sample without the stuck ones. The room is used again.
    candidates: Vec<Candidate>,
}

impl Killer {
    /// `dry_run`: nobody is killed. Nobody is killed either where `processes` are not this machine's own.
    #[must_use]
    pub fn new(processes: Processes, rules: Rules, dry_run: bool, clock: Clock) -> Killer {
        let dry_run = dry_run || !processes.is_real();
        Killer {
            clock,
            processes,
            rules,
            dry_run,
            dying: None,
            rest_until_s: f64::NEG_INFINITY,
            stuck: Vec::with_capacity(16),
            candidates: Vec::with_capacity(1024),
        }
    }

    /// Whether victims are only named.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// The processes of the last sample.
    #[must_use]
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Samples the processes, because a kill may become due: then their growth is known.
    pub fn prepare(&mut self, now_s: f64) {
        if self.processes.age_s(now_s) >= REMEMBER_S {
            // The kill itself reports a /proc that cannot be listed.
            let _ = self
                .processes
                .sample(now_s, self.clock.boot_s(), &self.rules);
        }
    }

    /// Memory is exhausted: kills, unless the last victim's memory is still on its way. `total`: pages
    /// of memory and swap. `page_size`: bytes.
    pub fn kill(&mut self, now_s: f64, total: u64, page_size: u64) -> Killed {
        if now_s < self.rest_until_s || self.is_waiting(now_s) {
            return Killed::Waiting;
        }
        self.rest_until_s = now_s + REST_S;
        let begun_s = self.clock.now_s();
        let boot_s = self.clock.boot_s();
        if let Err(errno) = self.processes.sample(now_s, boot_s, &self.rules) {
            return Killed::Unlisted(errno);
        }
        // A process that does not die is no candidate.
        let stuck = &self.stuck;
        let others = self
            .processes
            .list()
            .iter()
            .filter(|process| !stuck.contains(&(process.pid, process.start)));
        self.candidates.clear();
        self.candidates.extend(others);
        match choose(&self.candidates, total, page_size) {
            Choice::Nobody => Killed::Nobody,
            Choice::Wait(at) => {
                // Another program's kill gets as long as hotsetd's own.
                self.rest_until_s = f64::NEG_INFINITY;
                self.wait_for(self.candidates[at].pid, None, now_s);
                Killed::Waiting
            }
            Choice::One(at) => self.strike_chosen(now_s, begun_s, at, None, total),
            Choice::Storm(at) => {
                let storm = Storm::of(&self.candidates[at], &self.candidates);
                self.strike_chosen(now_s, begun_s, at, Some(storm), total)
            }
        }
    }

    /// Kills the candidate at `at`, and its whole storm.
    fn strike_chosen(
        &mut self,
        now_s: f64,
        begun_s: f64,
        at: usize,
        storm: Option<Storm>,
        total: u64,
    ) -> Killed {
        let head = self.candidates[at];
        let mut victim = Victim {
            pid: head.pid,
            uid: head.uid,
            name: Text::of(format_args!("{}", head.name())),
            memory: head.memory,
            score: head.score(total).unwrap_or(0),
            count: 1,
            dry_run: self.dry_run,
            took_us: 0,
        };
        // The parent that starts the storm's processes is killed first, because it would start more.
        let parent = self.candidates.iter().find(|one| one.pid == head.parent);
        if let (Some(parent), Some(storm)) = (parent.copied(), &storm) {
            self.strike_one_of(storm, &parent, total, &mut victim);
        }
        let done = match self.dry_run {
            true => Ok(None),
            false => self.strike(&head).map(Some),
        };
        if let Some(storm) = &storm {
            self.strike_rest(now_s, storm, &head, total, &mut victim);
        }
        victim.took_us = ((self.clock.now_s() - begun_s) * 1e6) as u32;
        match done {
            Ok(pidfd) => {
                self.rest_until_s = f64::NEG_INFINITY;
                self.wait_for(head.pid, pidfd, now_s);
                Killed::Done(victim)
            }
            // The process has ended meanwhile: its memory is free.
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

    /// Kills the other processes of the storm. Samples again until no more were started meanwhile.
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
            for at in 0..self.candidates.len() {
                let one = self.candidates[at];
                if one.pid != head.pid && one.pid != head.parent {
                    self.strike_one_of(storm, &one, total, victim);
                }
            }
            if self.dry_run || victim.count == before {
                return;
            }
            if self
                .processes
                .sample(now_s, self.clock.boot_s(), &self.rules)
                .is_err()
            {
                return;
            }
            self.candidates.clear();
            self.candidates.extend(self.processes.list());
        }
    }

    fn strike_one_of(&mut self, storm: &Storm, one: &Candidate, total: u64, victim: &mut Victim) {
        if storm.has(one, total) && (self.dry_run || self.strike(one).is_ok()) {
            victim.count += 1;
            victim.memory += one.memory;
        }
    }

    /// Sends SIGKILL to this very process, and frees its memory.
    fn strike(&mut self, one: &Candidate) -> Result<OwnedFd, Errno> {
        let pid = Pid::from_raw(one.pid).ok_or(Errno::SRCH)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        // The pidfd now holds the pid, but another process may have got the pid before.
        if !self.processes.is_still(one, &self.rules) {
            return Err(Errno::SRCH);
        }
        pidfd_send_signal(&pidfd, Signal::KILL)?;
        release_memory(&pidfd);
        Ok(pidfd)
    }

    fn wait_for(&mut self, pid: i32, pidfd: Option<OwnedFd>, now_s: f64) {
        self.dying = Some(Dying::new(pid, pidfd, now_s));
    }

    /// Whether the last victim's memory is still on its way.
    fn is_waiting(&mut self, now_s: f64) -> bool {
        let Some(dying) = &mut self.dying else {
            return false;
        };
        let (pid, wait) = (dying.pid, dying.check(now_s));
        if wait == Wait::Longer {
            return true;
        }
        self.dying = None;
        let process = self
            .processes
            .list()
            .iter()
            .find(|process| process.pid == pid);
        if let (Some(process), Wait::InVain, false) = (process.copied(), wait, self.dry_run) {
            self.remember_stuck(&process);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protect::oom::dying::{PATIENCE_S, SETTLE_S};
    use std::os::unix::process::ExitStatusExt;

    fn killer() -> Killer {
        let processes = Processes::open("/".as_ref(), 4096).unwrap();
        Killer::new(processes, Rules::default(), false, Clock::System)
    }

    fn candidate(killer: &mut Killer, pid: u32) -> Candidate {
        killer
            .processes
            .sample(0.0, 0.0, &Rules::default())
            .unwrap();
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
    fn a_killed_child_is_waited_for_until_it_has_ended() {
        let mut child = sleeper();
        let mut killer = killer();
        let one = candidate(&mut killer, child.id());
        let pidfd = killer.strike(&one).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        killer.wait_for(one.pid, Some(pidfd), 10.0);
        assert!(killer.is_waiting(10.0));
        assert!(!killer.is_waiting(10.0 + 2.0 * SETTLE_S));
    }

    #[test]
    fn a_pid_that_another_process_has_by_now_is_not_killed() {
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
    fn a_victim_that_does_not_end_is_not_chosen_again() {
        let mut child = sleeper();
        let mut killer = killer();
        let one = candidate(&mut killer, child.id());
        // No signal is sent: the child lives on, as if it hung in the kernel.
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
    fn where_nobody_may_be_killed_processes_are_not_sampled_again_at_once() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let processes = Processes::open(root.path(), 4096).unwrap();
        let mut killer = Killer::new(processes, Rules::default(), false, Clock::System);
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
    fn only_processes_of_this_machine_are_killed() {
        assert!(!killer().is_dry_run());
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let processes = Processes::open(root.path(), 4096).unwrap();
        assert!(Killer::new(processes, Rules::default(), false, Clock::System).is_dry_run());
    }
}
