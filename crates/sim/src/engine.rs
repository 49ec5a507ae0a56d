//! The loop that all policies run in.
use crate::policy::{Counts, Policy};
use crate::Input;

/// How many requests ahead memory is asked for: a miss to memory is about as long as this many hits.
pub const AHEAD: usize = 24;

/// How many requests ahead what that led to is asked for.
pub const SOON: usize = 12;

/// A policy whose loop is compiled for it: one call a stretch of the trace, not one a request.
pub trait Running: Send {
    /// Runs requests `from..to` and returns how many missed. Stretches come in order.
    fn stretch(&mut self, input: &Input, from: usize, to: usize) -> u64;

    /// See [`Policy::counters`].
    fn counters(&self) -> Vec<(&'static str, u64)>;

    /// See [`Policy::bytes`].
    fn bytes(&self) -> usize;
}

impl<P: Policy + Send> Running for P {
    fn stretch(&mut self, input: &Input, from: usize, to: usize) -> u64 {
        let ids = &input.ids()[..to];
        let mut misses = 0;
        let prefetched = to.saturating_sub(AHEAD).max(from);
        // Side by side, so that no index is checked.
        let rest = &ids[from..];
        let ahead = rest.get(AHEAD..).unwrap_or(&[]);
        let soon = rest.get(SOON..).unwrap_or(&[]);
        let here = rest.iter().zip(soon).zip(ahead);
        for (((&id, &soon), &ahead), at) in here.zip(from..) {
            self.prefetch(ahead);
            self.prefetch_soon(soon);
            misses += u64::from(!self.request(id, at));
        }
        for (at, &id) in ids.iter().enumerate().skip(prefetched) {
            misses += u64::from(!self.request(id, at));
        }
        misses
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        Policy::counters(self)
    }

    fn bytes(&self) -> usize {
        Policy::bytes(self)
    }
}

/// Requests between two reports of progress: some milliseconds of work.
pub const STRETCH: usize = 1 << 20;

/// Runs a policy over the whole trace. `progress` is told the requests done, every [`STRETCH`].
pub fn run(policy: &mut dyn Running, input: &Input, progress: &mut dyn FnMut(u64)) -> Counts {
    let requests = input.ids().len();
    let mut misses = 0;
    let mut from = 0;
    while from < requests {
        let to = requests.min(from + STRETCH);
        misses += policy.stretch(input, from, to);
        progress((to - from) as u64);
        from = to;
    }
    Counts {
        requests: requests as u64,
        misses,
        counters: policy.counters(),
        bytes: policy.bytes(),
    }
}
