//! Protection: one quick sample, and the actions that it leads to.
use super::cgroups::Cgroups;
use super::context::{Tools, MODULE};
use super::mlock::thread::Locker;
use super::oom::controller::KillController;
use super::oom::low_memory::{Level as WarningLevel, Warnings};
use super::oom::notifier::{Notices, Notifier};
use super::oom::processes::Processes;
use super::series::Series;
use super::settings::{Settings, When};
use super::steering::Steering;
use crate::actuate::reclaim_worker::Job;
use crate::observe::fast_sampler::FastSampler;
use crate::telemetry::log::Level;
use kernfs::Sample;
use policy::floors::{clean_line, MOST_PERCENT};
use policy::protect::{Outcome, Protect};
use policy::steering::Steer;
use status::{Kills, ProtectionCounts};
use std::path::Path;

/// Seconds until a sample that failed is tried again.
const AGAIN_S: f64 = 0.1;
/// Samples take at most this share of a CPU, since hotsetd promises 98% of the work. Where a sample is slow (emulated
/// machines), samples are rarer than the policy asks.
const SHARE: f64 = 0.02;
/// The same share where only a kill can help.
const SHARE_AT_WORST: f64 = 0.5;
/// Seconds between samples that also read the files that change slowly.
const SLOW_S: f64 = 1.0;

/// Kills, past and expected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expectation {
    pub kills: u64,
    /// A kill may become due.
    pub brewing: bool,
}

/// Who keeps the floors.
pub(super) enum Enforcer {
    Kernel(Series),
    Hotsetd(Steering),
}

/// Protection.
pub struct Guard {
    sampler: FastSampler,
    pub policy: Protect,
    pub(super) enforcer: Enforcer,
    /// `None`: nobody is killed.
    pub(super) kill: Option<KillController>,
    /// `None`: nobody is to be told anything.
    notices: Option<Notices>,
    /// The process that gives the notices, once it is started.
    pub notifier: Option<Notifier>,
    warnings: Warnings,
    pub(super) locker: Option<Locker>,
    pub(super) cgroups: Option<Cgroups>,
    /// The policy's last decision.
    pub(super) decision: Outcome,
    /// Bytes of a page.
    pub(super) page_size: u64,
    /// Pages of memory.
    pub(super) total: u64,
    /// Pages of swap.
    swap: u64,
    /// Without the writes of vm.swappiness, which are counted where they are made.
    pub(super) counts: ProtectionCounts,
    /// The kernel takes requests to reclaim anonymous memory, and hotsetd has to make them.
    can_reclaim_anon: bool,
    slow_sample_s: f64,
    /// CPU seconds of a sample, averaged.
    cost_s: f64,
}

impl Guard {
    /// Takes the first sample. `None`: protection is off. `dry`: nothing is written and nobody killed.
    pub fn new(root: &Path, mut settings: Settings, dry: bool, tools: &mut Tools) -> Option<Guard> {
        if !settings.policy.enabled {
            return None;
        }
        // The setting is of one CPU, and all may take memory at once.
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
        settings.policy.fastest = settings.policy.fastest.saturating_mul(cpus);
        let mut sampler = FastSampler::new(root, tools.clock.clone());
        let page_size = sampler.page_size();
        let first = sampler.sample(true, 0, |seen| (seen.whole().managed, seen.swap_total));
        let (total, swap) = first.unwrap_or_default();
        let locker = match dry {
            true => None,
            false => Locker::open(root, settings.lock_bytes, total, page_size, tools.log),
        };
        let series = Series::is_on(tools.knobs);
        let hard = settings.policy.floors.any_hard();
        let theirs = series == Some(true) && !hard;
        let kills = match settings.kill.when {
            When::Auto => series.is_none() || !(hard || theirs),
            When::Always => true,
            When::Never => false,
        };
        let kill = match kills {
            true => KillController::open(root, page_size, &settings.kill, dry, tools),
            false => None,
        };
        let now_s = tools.clock.now_s();
        let enforcer = match series {
            Some(_) => Enforcer::Kernel(Series::new(theirs)),
            None => Enforcer::Hotsetd(Steering::new(dry, kill.is_some(), page_size, now_s)),
        };
        let notices = settings.notices(root, kill.is_some());
        let guard = Guard {
            cgroups: Cgroups::new(root, &settings.cgroups),
            policy: Protect::new(settings.policy, page_size),
            sampler,
            enforcer,
            kill,
            notices: notices.filter(|_| !dry),
            notifier: None,
            warnings: Warnings::default(),
            locker,
            decision: Outcome::default(),
            page_size,
            total,
            swap,
            counts: ProtectionCounts::default(),
            can_reclaim_anon: series.is_none(),
            slow_sample_s: f64::NEG_INFINITY,
            cost_s: 0.0,
        };
        guard.log_start(tools);
        Some(guard)
    }

    fn log_start(&self, tools: &mut Tools) {
        let floors = &self.policy.config().floors;
        // Without pages the first sample failed.
        let seen = self.total > 0;
        let swapless = seen && self.swap == 0;
        let steers = matches!(self.enforcer, Enforcer::Hotsetd(_));
        let enforcer = match (steers, swapless) {
            (false, _) => "the kernel keeps the floors (vm.workingset_protection)",
            (true, false) => "hotsetd keeps the floors by vm.swappiness",
            (true, true) => "vm.swappiness keeps no floor without swap",
        };
        let kill = match self.kills() {
            Kills::DryRun => "hotsetd names whom it would kill when memory is exhausted",
            Kills::WhenExhausted => "hotsetd kills when memory is exhausted",
            _ => "hotsetd kills nobody",
        };
        let message = format_args!("protection is on: {enforcer}; {kill}");
        tools.log.line(Level::Notice, MODULE, message);
        if swapless && steers {
            let level = match floors.any_hard() {
                true => Level::Warning,
                false => Level::Notice,
            };
            let message = match &self.kill {
                _ if !floors.any_hard() => "no swap: reclaim cannot be steered",
                Some(_) => "no swap: the floors hold by the kill alone",
                None => "no swap and no kill: nothing keeps the floors",
            };
            tools
                .log
                .line(level, MODULE, format_args!("{message}; add swap"));
        }
        let excess = floors.excess(self.total, self.page_size);
        if let Some(percent) = excess.filter(|_| seen) {
            let message = format_args!(
                "the hard floors are {percent:.0}% of memory: both are scaled down to {MOST_PERCENT}% together \
                 (clean_min_ratio, anon_min_ratio)"
            );
            tools.log.line(Level::Warning, MODULE, message);
        }
    }

    /// Gives back the knobs that this guard alone has changed.
    pub fn stop(&mut self, tools: &mut Tools) {
        if let Enforcer::Hotsetd(steering) = &mut self.enforcer {
            steering.stop(&self.decision, tools);
        }
    }

    /// Never again hands a reclaim of anonymous memory to the worker: this kernel cannot do it.
    pub fn forgo_anon_reclaim(&mut self) {
        self.can_reclaim_anon = false;
    }

    /// Whether vm.swappiness may change at the next sample.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        matches!(&self.enforcer, Enforcer::Hotsetd(steering) if steering.is_armed())
    }

    /// Whether a kill may be due any moment.
    #[must_use]
    pub fn is_pressed(&self) -> bool {
        self.decision.pressing
    }

    /// What the flight recorder shows of protection: the last sample, and the processes where they are sampled.
    pub fn show(&mut self) -> (&Sample, Option<&mut Processes>, Expectation) {
        let expectation = Expectation {
            kills: self.counts.kills,
            brewing: self.decision.brewing,
        };
        let processes = self.kill.as_mut().map(KillController::processes);
        (self.sampler.last(), processes, expectation)
    }

    /// The notices that are wanted and that no process gives. None is started while a kill may be due any moment.
    pub fn lacks(&mut self) -> Option<&Notices> {
        let notices = self.notices.as_ref().filter(|_| !self.decision.pressing)?;
        let notifier = self.notifier.as_mut();
        let given = notifier.is_some_and(|notifier| notifier.runs(notices));
        (!given).then_some(notices)
    }

    /// Takes over the process of a guard that this one replaces, if it gives the notices that are wanted.
    pub fn take_over(&mut self, mut notifier: Notifier) {
        match &self.notices {
            Some(notices) if notifier.runs(notices) => self.notifier = Some(notifier),
            _ => notifier.end(),
        }
    }

    /// Whether the daemon kills.
    pub(super) fn kills(&self) -> Kills {
        self.kill.as_ref().map_or(Kills::Never, |kill| kill.kills())
    }

    /// Share of memory, 0 to 1, in file pages that reclaim is kept away from. Locked pages are on no
    /// list: they come on top.
    #[must_use]
    pub fn protected(&self) -> f64 {
        let line = clean_line(self.decision.floors);
        line as f64 / self.total.max(1) as f64
    }

    /// Takes one sample, and acts on it. Returns the seconds until the next.
    pub fn step(&mut self, tools: &mut Tools) -> f64 {
        let now_s = tools.clock.now_s();
        self.counts.samples += 1;
        let Some(decision) = self.sample(now_s, tools) else {
            // The daemon's own sample reports the file that could not be read.
            return AGAIN_S;
        };
        self.decision = decision;
        match &mut self.enforcer {
            Enforcer::Kernel(series) => series.set(self.policy.ratios(self.total), tools),
            Enforcer::Hotsetd(steering) => steering.steer(now_s, &decision, tools),
        }
        // Where neither type can be spared, locked pages are the first to go. Exhaustion alone unlocks
        // nothing: a task that takes memory without end would only take the unlocked pages as well.
        if let (Some(locker), true) = (&self.locker, decision.both) {
            locker.let_go();
        }
        self.warn(now_s);
        self.kill_or_prepare(now_s, tools);
        let worker = tools.worker.as_mut().filter(|_| self.can_reclaim_anon);
        if let (Some((node, bytes)), Some(worker)) = (decision.reclaim_anon, worker) {
            let asked = worker.ask(Job::ReclaimAnon { node, bytes });
            self.counts.anon_reclaims += u64::from(asked);
        }
        let share = match decision.pressing {
            true => SHARE_AT_WORST,
            false => SHARE,
        };
        decision.next_s.max(self.cost_s / share)
    }

    /// `None`: a file that protection needs could not be read.
    fn sample(&mut self, now_s: f64, tools: &mut Tools) -> Option<Outcome> {
        let slow = now_s - self.slow_sample_s >= SLOW_S;
        let locked = self.locker.as_ref().map_or(0, Locker::bytes) / self.page_size;
        let (policy, total, swap) = (&mut self.policy, &mut self.total, &mut self.swap);
        let begun_s = tools.clock.thread_cpu_s();
        let decision = self.sampler.sample(slow, locked, |seen| {
            (*total, *swap) = (seen.whole().managed, seen.swap_total);
            policy.decide(seen)
        });
        let cost_s = tools.clock.thread_cpu_s() - begun_s;
        self.cost_s += (cost_s - self.cost_s) / 8.0;
        if slow {
            self.slow_sample_s = now_s;
            if let Enforcer::Hotsetd(steering) = &mut self.enforcer {
                steering.check_ownership(&self.decision, tools);
            }
            // Where a kill may be due, a boundary can wait.
            if let (Some(cgroups), false) = (&mut self.cgroups, self.decision.pressing) {
                let memory = self.total * self.page_size;
                cgroups.update(now_s, memory, self.page_size, tools);
            }
        }
        decision
    }

    /// Tells programs that memory is short: they may give caches back.
    fn warn(&mut self, now_s: f64) {
        let (decision, kill) = (&self.decision, self.decision.exhausted.is_some());
        let level = match decision.steer {
            _ if kill || (decision.pressing && decision.little_swap) => WarningLevel::Critical,
            Steer::Admin if !decision.pressing => return,
            _ => WarningLevel::Medium,
        };
        let due = self.warnings.due(now_s, level, decision.left, kill);
        if let (Some(notifier), true) = (&self.notifier, due) {
            notifier.warn(level);
        }
    }

    fn kill_or_prepare(&mut self, now_s: f64, tools: &mut Tools) {
        let (decision, total) = (&self.decision, self.total + self.swap);
        let Some(kill) = &mut self.kill else { return };
        kill.notice_end(now_s);
        let Some(cause) = decision.exhausted else {
            if decision.brewing {
                kill.prepare(now_s, decision.pressing, total, tools);
            }
            return;
        };
        let Some(victim) = kill.kill(now_s, cause, decision, total, tools) else {
            return;
        };
        match victim.dry_run {
            true => self.counts.kills_dry_run += 1,
            false => self.counts.kills += 1,
        }
        if let Some(notifier) = &self.notifier {
            let sent = notifier.send(&victim, cause, self.page_size);
            self.counts.kills_unnotified += u64::from(sent.is_err());
        }
        self.policy.killed(f64::from(victim.took_us) / 1e6);
    }
}
