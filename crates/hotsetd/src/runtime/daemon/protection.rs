//! The daemon and its guard: when protection begins, steps and ends.
use super::Daemon;
use crate::actuate::reclaim_worker::{Done, Job};
use crate::protect::{Guard, Tools};

impl Daemon {
    pub(super) fn open_guard(&mut self) {
        let (settings, dry) = (self.config.protect.clone(), self.config.dry_run);
        let root = self.root.clone();
        let (guard, mut tools) = self.guard_and_tools();
        *guard = Guard::new(&root, settings, dry, &mut tools);
        let age_s = self.learned.age_s(self.clock.unix_s());
        if let Some(guard) = &mut self.guard {
            guard.policy.recall(&self.learned.numbers, age_s);
        }
    }

    /// One quick sample of protection, and the guard's actions on the sample. Returns the seconds
    /// until the next quick sample; `None`: protection is off.
    pub fn step_protection(&mut self) -> Option<f64> {
        let (guard, mut tools) = self.guard_and_tools();
        let next_s = guard.as_mut()?.step(&mut tools);
        self.record(false);
        Some(next_s)
    }

    pub(super) fn stop_guard(&mut self) {
        let (guard, mut tools) = self.guard_and_tools();
        if let Some(guard) = guard {
            guard.stop(&mut tools);
        }
    }

    fn guard_and_tools(&mut self) -> (&mut Option<Guard>, Tools<'_>) {
        let tools = Tools {
            knobs: &mut self.knobs,
            worker: self.worker.as_mut(),
            log: &mut self.log,
            state: &mut self.state,
            clock: &self.clock,
        };
        (&mut self.guard, tools)
    }

    pub fn guard(&mut self) -> Option<&mut Guard> {
        self.guard.as_mut()
    }

    /// Replaces the guard with one of the present configuration. The notifier's process stays if its settings do.
    pub(super) fn renew_guard(&mut self) {
        let notifier = self.guard.as_mut().and_then(|guard| guard.notifier.take());
        // The old guard's trace instance is in use until the guard is gone.
        self.guard = None;
        self.open_guard();
        match (&mut self.guard, notifier) {
            (Some(guard), Some(notifier)) => guard.take_over(notifier),
            (None, Some(notifier)) => notifier.end(),
            (_, None) => {}
        }
    }

    /// Ends requests for anonymous reclaim once the kernel has refused one.
    pub(super) fn forgo_refused_reclaim(&mut self, done: &Done) {
        let failed = matches!(done.job, Job::ReclaimAnon { .. }) && done.error.is_some();
        if let (Some(guard), true) = (&mut self.guard, failed) {
            guard.forgo_anon_reclaim();
        }
    }
}
