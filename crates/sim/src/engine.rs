//! The loop that all policies run in.
use crate::input::Input;
use crate::policy::{Counts, Policy, Running};

/// Requests between a prefetch and its use. A cache miss to memory takes about as long as this many
/// requests that hit.
pub const AHEAD: usize = 24;

/// Requests between [`Policy::prefetch_soon`] and its use: the memory of [`AHEAD`] has arrived by then.
pub const SOON: usize = 12;

/// Serves requests `from..to`, and tells `served` of each whether it hit.
#[inline(always)]
fn serve<P: Policy>(
    policy: &mut P,
    input: &Input,
    from: usize,
    to: usize,
    mut served: impl FnMut(bool),
) {
    let ids = &input.ids()[..to];
    let prefetched = to.saturating_sub(AHEAD).max(from);
    // Zipped slices need no check of an index.
    let rest = &ids[from..];
    let ahead = rest.get(AHEAD..).unwrap_or(&[]);
    let soon = rest.get(SOON..).unwrap_or(&[]);
    let here = rest.iter().zip(soon).zip(ahead);
    for (((&id, &soon), &ahead), at) in here.zip(from..) {
        policy.prefetch(ahead);
        policy.prefetch_soon(soon);
        served(policy.request(id, at));
    }
    for (at, &id) in ids.iter().enumerate().skip(prefetched) {
        served(policy.request(id, at));
    }
}

impl<P: Policy + Send> Running for P {
    fn stretch(&mut self, input: &Input, from: usize, to: usize) -> u64 {
        let mut misses = 0;
        serve(self, input, from, to, |hit| misses += u64::from(!hit));
        misses
    }

    fn stretch_hits(&mut self, input: &Input, from: usize, to: usize, hits: &mut Vec<bool>) {
        hits.clear();
        serve(self, input, from, to, |hit| hits.push(hit));
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

/// Runs a policy over the whole trace. `progress` is called every [`STRETCH`] requests with the number
/// of requests done since its last call.
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
