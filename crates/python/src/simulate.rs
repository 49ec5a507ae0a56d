//! Policies and curves on a trace.
use crate::errors;
use crate::held::Held;
use crate::rows;
use crate::work::{self, Work};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sim::curve::shards::Shards;
use sim::curve::Curve;
use sim::engine::STRETCH;
use sim::registry::{Choice, POLICIES};
use sim::sweep::results::Row;
use sim::sweep::sampled::Sampled;
use sim::sweep::size::{parse_list, Size};
use sim::sweep::{self, Job};
use sim::{Counts, Input, Running};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use trace::Trace;

/// A size as Python gives it.
#[derive(FromPyObject)]
pub enum Asked {
    Objects(u64),
    Share(f64),
    Text(String),
}

impl Asked {
    fn sizes(self) -> PyResult<Vec<Size>> {
        match self {
            Asked::Objects(0) => Err(errors::value("size 0: a cache holds at least one object")),
            Asked::Objects(size) => Ok(vec![Size::Objects(size)]),
            Asked::Share(share) if share > 0.0 && share <= 1.0 => Ok(vec![Size::Share(share)]),
            Asked::Share(share) => Err(errors::value(format!(
                "size {share}: a float is a share of the footprint, above 0 and at most 1; an int counts objects"
            ))),
            Asked::Text(text) => parse_list(&text).map_err(errors::value),
        }
    }
}

/// Sizes in objects of the trace, in the order given; equal ones once.
#[pyfunction]
pub fn sizes(trace: &Held, asked: Vec<Asked>, object_bytes: u64) -> PyResult<Vec<u64>> {
    let one_in = trace.0.sample.map_or(1, |sample| sample.one_in);
    let footprint = u64::from(trace.0.objects) * one_in;
    let mut sizes = Vec::new();
    for asked in asked {
        for size in asked.sizes()? {
            let size = size.objects(footprint, object_bytes);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
    }
    Ok(sizes)
}

/// The policies: name, paper, and of each parameter its name, default and meaning.
#[pyfunction]
pub fn policies(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let made = PyList::empty(py);
    for policy in POLICIES {
        let one = PyDict::new(py);
        one.set_item("name", policy.name)?;
        one.set_item("paper", policy.paper)?;
        let parameters = PyList::empty(py);
        for parameter in policy.parameters {
            let about = PyDict::new(py);
            about.set_item("name", parameter.name)?;
            about.set_item("default", parameter.default)?;
            about.set_item("help", parameter.help)?;
            parameters.append(about)?;
        }
        one.set_item("parameters", parameters)?;
        made.append(one)?;
    }
    Ok(made)
}

/// A policy as it is written in results: `S3FIFO` becomes `s3-fifo`.
#[pyfunction]
pub fn policy(text: &str) -> PyResult<String> {
    Ok(choice(text)?.to_string())
}

fn choice(text: &str) -> PyResult<Choice> {
    Choice::parse(text).map_err(errors::value)
}

/// The rows of each policy at each size in objects. The first `warmup` requests are served and not counted.
#[pyfunction]
pub fn simulate<'py>(
    py: Python<'py>,
    trace: &Held,
    policies: Vec<String>,
    sizes: Vec<u64>,
    warmup: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let choices: Vec<Choice> = policies
        .iter()
        .map(|text| choice(text))
        .collect::<PyResult<_>>()?;
    let jobs = sweep::jobs(&choices, &sizes);
    let trace = Arc::clone(&trace.0);
    let made = work::run(py, progress.as_ref(), move |work| {
        sweep(&trace, &jobs, (warmup, threads), work)
    })?;
    rows::rows(py, &made)
}

/// As [`sim::sweep::sweep`], on threads that end when nobody waits for them any more.
fn sweep(
    trace: &Trace,
    jobs: &[Job],
    (warmup, threads): (usize, usize),
    work: &Work,
) -> PyResult<Vec<Row>> {
    let input = Input::of(trace).map_err(errors::value)?;
    let sampled = Sampled::of(trace).map_err(errors::value)?;
    let each = match &sampled {
        Some(sampled) => sampled.work(),
        None => trace.len() as u64,
    };
    work.expect(each * jobs.len() as u64);
    let row = |job: &Job| -> Result<Row, sim::Error> {
        if let Some(sampled) = &sampled {
            let estimate =
                sampled.estimate(&job.choice, job.size, &mut |done| work.advance(done))?;
            return Ok(Row::estimated(job, sampled.requests(), estimate));
        }
        let mut policy = job.choice.build(&input, job.size)?;
        Ok(Row::new(job, &count(policy.as_mut(), &input, warmup, work)))
    };
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(jobs.len()));
    work::on_threads(threads.clamp(1, jobs.len().max(1)), &|| {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = row(job);
            if row.is_err() {
                // The other jobs would be in vain.
                next.store(jobs.len(), Ordering::Relaxed);
            }
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push((job.number, row));
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|&(number, _)| number);
    let rows = made.into_iter().map(|(_, row)| row.map_err(errors::value));
    rows.collect()
}

/// As [`sim::run`], with a warm-up.
fn count(policy: &mut dyn Running, input: &Input, warmup: usize, work: &Work) -> Counts {
    let requests = input.ids().len();
    let mut misses = 0;
    let mut from = 0;
    while from < requests {
        let warm = from < warmup;
        let end = if warm { warmup } else { requests };
        let to = end.min(from + STRETCH);
        let missed = policy.stretch(input, from, to);
        misses += if warm { 0 } else { missed };
        work.advance((to - from) as u64);
        from = to;
    }
    Counts {
        requests: (requests - warmup) as u64,
        misses,
        counters: policy.counters(),
        bytes: policy.bytes(),
    }
}

/// LRU's rows at each size in objects: exact in one pass, or from a sample of this share of the objects.
#[pyfunction]
pub fn curve<'py>(
    py: Python<'py>,
    trace: &Held,
    sizes: Vec<u64>,
    sample: Option<f64>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let jobs = sweep::jobs(&[choice("lru")?], &sizes);
    let trace = Arc::clone(&trace.0);
    let made = work::run(py, progress.as_ref(), move |work| {
        let input = Input::of(&trace).map_err(errors::value)?;
        Ok(of_lru(&input, &jobs, (sample, seed), work))
    })?;
    rows::rows(py, &made)
}

fn of_lru(
    input: &Input,
    jobs: &[Job],
    (sample, seed): (Option<f64>, u64),
    work: &Work,
) -> Vec<Row> {
    let requests = input.ids().len() as u64;
    if let Some(share) = sample {
        work.expect(jobs.len() as u64 + 1);
        let shards = Shards::new(input, share, seed);
        work.advance(1);
        let row = |job: &Job| {
            let row = Row::estimated(job, requests, shards.miss_ratio(job.size));
            work.advance(1);
            row
        };
        return jobs.iter().map(row).collect();
    }
    work.expect(requests);
    let curve = Curve::lru(input, &mut |done| work.advance(done));
    let row = |job: &Job| {
        let counts = Counts {
            requests,
            misses: curve.misses(job.size),
            ..Counts::default()
        };
        Row::new(job, &counts)
    };
    jobs.iter().map(row).collect()
}
