//! The daemon and its flight recorder.
use super::Daemon;
use crate::flight::{Moment, Recorder};

/// Seconds after which a file that could not be opened is tried again.
const AGAIN_S: f64 = 600.0;

impl Daemon {
    /// Records the last sample: the daemon's own, which is `whole`, or protection's.
    pub(super) fn record(&mut self, whole: bool) {
        if self.config.dry_run || self.config.flight.file.is_none() {
            return;
        }
        if self.recorder.recorder.is_none() {
            self.open_recorder();
        }
        let Some(recorder) = &mut self.recorder.recorder else {
            return;
        };
        let shown = self.guard.as_mut().map(|guard| guard.show());
        let (quick, processes, expectation) = match shown {
            Some((quick, processes, expectation)) => (Some(quick), processes, expectation),
            None => (None, None, Default::default()),
        };
        let sample = match (whole, quick) {
            (false, Some(quick)) => quick,
            _ => &self.sample,
        };
        let moment = Moment {
            clock: &self.clock,
            state: &self.state,
            kills: expectation.kills,
            brewing: expectation.brewing,
            whole,
        };
        recorder.take(sample, &moment, processes, &self.root, &mut self.log);
    }

    fn open_recorder(&mut self) {
        if self.sample.t < self.recorder.due_s {
            return;
        }
        self.recorder.due_s = self.sample.t + AGAIN_S;
        let machine = self.sampler.machine().clone();
        let settings = &self.config.flight;
        self.recorder.recorder =
            Recorder::open(&self.root, settings, &self.sample, &machine, &mut self.log);
    }
}
