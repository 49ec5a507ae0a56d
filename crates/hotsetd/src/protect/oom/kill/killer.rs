//! The kill: one victim or one fork storm, whose memory is then waited for.
//!
//! The signal goes to a pidfd, so a pid that was given to another process meanwhile is never signalled. All of a
//! storm get their signal before anybody's memory is freed: whoever has none goes on taking memory.
use super::dying::{Dying, Wait, REST_S, SETTLE_S};
use super::killed::{Killed, Victim};
use super::signals::Signals;
use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use crate::protect::oom::processes::{Processes, RECENT_S, REMEMBER_S};
use policy::storm::{find_bonds, Storm};
use policy::victim::{choose, least, Candidate, Choice};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{pidfd_open, Pid, PidfdFlags, Signal};

/// Where memory lasts for longer than this, in seconds, a process is asked to end (SIGTERM), as a service manager does.
const TIME_S: f64 = 3.0;
/// Samples that are taken in advance take at most this share of a CPU, as long as growth is known.
const SHARE: f64 = 0.05;
/// Samples of the processes, at most, in search of those that a storm has started meanwhile.
const ROUNDS: usize = 4;

/// Chooses the victim, and kills it.
pub struct Killer {
    clock: Clock,
    pub processes: Processes,
    /// Name the victim, and kill nobody.
    pub dry_run: bool,
    dying: Option<Dying>,
    signals: Signals,
    rest_until_s: f64,
    /// CPU seconds that the last sample of the processes took.
    sample_cost_s: f64,
}

impl Killer {
    /// `dry_run`: nobody is killed. Nobody is killed either where `processes` are not this machine's own.
    #[must_use]
    pub fn new(processes: Processes, dry_run: bool, clock: Clock) -> Killer {
        let dry_run = dry_run || !processes.is_real();
        Killer {
            clock,
            processes,
            dry_run,
            dying: None,
            signals: Signals::new(dry_run),
            rest_until_s: f64::NEG_INFINITY,
            sample_cost_s: 0.0,
        }
    }

    /// Whether the kernel has pidfd_open(2).
    #[must_use]
    pub fn has_pidfds(&self) -> bool {
        self.signals.has_pidfds
    }

    /// Samples the processes, because a kill may become due: then their growth is known. On a machine with many
    /// processes a sample is slow, and samples are rarer: they take [`SHARE`] of a CPU. Returns whether it was time for
    /// a sample. `pressing`: only a kill can help. `small`: pages below which a process is not worth a kill.
    pub fn prepare(&mut self, now_s: f64, pressing: bool, small: u64) -> bool {
        // Reading all of /proc takes longer than a hog takes to use up the memory that is left. At the last
        // moment an older sample is used.
        let age_s = match pressing {
            true => REMEMBER_S * 4.0,
            false => (self.sample_cost_s / SHARE).clamp(REMEMBER_S, RECENT_S / 2.0),
        };
        let due = self.processes.age_s(now_s) >= age_s;
        if due {
            let begun_s = self.clock.thread_cpu_s();
            // The kill itself reports a /proc that cannot be listed.
            let _ = self.sample(now_s, small);
            self.sample_cost_s = self.clock.thread_cpu_s() - begun_s;
        }
        due
    }

    fn sample(&mut self, now_s: f64, small: u64) -> Result<(), Errno> {
        self.processes.sample(now_s, self.clock.boot_s(), small)
    }

    /// Memory is exhausted: kills, unless the last victim's memory is still on its way. `total`: pages
    /// of memory and swap. `page_size`: bytes.
    ///
    /// `ends_s`: seconds until memory ends. Where there is time the victim gets SIGTERM first.
    pub fn kill(&mut self, now_s: f64, ends_s: f64, total: u64, page_size: u64) -> Killed {
        let waiting = self.wait(now_s, ends_s);
        if let Some(waiting) = waiting {
            if !self.dying.as_mut().is_some_and(|dying| dying.is_due(now_s)) {
                return waiting;
            }
        }
        if now_s < self.rest_until_s {
            return Killed::Waiting;
        }
        self.rest_until_s = now_s + REST_S;
        let begun_s = self.clock.now_s();
        if let Err(errno) = self.sample(now_s, least(total, page_size)) {
            return Killed::Unlisted(errno);
        }
        let (head, storm) = match choose(&mut self.processes.list, total, page_size) {
            Choice::Nobody | Choice::Wait(_) if waiting.is_some() => {
                // The wait goes on, and the next kill is due at once where it is over.
                self.rest_until_s = f64::NEG_INFINITY;
                return Killed::Waiting;
            }
            Choice::Nobody => return Killed::Nobody,
            Choice::Wait(dying) => return self.wait_for_others_kill(&dying, now_s),
            Choice::One(one) => (one, None),
            Choice::Storm(storm) => (storm.head, Some(storm)),
        };
        let group = self.processes.oom_group(head.pid);
        // Without a pidfd nobody sees whether the victim has ended when asked.
        let asks = ends_s > TIME_S && storm.is_none() && group.is_empty() && self.has_pidfds();
        let mut victim = Victim {
            pid: head.pid,
            uid: head.uid,
            name: Text::of(format_args!("{}", head.name())),
            cgroup: self.processes.cgroup(head.pid),
            memory: head.memory,
            score: head.score(total).unwrap_or(0),
            count: 1,
            dry_run: self.dry_run,
            took_us: 0,
            asked: asks && !self.dry_run,
        };
        let done = self.strike_all(now_s, &head, storm, &group, &mut victim);
        victim.took_us = ((self.clock.now_s() - begun_s) * 1e6) as u32;
        match done {
            Ok(pidfd) => {
                if !victim.asked {
                    let copy = pidfd.as_ref().and_then(|pidfd| pidfd.try_clone().ok());
                    self.signals.release(copy);
                }
                if !self.dry_run {
                    let fell_in_storm = storm.is_some();
                    let fallen = Candidate {
                        fell_in_storm,
                        ..head
                    };
                    self.processes.remember_killed(&fallen, now_s);
                }
                self.wait_for(Dying::new(&head, pidfd, victim.asked, now_s));
                Killed::Done(victim)
            }
            // The process has ended meanwhile: its memory is free.
            Err(Errno::SRCH) => {
                self.rest_until_s = f64::NEG_INFINITY;
                Killed::Waiting
            }
            Err(errno) => {
                self.processes.leave_out(head.pid, head.start);
                Killed::Failed(victim, errno)
            }
        }
    }

    /// Kills `head`, and its whole storm, or the processes of `group`, which live or die with it. Returns a descriptor
    /// of `head`.
    fn strike_all(
        &mut self,
        now_s: f64,
        head: &Candidate,
        storm: Option<Storm>,
        group: &[i32],
        victim: &mut Victim,
    ) -> Result<Option<OwnedFd>, Errno> {
        // The parent that starts the storm's processes is killed first, because it would start more.
        if let Some(storm) = &storm {
            self.strike_others(head, victim, |one| storm.is_parent(one) && storm.has(one));
        }
        let signal = match victim.asked {
            true => Signal::TERM,
            false => Signal::KILL,
        };
        let done = match self.dry_run {
            true => Ok(None),
            false => self.signals.send(signal, head, &mut self.processes),
        };
        if done.is_ok() {
            let may = |one: &Candidate| !one.dying && !one.is_spared();
            self.strike_others(head, victim, |one| may(one) && group.contains(&one.pid));
        }
        if let Some(storm) = &storm {
            self.strike_rest(now_s, storm, head, victim);
        }
        self.signals.release_all();
        done
    }

    /// Kills the other processes of the storm. Samples again until no more were started meanwhile.
    fn strike_rest(&mut self, now_s: f64, storm: &Storm, head: &Candidate, victim: &mut Victim) {
        for _ in 0..ROUNDS {
            let before = victim.count;
            self.strike_others(head, victim, |one| storm.has(one) && !storm.is_parent(one));
            if self.dry_run || victim.count == before {
                return;
            }
            self.signals.release_all();
            // All are read: who has the signal by now shows in `status` alone.
            if self.sample(now_s, 0).is_err() {
                return;
            }
            find_bonds(&mut self.processes.list);
        }
    }

    /// Kills the processes besides `head` that `fits` names.
    fn strike_others(
        &mut self,
        head: &Candidate,
        victim: &mut Victim,
        fits: impl Fn(&Candidate) -> bool,
    ) {
        for at in 0..self.processes.list.len() {
            let one = self.processes.list[at];
            if one.pid == head.pid || !fits(&one) {
                continue;
            }
            if !self.dry_run {
                let sent = self.signals.send(Signal::KILL, &one, &mut self.processes);
                let Ok(pidfd) = sent else { continue };
                self.signals.hold(pidfd);
            }
            victim.count += 1;
            victim.memory += one.memory;
        }
    }

    /// Notices the end of a victim, from which on its memory is there soon. To be called at each sample: the next
    /// exhaustion may come in the time that the memory needs.
    pub fn notice_end(&mut self, now_s: f64) {
        if let Some(dying) = &mut self.dying {
            dying.check(now_s);
        }
    }

    /// Waits for a process that hotsetd has not killed.
    fn wait_for_others_kill(&mut self, dying: &Candidate, now_s: f64) -> Killed {
        // With a descriptor the wait is over with the process's end.
        let real = Pid::from_raw(dying.pid).filter(|_| !self.dry_run);
        let pidfd = real.map(|pid| pidfd_open(pid, PidfdFlags::empty()));
        if matches!(pidfd, Some(Err(Errno::SRCH))) {
            self.rest_until_s = now_s + SETTLE_S;
            return Killed::Waiting;
        }
        // Another program's kill gets as long as hotsetd's own.
        let pidfd = pidfd.and_then(Result::ok);
        self.wait_for(Dying::new(dying, pidfd, false, now_s));
        Killed::Waiting
    }

    fn wait_for(&mut self, dying: Dying) {
        self.rest_until_s = f64::NEG_INFINITY;
        self.dying = Some(dying);
    }

    /// What there is to wait for. `None`: the last victim's memory is there, or is not waited for any longer. A
    /// process that was asked to end and has no time left is killed.
    fn wait(&mut self, now_s: f64, ends_s: f64) -> Option<Killed> {
        let dying = self.dying.as_mut()?;
        let wait = dying.check(now_s);
        if wait == Wait::Longer && dying.is_overdue(now_s, ends_s) {
            self.signals.release(dying.kill(now_s));
            return Some(Killed::Insisted(dying.pid));
        }
        if wait == Wait::Longer {
            return Some(Killed::Waiting);
        }
        // A process that was only asked to end was not killed, so it does not hang.
        if wait == Wait::InVain && !dying.asked && !self.dry_run {
            self.processes.leave_out(dying.pid, dying.start);
        }
        self.dying = None;
        None
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
