//! What a sweep gives, and how parts of one are put together.
use crate::policy::Counts;
use crate::sweep::{Job, Shard};
use crate::Input;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One policy at one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The job's number in the whole sweep, from 0.
    pub job: usize,
    /// With its parameters, as on the command line.
    pub policy: String,
    /// In objects.
    pub size: u64,
    pub requests: u64,
    pub misses: u64,
    /// Half the width of the 95% interval of the misses where they are estimated from a sample; none
    /// where they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses_error_95: Option<u64>,
    /// What the policy counted besides.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

impl Row {
    /// What a job counted.
    pub fn new(job: &Job, counts: &Counts) -> Row {
        Row {
            job: job.number,
            policy: job.choice.to_string(),
            size: job.size,
            requests: counts.requests,
            misses: counts.misses,
            misses_error_95: None,
            counters: counts
                .counters
                .iter()
                .map(|&(name, count)| (name.to_string(), count))
                .collect(),
        }
    }

    /// Misses of requests.
    pub fn miss_ratio(&self) -> f64 {
        self.misses as f64 / self.requests.max(1) as f64
    }
}

/// Which trace a result is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceId {
    pub name: String,
    pub requests: u64,
    pub objects: u64,
    /// Of all ids in order, as hexadecimal digits: two parts of one sweep must be of one trace.
    pub digest: String,
    /// Only one object in so many was looked at: what the rows say is estimated, and `objects` too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_in: Option<u64>,
    /// Malformed lines or records that were left out while it was read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub malformed_left_out: u64,
    /// Writes that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub writes_left_out: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TraceId {
    /// Of a trace in memory.
    pub fn of(name: &str, input: &Input) -> TraceId {
        // Four lanes, so that one multiplication need not wait for the one before.
        let mut lanes = [0xcbf2_9ce4_8422_2325u64; 4];
        for four in input.ids().chunks(4) {
            for (lane, &id) in lanes.iter_mut().zip(four) {
                *lane = (*lane ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                *lane ^= *lane >> 29;
            }
        }
        let digest = lanes.iter().fold(0u64, |all, lane| {
            (all.rotate_left(17) ^ lane).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        });
        TraceId {
            name: name.to_string(),
            requests: input.ids().len() as u64,
            objects: u64::from(input.objects()),
            digest: format!("{digest:016x}"),
            one_in: None,
            malformed_left_out: 0,
            writes_left_out: 0,
        }
    }

    /// The same, with what of the file is not in `input`.
    pub fn without(self, skipped: &trace::Skipped) -> TraceId {
        TraceId {
            malformed_left_out: skipped.malformed,
            writes_left_out: skipped.writes,
            ..self
        }
    }

    /// The same, where `input` is a sample of it.
    pub fn sampled(self, sample: Option<trace::Sample>) -> TraceId {
        match sample {
            Some(sample) => TraceId {
                requests: sample.requests,
                objects: self.objects * sample.one_in,
                one_in: Some(sample.one_in),
                ..self
            },
            None => self,
        }
    }
}

/// A sweep, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    pub trace: TraceId,
    /// Jobs of the whole sweep: policies times sizes.
    pub jobs: usize,
    /// Which part this is; none when it is the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<(usize, usize)>,
    pub rows: Vec<Row>,
}

impl Results {
    /// Of rows that [`crate::sweep::sweep`] gave.
    pub fn new(trace: TraceId, jobs: usize, shard: Option<Shard>, rows: Vec<Row>) -> Results {
        Results {
            trace,
            jobs,
            shard: shard.map(|shard| (shard.part, shard.of)),
            rows,
        }
    }

    /// Puts parts of one sweep together. Each comes with what to call it in an error.
    ///
    /// # Errors
    /// Parts of different traces or sweeps, rows that contradict each other, and missing jobs.
    pub fn merge(parts: Vec<(String, Results)>) -> Result<Results, String> {
        let mut parts = parts.into_iter();
        let (first_name, first) = parts.next().ok_or("nothing to merge")?;
        let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
        let (trace, jobs) = (first.trace.clone(), first.jobs);
        for (name, part) in std::iter::once((first_name.clone(), first)).chain(parts) {
            if part.trace != trace {
                return Err(format!(
                    "{name} is of trace {} ({} requests, digest {}), {first_name} of {} ({}, {})",
                    part.trace.name,
                    part.trace.requests,
                    part.trace.digest,
                    trace.name,
                    trace.requests,
                    trace.digest
                ));
            }
            if part.jobs != jobs {
                return Err(format!(
                    "{name} is part of a sweep of {} jobs, {first_name} of one of {jobs}: give each the same policies and sizes",
                    part.jobs
                ));
            }
            for row in part.rows {
                let job = row.job;
                let before = rows.insert(job, row.clone());
                if before.is_some_and(|before| before != row) {
                    return Err(format!(
                        "{name} says otherwise of job {job} ({} at {}) than a file before it",
                        row.policy, row.size
                    ));
                }
            }
        }
        let missing: Vec<usize> = (0..jobs).filter(|job| !rows.contains_key(job)).collect();
        if let Some(first) = missing.first() {
            return Err(format!(
                "{} of {jobs} jobs are missing, job {first} the first: is a part's file not given?",
                missing.len()
            ));
        }
        Ok(Results {
            trace,
            jobs,
            shard: None,
            rows: rows.into_values().collect(),
        })
    }

    /// As CSV, with a heading.
    pub fn csv(&self) -> String {
        let mut text = "trace,policy,size,requests,misses,miss_ratio".to_string();
        let estimated = self.trace.one_in.is_some();
        text.push_str(if estimated {
            ",misses_error_95\n"
        } else {
            "\n"
        });
        let quoted = |field: &str| match field.contains([',', '"']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.to_string(),
        };
        for row in &self.rows {
            text.push_str(&format!(
                "{},{},{},{},{},{:.6}",
                quoted(&self.trace.name),
                quoted(&row.policy),
                row.size,
                row.requests,
                row.misses,
                row.miss_ratio()
            ));
            if let Some(error) = row.misses_error_95 {
                text.push_str(&format!(",{error}"));
            }
            text.push('\n');
        }
        text
    }
}
