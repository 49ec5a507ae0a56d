//! Many runs at once, and a row for each.
use super::build::build;
use super::requests::{run, SizedInput};
use crate::sweep::job::Job;
use crate::sweep::parallel::each;
use crate::Error;
use serde::Serialize;

/// One policy at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizedRow {
    /// The policy with its parameters, as on the command line.
    pub policy: String,
    /// The room of the cache in bytes.
    pub size_bytes: u64,
    pub requests: u64,
    pub misses: u64,
    /// Misses divided by requests.
    pub miss_ratio: f64,
    pub bytes: u64,
    pub bytes_missed: u64,
    /// Bytes missed, divided by bytes requested.
    pub byte_miss_ratio: f64,
}

/// Runs jobs, whose sizes are in bytes, on `threads` threads. `progress` is called with the number of requests
/// done since its last call.
///
/// # Errors
/// The error of the first job whose policy cannot be built.
pub fn sweep(
    input: &SizedInput,
    jobs: &[Job],
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<SizedRow>, Error> {
    each(jobs, threads, &|job| {
        let mut policy = build(&job.choice, input, job.size)?;
        let counts = run(policy.as_mut(), input, &mut |done| progress(done));
        Ok(SizedRow {
            policy: job.choice.to_string(),
            size_bytes: job.size,
            requests: counts.requests,
            misses: counts.misses,
            miss_ratio: counts.misses as f64 / counts.requests.max(1) as f64,
            bytes: counts.bytes,
            bytes_missed: counts.bytes_missed,
            byte_miss_ratio: counts.bytes_missed as f64 / counts.bytes.max(1) as f64,
        })
    })
}
