//! The results of a sweep, and the merging of its parts.
use crate::policy::Counts;
use crate::sampling::{Estimate, NotAvailable};
use crate::sweep::job::{Job, Shard};
use crate::Input;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One policy at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The number of the job in the whole sweep, from 0.
    pub job: usize,
    /// The policy with its parameters, as on the command line.
    pub policy: String,
    /// The size of the cache in objects.
    pub size: u64,
    pub requests: u64,
    /// None where the trace is a sample that is too small for an estimate.
    pub misses: Option<u64>,
    /// Misses divided by requests.
    #[serde(default)]
    pub miss_ratio: Option<f64>,
    /// The ends of the 95% interval of an estimated miss ratio. None where the misses are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss_ratio_95: Option<[f64; 2]>,
    /// Why there is no estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
    /// The policy's own counters besides misses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

impl Row {
    /// The row of a job that was run on the whole trace.
    pub fn new(job: &Job, counts: &Counts) -> Row {
        let counters = counts.counters.iter();
        Row {
            misses: Some(counts.misses),
            miss_ratio: Some(counts.misses as f64 / counts.requests.max(1) as f64),
            counters: counters
                .map(|&(name, count)| (name.to_string(), count))
                .collect(),
            ..Row::empty(job, counts.requests)
        }
    }

    /// The row of a job that was run on a sample of a trace with this many requests.
    pub fn estimated(job: &Job, requests: u64, estimate: Result<Estimate, NotAvailable>) -> Row {
        let row = Row::empty(job, requests);
        match estimate {
            Ok(estimate) => Row {
                misses: Some((estimate.miss_ratio * requests as f64).round() as u64),
                miss_ratio: Some(estimate.miss_ratio),
                miss_ratio_95: Some([estimate.low, estimate.high]),
                ..row
            },
            Err(reason) => Row {
                not_available: Some(reason.to_string()),
                ..row
            },
        }
    }

    fn empty(job: &Job, requests: u64) -> Row {
        Row {
            job: job.number,
            policy: job.choice.to_string(),
            size: job.size,
            requests,
            misses: None,
            miss_ratio: None,
            miss_ratio_95: None,
            not_available: None,
            counters: BTreeMap::new(),
        }
    }
}

/// The identity of the trace of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceId {
    pub name: String,
    pub requests: u64,
    pub objects: u64,
    /// A hash of all ids in order, in hexadecimal digits. Parts of one sweep must have the same.
    pub digest: String,
    /// `objects` is an estimate, from a sample.
    #[serde(default, skip_serializing_if = "is_false")]
    pub objects_estimated: bool,
    /// The share of the objects that was simulated: the rows are estimates. None where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_share: Option<f64>,
    /// Malformed lines or records that were left out when the trace was read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub malformed_left_out: u64,
    /// Writes that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub writes_left_out: u64,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TraceId {
    /// Identifies a trace in memory.
    pub fn of(name: &str, input: &Input) -> TraceId {
        // Four hashes side by side, so that no multiplication waits for the previous one.
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
            objects_estimated: false,
            sampled_share: None,
            malformed_left_out: 0,
            writes_left_out: 0,
        }
    }

    /// The same trace, with the counts of requests left out of its file.
    pub fn without(self, skipped: &trace::Skipped) -> TraceId {
        TraceId {
            malformed_left_out: skipped.malformed,
            writes_left_out: skipped.writes,
            ..self
        }
    }

    /// The same trace, where `input` is a sample of it.
    pub fn sampled(self, sample: Option<trace::Sample>) -> TraceId {
        match sample {
            Some(sample) => TraceId {
                requests: sample.requests,
                objects: self.objects * sample.one_in,
                objects_estimated: true,
                sampled_share: Some(1.0 / sample.one_in as f64),
                ..self
            },
            None => self,
        }
    }
}

/// A sweep, or a part of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub trace: TraceId,
    /// Jobs of the whole sweep: policies times sizes.
    pub jobs: usize,
    /// Part and number of parts. None when this is the whole sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<(usize, usize)>,
    pub rows: Vec<Row>,
}

impl Results {
    /// Results from rows of [`crate::sweep::sweep`].
    pub fn new(trace: TraceId, jobs: usize, shard: Option<Shard>, rows: Vec<Row>) -> Results {
        Results {
            trace,
            jobs,
            shard: shard.map(|shard| (shard.part, shard.of)),
            rows,
        }
    }

    /// Merges parts of one sweep. Each part comes with its name for errors.
    ///
    /// # Errors
    /// The parts are of different traces or sweeps, rows contradict each other, or jobs are missing.
    pub fn merge(parts: Vec<(String, Results)>) -> Result<Results, String> {
        let mut parts = parts.into_iter();
        let (first_name, first) = parts.next().ok_or("nothing to merge")?;
        let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
        let (trace, jobs) = (first.trace.clone(), first.jobs);
        let mut shards: Vec<(String, Option<(usize, usize)>)> = Vec::new();
        for (name, part) in std::iter::once((first_name.clone(), first)).chain(parts) {
            if part.trace != trace {
                return Err(format!(
                    "{name} is of trace {} ({} requests, digest {}), but {first_name} is of trace {} ({} requests, digest {})",
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
                    "{name} is part of a sweep of {} jobs, but {first_name} of one of {jobs}: run all parts with the same policies and sizes",
                    part.jobs
                ));
            }
            shards.push((name.clone(), part.shard));
            for row in part.rows {
                let job = row.job;
                let before = rows.insert(job, row.clone());
                if before.is_some_and(|before| before != row) {
                    return Err(format!(
                        "{name} contradicts an earlier file on job {job} ({} at size {}): run one of them again",
                        row.policy, row.size
                    ));
                }
            }
        }
        let missing: Vec<usize> = (0..jobs).filter(|job| !rows.contains_key(job)).collect();
        if let Some(first) = missing.first() {
            return Err(absent(&shards).unwrap_or_else(|| {
                format!(
                    "{} of {jobs} jobs are missing, first job {first}: give the files of all parts",
                    missing.len()
                )
            }));
        }
        Ok(Results {
            trace,
            jobs,
            shard: None,
            rows: rows.into_values().collect(),
        })
    }

    /// As CSV, with a heading. The columns are the same for exact counts and for estimates.
    pub fn csv(&self) -> String {
        let rows = self.rows.iter().map(|row| self.fields(row).join(","));
        let lines = std::iter::once(COLUMNS.join(",")).chain(rows);
        lines.map(|line| line + "\n").collect()
    }

    /// The fields of a row for CSV, by [`COLUMNS`].
    pub fn fields(&self, row: &Row) -> [String; COLUMNS.len()] {
        let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |r| format!("{r:.6}"));
        let ends = row.miss_ratio_95;
        [
            quoted(&self.trace.name),
            quoted(&row.policy),
            row.size.to_string(),
            row.requests.to_string(),
            row.misses
                .map_or(String::new(), |misses| misses.to_string()),
            ratio(row.miss_ratio),
            ratio(ends.map(|[low, _]| low)),
            ratio(ends.map(|[_, high]| high)),
        ]
    }
}

/// A field of CSV: in quotes if it has a comma, a quote or a line break.
pub fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    }
}

/// The columns of CSV.
pub const COLUMNS: [&str; 8] = [
    "trace",
    "policy",
    "size_objects",
    "requests",
    "misses",
    "miss_ratio",
    "miss_ratio_low_95",
    "miss_ratio_high_95",
];

/// Which parts are absent, or which file is a part of another division. None where the files are no parts.
fn absent(shards: &[(String, Option<(usize, usize)>)]) -> Option<String> {
    let mut files: BTreeMap<usize, Vec<(usize, &str)>> = BTreeMap::new();
    for (name, shard) in shards {
        let (part, of) = (*shard)?;
        files.entry(of).or_default().push((part, name));
    }
    // What most files say counts; among equals the smaller number.
    let (&of, most) = files.iter().rev().max_by_key(|(_, files)| files.len())?;
    let other = files.iter().find(|(other, _)| **other != of);
    if let Some((other, files)) = other {
        let (part, name) = files[0];
        return Some(format!(
            "{name} is part {part} of {other}, the others of {of}: run it again with --shard I/{of}"
        ));
    }
    let parts = (1..=of).filter(|part| !most.iter().any(|(given, _)| given == part));
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    Some(match &parts[..] {
        [] => return None,
        [part] => format!(
            "part {part}/{of} is missing: run it again, as array index {part} (--shard {part}/{of})"
        ),
        parts => {
            let parts = parts.join(",");
            format!(
                "parts {parts} of {of} are missing: run them again, as array indices {parts} (--shard I/{of})"
            )
        }
    })
}
