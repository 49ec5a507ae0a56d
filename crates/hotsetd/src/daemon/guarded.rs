//! The daemon and its guard: what protection is lent, and when it begins and ends.
use super::Daemon;
use crate::protect::{Guard, Tools};
use crate::worker::{Done, Job};

impl Daemon {
    pub(super) fn open_guard(&mut self) {
        let (settings, dry) = (self.config.protect.clone(), self.config.dry_run);
        let mut tools = Tools {
            knobs: &mut self.knobs,
            worker: self.worker.as_mut(),
            log: &mut self.log,
            state: &mut self.state,
        };
        self.guard = Guard::new(&self.root, settings, dry, &mut tools);
    }

    /// One quick look of protection. Returns the seconds until the next; `None`: it is off.
    pub fn look(&mut self) -> Option<f64> {
        let guard = self.guard.as_mut()?;
        Some(guard.look(&mut Tools {
            knobs: &mut self.knobs,
            worker: self.worker.as_mut(),
            log: &mut self.log,
            state: &mut self.state,
        }))
    }

    pub(super) fn stop_guard(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.stop(&mut Tools {
                knobs: &mut self.knobs,
                worker: self.worker.as_mut(),
                log: &mut self.log,
                state: &mut self.state,
            });
        }
    }

    pub fn guard(&mut self) -> Option<&mut Guard> {
        self.guard.as_mut()
    }

    /// Another one takes its place, as the configuration is now.
    pub(super) fn renew_guard(&mut self) {
        let herald = self.guard.as_mut().and_then(Guard::take_herald);
        self.open_guard();
        if let Some(guard) = &mut self.guard {
            guard.set_herald(herald);
        }
    }

    /// What the worker could not do is not asked of it again.
    pub(super) fn tell_guard(&mut self, done: &Done) {
        let failed = matches!(done.job, Job::ReclaimAnon { .. }) && done.error.is_some();
        if let (Some(guard), true) = (&mut self.guard, failed) {
            guard.forgo_anon_reclaim();
        }
    }

    /// Its metrics before the end of the page.
    pub(super) fn add_guard(&self, page: &mut String) {
        if let Some(guard) = &self.guard {
            const END: &str = "# EOF\n";
            page.truncate(page.len() - END.len());
            page.push_str(&guard.metrics());
            page.push_str(END);
        }
    }
}
