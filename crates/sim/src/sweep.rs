//! Many policies and sizes over one decoded trace, in parallel; and a share of them, so that several
//! machines can do it together.
use crate::registry::Choice;
use crate::results::Row;
use crate::sampled::Sampled;
use crate::{run, Error, Input};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// One policy at one size.
#[derive(Clone)]
pub struct Job {
    /// Its number in the whole sweep, from 0.
    pub number: usize,
    pub choice: Choice,
    /// In objects.
    pub size: u64,
}

/// All jobs of a sweep: policies, and within each the sizes. Sizes that come to the same number of
/// objects are one.
pub fn jobs(choices: &[Choice], sizes: &[u64]) -> Vec<Job> {
    let mut distinct: Vec<u64> = Vec::new();
    for &size in sizes {
        if !distinct.contains(&size) {
            distinct.push(size);
        }
    }
    let pairs = choices
        .iter()
        .flat_map(|choice| distinct.iter().map(move |&size| (choice, size)));
    pairs
        .enumerate()
        .map(|(number, (choice, size))| Job {
            number,
            choice: choice.clone(),
            size,
        })
        .collect()
}

/// A part of a sweep: `2/8` is the second of eight. Job `n` (from 0) is in part `n % of + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub part: usize,
    pub of: usize,
}

impl Shard {
    /// Is that job in it?
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.part - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if 1 <= part && part <= of => Ok(Shard { part, of }),
            _ => Err(format!(
                "{text:?}: expected I/N with I from 1 to N, such as 2/8"
            )),
        }
    }
}

/// Runs jobs on so many threads. `progress` is told of requests as they are done.
///
/// # Errors
/// The first policy that could not be built.
pub fn sweep(
    input: &Input,
    jobs: &[Job],
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Row>, Error> {
    each(jobs, threads, &|job| {
        let mut policy = job.choice.build(input, job.size)?;
        let counts = run(policy.as_mut(), input, &mut |done| progress(done));
        Ok(Row::new(job, &counts))
    })
}

/// Likewise, estimated from a sample.
///
/// # Errors
/// The first policy that could not be built.
pub fn sweep_sampled(
    sampled: &Sampled,
    jobs: &[Job],
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Row>, Error> {
    each(jobs, threads, &|job| {
        let mut tell = |done| progress(done);
        let estimate = sampled.estimate(&job.choice, job.size, &mut tell)?;
        Ok(Row {
            misses_error_95: Some(estimate.misses_error_95),
            ..Row::new(job, &estimate.counts)
        })
    })
}

fn each(
    jobs: &[Job],
    threads: usize,
    row: &(dyn Fn(&Job) -> Result<Row, Error> + Sync),
) -> Result<Vec<Row>, Error> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let rows = Mutex::new(Vec::with_capacity(jobs.len()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                return;
            }
            let row = row(job);
            failed.fetch_or(row.is_err(), Ordering::Relaxed);
            lock(&rows).push((job.number, row));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut rows = std::mem::take(&mut *lock(&rows));
    rows.sort_by_key(|&(number, _)| number);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that panicked ends the scope with its panic: nobody reads on.
    mutex.lock().unwrap_or_else(|held| held.into_inner())
}
