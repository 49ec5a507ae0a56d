//! What the daemon knows of itself, for `hotset status` and the metrics.
use crate::text::Text;
use policy::{Action, Summary};

/// So many actions are remembered.
pub const HISTORY: usize = 32;

/// One action and what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deed {
    /// Seconds since 1970.
    pub at_unix_s: f64,
    pub what: Text<96>,
    pub reason: Text<384>,
    pub outcome: Text<160>,
}

/// How often each kind of action was carried out, and how often not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub samples: u64,
    pub wakes_timer: u64,
    pub wakes_pressure: u64,
    pub watermark_writes: u64,
    pub reclaims: u64,
    pub reclaimed_bytes: u64,
    pub compactions: u64,
    pub other_writes: u64,
    pub warnings: u64,
    pub yields: u64,
    pub failures: u64,
    /// Kernel files that could not be read, all samples together.
    pub unreadable: u64,
}

/// A knob as it is and as it was.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnobState {
    pub name: &'static str,
    pub value: Option<u32>,
}

/// Everything that is told.
pub struct State {
    pub started_unix_s: f64,
    pub started_s: f64,
    pub sampled_s: f64,
    pub next_sample_s: f64,
    pub counts: Counts,
    pub summary: Summary,
    pub knobs: [KnobState; 4],
    deeds: [Deed; HISTORY],
    deeds_ever: usize,
}

impl State {
    pub fn new(now_s: f64, unix_s: f64) -> State {
        State {
            started_unix_s: unix_s,
            started_s: now_s,
            sampled_s: now_s,
            next_sample_s: 0.0,
            counts: Counts::default(),
            summary: Summary::default(),
            knobs: [KnobState::default(); 4],
            deeds: [Deed::default(); HISTORY],
            deeds_ever: 0,
        }
    }

    pub fn remember(&mut self, deed: Deed) {
        self.deeds[self.deeds_ever % HISTORY] = deed;
        self.deeds_ever += 1;
    }

    /// The last actions, oldest first.
    pub fn deeds(&self) -> impl Iterator<Item = &Deed> {
        let first = self.deeds_ever.saturating_sub(HISTORY);
        (first..self.deeds_ever).map(|number| &self.deeds[number % HISTORY])
    }
}

/// An action in words, without its reason.
pub fn describe(action: &Action, tunables: &[policy::Tunable]) -> Text<96> {
    match action {
        Action::SetWatermarkScaleFactor(to) => {
            Text::of(format_args!("vm.watermark_scale_factor = {to}"))
        }
        Action::ReclaimNode { node, bytes } => {
            Text::of(format_args!("reclaim {} KiB of node {node}", bytes >> 10))
        }
        Action::SetKswapdNice { node, nice } => Text::of(format_args!("kswapd{node}: nice {nice}")),
        Action::CompactNode { node } => Text::of(format_args!("compact node {node}")),
        Action::SetCompactionProactiveness(to) => {
            Text::of(format_args!("vm.compaction_proactiveness = {to}"))
        }
        Action::SetVfsCachePressure(to) => Text::of(format_args!("vm.vfs_cache_pressure = {to}")),
        Action::SetNegativeDentryLimit(to) => {
            Text::of(format_args!("fs.negative-dentry-limit = {to}"))
        }
        Action::SetTunable(index) => match tunables.get(*index) {
            Some(tunable) => Text::of(format_args!("{} = {}", tunable.name, tunable.value)),
            None => Text::of(format_args!("a tunable that is not there")),
        },
        Action::Warn(warning) => Text::of(format_args!("warning: {warning:?}")),
    }
}
