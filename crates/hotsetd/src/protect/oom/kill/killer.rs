//! The kill: one victim or one fork storm, whose memory is then waited for.
//!
//! The signal goes to a pidfd, so a pid that was given to another process meanwhile is never signalled. All of a
//! storm get their signal before anybody's memory is freed: whoever has none goes on taking memory.
use super::dying::{Dying, Wait};
use super::killed::{Killed, Victim};
use super::signals::Signals;
use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use crate::protect::oom::processes::{Processes, RECENT_S, REMEMBER_S};
use crate::protect::oom::rules::Rules;
use policy::storm::{find_bonds, Storm};
use policy::victim::{choose, least, Candidate, Choice};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{pidfd_open, Pid, PidfdFlags, Signal};

/// Seconds until /proc is read again where nobody could be killed. Reading without pause at real-time
/// priority would stop the machine as well.
const REST_S: f64 = 0.2;
/// Where memory lasts for longer than this, in seconds, a process is asked to end (SIGTERM), as a service manager does.
const TIME_S: f64 = 3.0;
/// Seconds that it then has: systemd-oomd and earlyoom leave a second or more.
const ASKED_S: f64 = 1.0;
/// Where memory lasts for less than this, in seconds, it has no time any more.
const LITTLE_TIME_S: f64 = 0.5;
/// Samples that are taken in advance take at most this share of a CPU, as long as growth is known.
const SHARE: f64 = 0.05;
/// Samples of the processes, at most, in search of those that a storm has started meanwhile.
const ROUNDS: usize = 4;

/// Chooses the victim, and kills it.
pub struct Killer {
    clock: Clock,
    processes: Processes,
    rules: Rules,
    /// Name the victim, and kill nobody.
    dry_run: bool,
    dying: Option<Dying>,
    signals: Signals,
    /// When the process that is waited for got SIGTERM and no more.
    asked_s: Option<f64>,
    rest_until_s: f64,
    /// CPU seconds that the last sample of the processes took.
    sample_cost_s: f64,
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
            signals: Signals::new(dry_run),
            asked_s: None,
            rest_until_s: f64::NEG_INFINITY,
            sample_cost_s: 0.0,
            stuck: Vec::with_capacity(16),
            candidates: Vec::with_capacity(1024),
        }
    }

    /// Whether victims are only named.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Whether the kernel has pidfd_open(2).
    #[must_use]
    pub fn has_pidfds(&self) -> bool {
        self.signals.has_pidfds
    }

    /// The processes of the last sample.
    #[must_use]
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Samples the processes, because a kill may become due: then their growth is known. On a machine with many
    /// processes a sample is slow, and samples are rarer: they take [`SHARE`] of a CPU. `small`: pages below which a
    /// process is not worth a kill.
    pub fn prepare(&mut self, now_s: f64, small: u64) {
        let least_s = (self.sample_cost_s / SHARE).clamp(REMEMBER_S, RECENT_S / 2.0);
        if self.processes.age_s(now_s) >= least_s {
            let begun_s = self.clock.thread_cpu_s();
            // The kill itself reports a /proc that cannot be listed.
            let boot_s = self.clock.boot_s();
            let _ = self.processes.sample(now_s, boot_s, &self.rules, small);
            self.sample_cost_s = self.clock.thread_cpu_s() - begun_s;
        }
    }

    /// Memory is exhausted: kills, unless the last victim's memory is still on its way. `total`: pages
    /// of memory and swap. `page_size`: bytes.
    ///
    /// `ends_s`: seconds until memory ends. Where there is time the victim gets SIGTERM first.
    pub fn kill(&mut self, now_s: f64, ends_s: f64, total: u64, page_size: u64) -> Killed {
        if let Some(pid) = self.insist(now_s, ends_s) {
            return Killed::Insisted(pid);
        }
        if now_s < self.rest_until_s || self.is_waiting(now_s) {
            return Killed::Waiting;
        }
        self.rest_until_s = now_s + REST_S;
        let begun_s = self.clock.now_s();
        let boot_s = self.clock.boot_s();
        let small = least(total, page_size);
        let sampled = self.processes.sample(now_s, boot_s, &self.rules, small);
        if let Err(errno) = sampled {
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
        match choose(&mut self.candidates, total, page_size) {
            Choice::Nobody => Killed::Nobody,
            Choice::Wait(dying) => {
                // Another program's kill gets as long as hotsetd's own.
                self.rest_until_s = f64::NEG_INFINITY;
                // With a descriptor the wait is over with the process's end.
                let real = Pid::from_raw(dying.pid).filter(|_| !self.dry_run);
                let pidfd = real.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                self.wait_for(dying.pid, pidfd, now_s);
                Killed::Waiting
            }
            Choice::One(one) => {
                // Without a pidfd nobody sees whether the victim has ended when asked.
                self.signals.signal = match ends_s > TIME_S && self.signals.has_pidfds {
                    true => Signal::TERM,
                    false => Signal::KILL,
                };
                self.strike_chosen(now_s, begun_s, &one, None, total)
            }
            Choice::Storm(storm) => {
                self.signals.signal = Signal::KILL;
                self.strike_chosen(now_s, begun_s, &storm.head, Some(storm), total)
            }
        }
    }

    /// Kills `head`, and its whole storm.
    fn strike_chosen(
        &mut self,
        now_s: f64,
        begun_s: f64,
        head: &Candidate,
        storm: Option<Storm>,
        total: u64,
    ) -> Killed {
        let group = self.processes.oom_group(head.pid, &self.rules);
        if !group.is_empty() {
            self.signals.signal = Signal::KILL;
        }
        let mut victim = Victim {
            pid: head.pid,
            uid: head.uid,
            name: Text::of(format_args!("{}", head.name())),
            cgroup: self.processes.cgroup(head.pid, &self.rules),
            memory: head.memory,
            score: head.score(total).unwrap_or(0),
            count: 1,
            dry_run: self.dry_run,
            took_us: 0,
            asked: self.signals.signal == Signal::TERM,
        };
        // The parent that starts the storm's processes is killed first, because it would start more.
        if let Some(storm) = &storm {
            let parent = self.candidates.iter().find(|one| storm.is_parent(one));
            if let Some(parent) = parent.copied().filter(|one| one.pid != head.pid) {
                self.strike_one_of(storm, &parent, &mut victim);
            }
        }
        let done = match self.dry_run {
            true => Ok(None),
            false => self.strike(head),
        };
        if done.is_ok() {
            self.strike_group(head, &group, &mut victim);
        }
        if let Some(storm) = &storm {
            self.strike_rest(now_s, storm, head, &mut victim);
        }
        self.signals.release_all();
        victim.took_us = ((self.clock.now_s() - begun_s) * 1e6) as u32;
        match done {
            Ok(pidfd) => {
                self.rest_until_s = f64::NEG_INFINITY;
                let copy = pidfd.as_ref().and_then(|pidfd| pidfd.try_clone().ok());
                self.signals.release(copy);
                self.wait_for(head.pid, pidfd, now_s);
                self.asked_s = victim.asked.then_some(now_s);
                Killed::Done(victim)
            }
            // The process has ended meanwhile: its memory is free.
            Err(Errno::SRCH) => {
                self.rest_until_s = f64::NEG_INFINITY;
                Killed::Waiting
            }
            Err(errno) => {
                self.remember_stuck(head);
                Killed::Failed(victim, errno)
            }
        }
    }

    /// Kills the processes of `pids` as well, which live or die with `head`.
    fn strike_group(&mut self, head: &Candidate, pids: &[i32], victim: &mut Victim) {
        for at in 0..self.candidates.len() {
            let one = self.candidates[at];
            let other = one.pid != head.pid && !one.dying && !one.is_spared();
            if other && pids.contains(&one.pid) {
                self.strike_another(&one, victim);
            }
        }
    }

    /// Kills the process that was asked to end, once its time is over. Returns its pid.
    fn insist(&mut self, now_s: f64, ends_s: f64) -> Option<i32> {
        let asked_s = self.asked_s?;
        let dying = self.dying.as_mut()?;
        let wait = dying.check(now_s);
        if wait != Wait::Longer || dying.has_ended() {
            self.asked_s = None;
            if wait == Wait::InVain {
                // The shortage passed meanwhile. The process was not killed, so it does not hang.
                self.dying = None;
            }
            return None;
        }
        if now_s - asked_s < ASKED_S && ends_s > LITTLE_TIME_S {
            return None;
        }
        self.asked_s = None;
        let (pid, pidfd) = (dying.pid, dying.kill(now_s));
        self.signals.signal = Signal::KILL;
        self.signals.release(pidfd);
        Some(pid)
    }

    /// Kills the other processes of the storm. Samples again until no more were started meanwhile.
    fn strike_rest(&mut self, now_s: f64, storm: &Storm, head: &Candidate, victim: &mut Victim) {
        for _ in 0..ROUNDS {
            let before = victim.count;
            for at in 0..self.candidates.len() {
                let one = self.candidates[at];
                if one.pid != head.pid && !storm.is_parent(&one) {
                    self.strike_one_of(storm, &one, victim);
                }
            }
            if self.dry_run || victim.count == before {
                return;
            }
            self.signals.release_all();
            let boot_s = self.clock.boot_s();
            // All are read: who has the signal by now shows in `status` alone.
            let sampled = self.processes.sample(now_s, boot_s, &self.rules, 0);
            if sampled.is_err() {
                return;
            }
            self.candidates.clear();
            self.candidates.extend(self.processes.list());
            find_bonds(&mut self.candidates);
        }
    }

    fn strike_one_of(&mut self, storm: &Storm, one: &Candidate, victim: &mut Victim) {
        if storm.has(one) {
            self.strike_another(one, victim);
        }
    }

    fn strike_another(&mut self, one: &Candidate, victim: &mut Victim) {
        if !self.dry_run {
            let Ok(pidfd) = self.strike(one) else { return };
            self.signals.hold(pidfd);
        }
        victim.count += 1;
        victim.memory += one.memory;
    }

    fn strike(&mut self, one: &Candidate) -> Result<Option<OwnedFd>, Errno> {
        self.signals.send(one, &mut self.processes, &self.rules)
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
#[path = "tests.rs"]
mod tests;
