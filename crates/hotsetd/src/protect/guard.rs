//! Protection: one quick sample, and the actions that it leads to.
use super::cgroups::Cgroups;
use super::context::{Tools, MODULE};
use super::mlock::thread::Locker;
use super::oom::controller::{Exhaustion, KillController};
use super::oom::low_memory::{Level as WarningLevel, Warnings};
use super::oom::notifier::{Notices, Notifier};
use super::series::Series;
use super::settings::{Settings, When};
use super::steering::{Situation, Steering};
use crate::actuate::reclaim_worker::Job;
use crate::observe::fast_sampler::FastSampler;
use crate::telemetry::log::Level;
use policy::floors::{clean_line, MOST_PERCENT};
use policy::protect::{Outcome, Protect};
use policy::steering::Steer;
use policy::victim::least;
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

/// Who keeps the floors.
enum Enforcer {
    Kernel(Series),
    Hotsetd(Box<Steering>),
}

/// The guard's state, for the status document and the metrics. Pages are of `page_size`
/// bytes.
pub struct GuardView<'a> {
    /// Bytes of a page.
    pub page_size: u64,
    /// The policy's last decision.
    pub decision: Outcome,
    /// anon_min, clean_min and clean_low, percent of memory.
    pub ratios: [u32; 3],
    /// The kernel keeps the floors itself.
    pub kernel_enforces: bool,
    /// The administrator wrote vm.swappiness.
    pub swappiness_yielded: bool,
    /// Quick samples taken.
    pub samples: u64,
    /// Writes of vm.swappiness.
    pub steered: u64,
    /// Reclaims of anonymous memory that were handed to the worker.
    pub anon_reclaims: u64,
    pub kill: &'a KillController,
    /// `None`: no file page may be locked.
    pub locker: Option<&'a Locker>,
    /// `None`: no cgroup is named.
    pub cgroups: Option<&'a Cgroups>,
}

/// Protection.
pub struct Guard {
    sampler: FastSampler,
    policy: Protect,
    enforcer: Enforcer,
    kill: KillController,
    /// `None`: nobody is to be told anything.
    notices: Option<Notices>,
    warnings: Warnings,
    locker: Option<Locker>,
    cgroups: Option<Cgroups>,
    /// The policy's last decision.
    decision: Outcome,
    /// Pages of memory.
    total: u64,
    /// Pages of swap.
    swap: u64,
    samples: u64,
    anon_reclaims: u64,
    /// The kernel takes requests to reclaim anonymous memory.
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
        let kernel = Series::is_there(tools.knobs);
        let hard = settings.policy.floors.any_hard();
        let theirs = kernel && !hard && Series::is_on(tools.knobs);
        let enforcer = match kernel {
            true => Enforcer::Kernel(Series::new(theirs)),
            false => Enforcer::Hotsetd(Box::new(Steering::new(dry, tools.clock.now_s()))),
        };
        let kills = match settings.kill.when {
            When::Auto => !kernel || !(hard || theirs),
            When::Always => true,
            When::Never => false,
        };
        let cgroups = Cgroups::new(root, &settings.cgroups);
        let first = |snapshot: &policy::snapshot::Snapshot| {
            (snapshot.whole().managed, Some(snapshot.swap_total))
        };
        let (total, swap) = sampler.sample(true, 0, first).unwrap_or((0, None));
        let excess = match total {
            0 => None,
            _ => settings.policy.floors.excess(total, page_size),
        };
        let locker = match dry {
            true => None,
            false => Locker::open(
                root,
                settings.lock_bytes,
                total * page_size,
                page_size,
                tools.log,
            ),
        };
        let kill = match kills {
            true => KillController::open(root, page_size, &settings.kill, dry, tools),
            false => KillController::default(),
        };
        let notices = settings.notices(root, kill.is_open());
        let guard = Guard {
            policy: Protect::new(settings.policy, page_size),
            sampler,
            enforcer,
            kill,
            notices: notices.filter(|_| !dry),
            warnings: Warnings::default(),
            locker,
            cgroups,
            decision: Outcome::default(),
            total,
            swap: swap.unwrap_or(0),
            samples: 0,
            anon_reclaims: 0,
            can_reclaim_anon: true,
            slow_sample_s: f64::NEG_INFINITY,
            cost_s: 0.0,
        };
        guard.log_start(swap == Some(0), excess, tools);
        Some(guard)
    }

    /// `excess`: both hard floors in percent of memory, where they are too much.
    fn log_start(&self, swapless: bool, excess: Option<f64>, tools: &mut Tools) {
        let enforcer = match (&self.enforcer, swapless) {
            (Enforcer::Kernel(_), _) => "the kernel keeps the floors (vm.workingset_protection)",
            (Enforcer::Hotsetd(_), false) => "hotsetd keeps the floors by vm.swappiness",
            (Enforcer::Hotsetd(_), true) => "vm.swappiness keeps no floor without swap",
        };
        let kill = self.kill.mode().describe();
        let message = format_args!("protection is on: {enforcer}; {kill}");
        tools.log.line(Level::Notice, MODULE, message);
        if swapless && matches!(self.enforcer, Enforcer::Hotsetd(_)) {
            let hard = self.policy.config().floors.any_hard();
            let (level, message) = match (hard, self.kills()) {
                (false, _) => (
                    Level::Notice,
                    "no swap: reclaim cannot be steered; add swap",
                ),
                (_, true) => (
                    Level::Warning,
                    "no swap: the floors hold by the kill alone; add swap",
                ),
                _ => (
                    Level::Warning,
                    "no swap and no kill: nothing keeps the floors; add swap",
                ),
            };
            tools.log.line(level, MODULE, format_args!("{message}"));
        }
        if let Some(percent) = excess {
            let message = format_args!(
                "the hard floors are {percent:.0}% of memory: both are scaled down to {MOST_PERCENT}% together \
                 (clean_min_ratio, anon_min_ratio)"
            );
            tools.log.line(Level::Warning, MODULE, message);
        }
    }

    /// Gives back the knobs that this guard alone has changed.
    pub fn stop(&mut self, tools: &mut Tools) {
        let situation = self.situation(tools.clock.now_s());
        if let Enforcer::Hotsetd(steering) = &mut self.enforcer {
            steering.stop(&situation, tools);
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

    /// The policy, for what it learns.
    pub fn policy(&mut self) -> &mut Protect {
        &mut self.policy
    }

    /// Whether a kill may be due any moment.
    #[must_use]
    pub fn is_pressed(&self) -> bool {
        self.decision.pressing
    }

    /// The notices that are wanted and that no process gives. None is started while a kill may be due any moment.
    pub fn lacks(&mut self) -> Option<&Notices> {
        let notices = self.notices.as_ref().filter(|_| !self.decision.pressing)?;
        (!self.kill.has_notifier(notices)).then_some(notices)
    }

    /// Whether this process gives the notices that are wanted.
    pub fn wants(&self, notifier: &mut Notifier) -> bool {
        let notices = self.notices.as_ref();
        notices.is_some_and(|notices| notifier.runs(notices))
    }

    /// Sets the process that gives notices.
    pub fn set_notifier(&mut self, notifier: Option<Notifier>) {
        self.kill.set_notifier(notifier);
    }

    /// Takes the notifier, for a guard that replaces this one.
    pub fn take_notifier(&mut self) -> Option<Notifier> {
        self.kill.take_notifier()
    }

    /// Whether memory that is exhausted leads to a kill, be it in a dry run.
    #[must_use]
    pub fn kills(&self) -> bool {
        self.kill.is_open()
    }

    /// Share of memory, 0 to 1, in file pages that reclaim is kept away from. Locked pages are on no
    /// list: they come on top.
    #[must_use]
    pub fn protected(&self) -> f64 {
        let line = clean_line(self.decision.floors);
        line as f64 / self.total.max(1) as f64
    }

    /// The guard's state, for the status document and the metrics.
    #[must_use]
    pub fn view(&self) -> GuardView<'_> {
        let steering = match &self.enforcer {
            Enforcer::Kernel(_) => None,
            Enforcer::Hotsetd(steering) => Some(steering),
        };
        GuardView {
            page_size: self.sampler.page_size(),
            decision: self.decision,
            ratios: self.policy.ratios(self.total),
            kernel_enforces: steering.is_none(),
            swappiness_yielded: steering.is_some_and(|steering| steering.has_yielded()),
            samples: self.samples,
            steered: steering.map_or(0, |steering| steering.writes()),
            anon_reclaims: self.anon_reclaims,
            kill: &self.kill,
            locker: self.locker.as_ref(),
            cgroups: self.cgroups.as_ref(),
        }
    }

    /// Takes one sample, and acts on it. Returns the seconds until the next.
    pub fn step(&mut self, tools: &mut Tools) -> f64 {
        let now_s = tools.clock.now_s();
        self.samples += 1;
        let Some(decision) = self.sample(now_s, tools) else {
            // The daemon's own sample reports the file that could not be read.
            return AGAIN_S;
        };
        self.decision = decision;
        self.enforce(now_s, tools);
        // Where neither type can be spared, locked pages are the first to go. Exhaustion alone unlocks
        // nothing: a task that takes memory without end would only take the unlocked pages as well.
        if decision.both {
            if let Some(locker) = &self.locker {
                locker.let_go();
            }
        }
        self.warn(now_s);
        self.kill_or_prepare(now_s, tools);
        if let (Some((node, bytes)), Enforcer::Hotsetd(_)) = (decision.reclaim_anon, &self.enforcer)
        {
            self.reclaim_anon(node, bytes, tools);
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
        let locked = self.locked_pages();
        let (policy, total, swap) = (&mut self.policy, &mut self.total, &mut self.swap);
        let begun_s = tools.clock.thread_cpu_s();
        let decision = self.sampler.sample(slow, locked, |snapshot| {
            *total = snapshot.nodes.iter().map(|node| node.managed).sum();
            *swap = snapshot.swap_total;
            policy.decide(snapshot)
        });
        let cost_s = tools.clock.thread_cpu_s() - begun_s;
        self.cost_s += (cost_s - self.cost_s) / 8.0;
        if slow {
            self.slow_sample_s = now_s;
            let situation = self.situation(now_s);
            if let Enforcer::Hotsetd(steering) = &mut self.enforcer {
                steering.check_ownership(&situation, tools);
            }
            let page_size = self.sampler.page_size();
            // Where a kill may be due, a boundary can wait.
            if let (Some(cgroups), false) = (&mut self.cgroups, self.decision.pressing) {
                cgroups.update(now_s, self.total * page_size, page_size, tools);
            }
        }
        decision
    }

    fn enforce(&mut self, now_s: f64, tools: &mut Tools) {
        let situation = self.situation(now_s);
        match &mut self.enforcer {
            Enforcer::Kernel(series) => {
                let ratios = self.policy.ratios(self.total);
                series.set(ratios, tools);
            }
            Enforcer::Hotsetd(steering) => steering.steer(&situation, tools),
        }
    }

    /// Tells programs that memory is short: they may give caches back.
    fn warn(&mut self, now_s: f64) {
        let (decision, kill) = (&self.decision, self.decision.exhausted.is_some());
        let level = match decision.steer {
            _ if kill || (decision.pressing && decision.little_swap) => {
                Some(WarningLevel::Critical)
            }
            Steer::Admin if !decision.pressing => None,
            _ => Some(WarningLevel::Medium),
        };
        if let Some(level) = self.warnings.due(now_s, level, decision.left, kill) {
            self.kill.warn(level);
        }
    }

    fn kill_or_prepare(&mut self, now_s: f64, tools: &mut Tools) {
        let decision = &self.decision;
        let Some(cause) = decision.exhausted else {
            if decision.brewing {
                let small = least(self.total + self.swap, self.sampler.page_size());
                self.kill.prepare(now_s, decision.pressing, small, tools);
            }
            return;
        };
        let exhaustion = Exhaustion {
            cause,
            ends_s: decision.ends_s,
            memory_and_swap: self.total + self.swap,
            clean: decision.clean,
            clean_min: decision.floors.clean_min,
            page_size: self.sampler.page_size(),
        };
        if let Some(took_s) = self.kill.kill(now_s, &exhaustion, tools) {
            self.policy.killed(took_s);
        }
    }

    fn reclaim_anon(&mut self, node: u32, bytes: u64, tools: &mut Tools) {
        if let (Some(worker), true) = (&mut tools.worker, self.can_reclaim_anon) {
            if worker.ask(Job::ReclaimAnon { node, bytes }) {
                self.anon_reclaims += 1;
            }
        }
    }

    fn situation(&self, now_s: f64) -> Situation {
        Situation {
            now_s,
            decision: self.decision,
            page_size: self.sampler.page_size(),
            kills: self.kill.is_open(),
        }
    }

    fn locked_pages(&self) -> u64 {
        self.locker.as_ref().map_or(0, Locker::bytes) / self.sampler.page_size()
    }
}
