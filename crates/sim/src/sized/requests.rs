//! Requests with sizes, the policies that serve them, and what is counted.
use crate::engine::STRETCH;
use crate::{Error, Input};
use trace::Trace;

/// A policy in the middle of a trace.
pub trait SizedPolicy: Send {
    /// Serves a request for object `id`, of `bytes` bytes if it is not in the cache. Returns whether it hits.
    fn request(&mut self, id: u32, bytes: u32) -> bool;
}

/// A decoded trace with a size for each request.
#[derive(Clone, Debug)]
pub struct SizedInput<'a> {
    input: Input<'a>,
    sizes: &'a [u32],
}

impl<'a> SizedInput<'a> {
    /// `sizes[i]` are the bytes of request `i`. 0 counts as 1.
    ///
    /// # Errors
    /// There are not as many sizes as requests.
    pub fn new(input: Input<'a>, sizes: &'a [u32]) -> Result<SizedInput<'a>, Error> {
        if sizes.len() != input.ids().len() {
            return Err(Error::Sizes {
                sizes: sizes.len(),
                requests: input.ids().len(),
            });
        }
        Ok(SizedInput { input, sizes })
    }

    /// The input of a trace that was read with its sizes.
    ///
    /// # Errors
    /// The trace has no sizes, or as [`Input::of`].
    pub fn of(trace: &'a Trace) -> Result<SizedInput<'a>, Error> {
        SizedInput::new(Input::of(trace)?, trace.sizes.as_deref().unwrap_or(&[]))
    }

    /// The requests without their sizes.
    pub fn input(&self) -> &Input<'a> {
        &self.input
    }

    /// The bytes of all objects, each by its first request.
    pub fn footprint(&self) -> u64 {
        let mut seen = 0;
        let mut bytes = 0;
        // Objects are numbered in the order in which they first appear.
        for (&id, &size) in self.input.ids().iter().zip(self.sizes) {
            if id >= seen {
                seen = id + 1;
                bytes += u64::from(size.max(1));
            }
        }
        bytes
    }
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizedCounts {
    pub requests: u64,
    pub misses: u64,
    /// Bytes that were requested.
    pub bytes: u64,
    /// Bytes of the requests that missed.
    pub bytes_missed: u64,
}

/// Runs a policy over the whole trace. `progress` is called now and then with the number of requests done since
/// its last call.
pub fn run(
    policy: &mut dyn SizedPolicy,
    input: &SizedInput,
    progress: &mut dyn FnMut(u64),
) -> SizedCounts {
    let mut counts = SizedCounts::default();
    let stretches = input.input.ids().chunks(STRETCH);
    for (ids, sizes) in stretches.zip(input.sizes.chunks(STRETCH)) {
        for (&id, &size) in ids.iter().zip(sizes) {
            let size = size.max(1);
            let missed = u64::from(!policy.request(id, size));
            counts.misses += missed;
            counts.bytes += u64::from(size);
            counts.bytes_missed += missed * u64::from(size);
        }
        counts.requests += ids.len() as u64;
        progress(ids.len() as u64);
    }
    counts
}
