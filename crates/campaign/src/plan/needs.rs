//! What a trace needs: its requests, found from its file, and from these memory and time.
use super::rates::Rates;
use crate::file::{Origin, Trace};
use anyhow::{Context, Result};
use sim::registry::Choice;
use std::path::Path;
use trace::Reader;

/// Bytes of the program itself.
const PROGRAM: u64 = 12 << 20;
/// Bytes of a request: the id, its flags and room to grow, or what a mix draws before it orders its parts.
const REQUEST: u64 = 8;
/// Bytes of a request where a policy knows the future: its next request.
const FUTURE: u64 = 4;
/// Bytes of an object: the table of names while the trace is read. A policy takes less afterwards.
const OBJECT: u64 = 43;
/// Requests read from a file in a second. Slow formats are read twice as fast.
const READ: f64 = 5e6;
/// A trace that is larger than a processor's caches is simulated so much slower than a small one.
const LARGE: f64 = 2.0;
/// Requests from which on a trace is large.
const LARGE_FROM: u64 = 2_000_000;

/// What is predicted of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    pub requests: u64,
    /// Bytes.
    pub memory: u64,
    /// Seconds until the trace is in memory.
    pub reading: f64,
    /// Seconds of all policies at one size.
    pub simulating: f64,
}

impl Needs {
    /// Predicts from the file's length and format, or from the rule of a generated trace.
    ///
    /// # Errors
    /// The file cannot be opened, or its format is unknown.
    pub fn of(trace: &Trace, base: &Path, policies: &[Choice], rates: &Rates) -> Result<Needs> {
        let (requests, objects) = match &trace.origin {
            Origin::Generated { count, .. } => {
                let spec = trace.spec().context("no rule")?;
                let spec = spec.map_err(anyhow::Error::msg)?;
                (*count, spec.objects().min(*count))
            }
            Origin::File { reading, .. } => {
                let options = reading.options(trace.limit).map_err(anyhow::Error::msg)?;
                let expected = Reader::open(&base.join(&trace.name), &options)?.expected();
                let requests = expected.exact.unwrap_or(expected.guess);
                let requests = requests.min(trace.limit.unwrap_or(u64::MAX));
                // Files do not say how many objects they have. Half of the requests is more than most have.
                (requests, requests / 2)
            }
        };
        let future = policies
            .iter()
            .any(|policy| policy.description().name == "opt");
        let each = REQUEST + if future { FUTURE } else { 0 };
        let slower = match requests >= LARGE_FROM {
            true => LARGE,
            false => 1.0,
        };
        Ok(Needs {
            requests,
            memory: (PROGRAM + requests * each + objects * OBJECT).max(LEAST),
            reading: requests as f64 / READ,
            simulating: rates.seconds(requests) * slower,
        })
    }
}

/// The memory and the time that a task may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limits {
    /// Bytes.
    pub memory: u64,
    pub seconds: u64,
}

/// The least bytes and seconds that a task gets: below, a prediction means little.
const LEAST: u64 = 96 << 20;
const LEAST_SECONDS: u64 = 60;

/// How much more time a task gets than predicted: processors of a cluster differ.
const TIME: f64 = 8.0;

impl Limits {
    /// The limits of a prediction, rounded up so that few kinds of tasks are left: memory to a power of two, time to
    /// one of four. A second attempt gets four times as much of both.
    pub fn of(memory: u64, seconds: f64, attempt: u32) -> Limits {
        let factor = 4u64.pow(attempt.saturating_sub(1));
        let asked = memory + memory / 4;
        let mut time = LEAST_SECONDS;
        while (time as f64) < seconds * TIME {
            time *= 4;
        }
        Limits {
            memory: asked.next_power_of_two() * factor,
            seconds: time * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_few_kinds_and_grow_with_the_attempt() {
        let first = Limits::of(LEAST, 0.1, 1);
        assert_eq!((first.memory, first.seconds), (128 << 20, 60));
        let big = Limits::of(300 << 20, 100.0, 1);
        assert_eq!((big.memory, big.seconds), (512 << 20, 960));
        let again = Limits::of(300 << 20, 100.0, 2);
        assert_eq!((again.memory, again.seconds), (2 << 30, 3840));
    }
}
