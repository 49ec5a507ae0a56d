//! The daemon's own state, for the status document and the metrics.
use crate::os::fixed_string::Text;
use policy::Summary;
use status::Counts;

/// Number of actions that are kept.
pub const HISTORY: usize = 32;

/// One action and its outcome.
#[derive(Clone, Copy, Debug, Default)]
pub struct PastAction {
    /// Seconds since 1970.
    pub at_unix_s: f64,
    pub action: Text<96>,
    pub reason: Text<384>,
    pub outcome: Text<160>,
}

/// A knob and its value at the last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnobState {
    pub name: &'static str,
    pub value: Option<u32>,
}

/// What the status document and the metrics show.
pub struct State {
    pub started_unix_s: f64,
    pub started_s: f64,
    pub sampled_s: f64,
    pub next_sample_s: f64,
    pub counts: Counts,
    pub summary: Summary,
    pub knobs: [KnobState; 4],
    actions: [PastAction; HISTORY],
    actions_ever: usize,
}

impl State {
    /// The state at the start. `now_s`: seconds of CLOCK_MONOTONIC. `unix_s`: seconds since 1970.
    pub fn new(now_s: f64, unix_s: f64) -> State {
        State {
            started_unix_s: unix_s,
            started_s: now_s,
            sampled_s: now_s,
            next_sample_s: 0.0,
            counts: Counts::default(),
            summary: Summary::default(),
            knobs: [KnobState::default(); 4],
            actions: [PastAction::default(); HISTORY],
            actions_ever: 0,
        }
    }

    pub fn remember(&mut self, action: PastAction) {
        self.actions[self.actions_ever % HISTORY] = action;
        self.actions_ever += 1;
    }

    /// The number of the oldest action that is kept and was not among the first `seen`.
    pub fn oldest_since(&self, seen: usize) -> usize {
        seen.max(self.actions_ever.saturating_sub(HISTORY))
    }

    /// The actions that are kept and were not among the first `seen`, oldest first.
    pub fn actions_since(&self, seen: usize) -> impl Iterator<Item = &PastAction> {
        let first = self.oldest_since(seen);
        (first..self.actions_ever).map(|number| &self.actions[number % HISTORY])
    }

    /// The last actions, oldest first.
    pub fn actions(&self) -> impl Iterator<Item = &PastAction> {
        self.actions_since(0)
    }
}
