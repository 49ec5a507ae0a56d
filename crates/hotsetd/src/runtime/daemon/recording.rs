//! The daemon and its flight recorder.
use super::Daemon;
use crate::flight::{Moment, Recorder};

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
        let now_s = self.sample.t;
        let Some(file) = self.config.flight.file.as_deref() else {
            return;
        };
        if now_s < self.recorder.due_s {
            return;
        }
        let machine = self.sampler.machine().clone();
        let bytes = self.config.flight.bytes;
        let opened = Recorder::open(
            &self.root,
            file,
            bytes,
            &self.sample,
            &machine,
            &mut self.log,
        );
        match opened {
            Ok(recorder) => self.recorder.recorder = Some(recorder),
            Err(again_s) => self.recorder.due_s = now_s + again_s,
        }
    }
}
