//! Jobs of a sweep on several threads, over one decoded trace.
use crate::sweep::job::Job;
use crate::sweep::results::Row;
use crate::sweep::sampled::Sampled;
use crate::{run, Error, Input};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;

/// Runs jobs on `threads` threads. `progress` is called with the number of requests done since its last call.
///
/// # Errors
/// The error of the first job whose policy cannot be built.
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

/// Runs jobs on `threads` threads, and estimates their counts from a sample.
///
/// # Errors
/// The error of the first job whose policy cannot be built.
pub fn sweep_sampled(
    sampled: &Sampled,
    jobs: &[Job],
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Row>, Error> {
    each(jobs, threads, &|job| {
        let mut report = |done| progress(done);
        let estimate = sampled.estimate(&job.choice, job.size, &mut report)?;
        Ok(Row::estimated(job, sampled.requests(), estimate))
    })
}

/// Computes a row for each job, on `threads` threads. Rows are in the order of the jobs.
///
/// # Errors
/// The error of the first job that has one.
pub(crate) fn each<R: Send>(
    jobs: &[Job],
    threads: usize,
    row: &(dyn Fn(&Job) -> Result<R, Error> + Sync),
) -> Result<Vec<R>, Error> {
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
    // A panic of a thread ends the scope, so nothing reads a half-written value.
    mutex.lock().unwrap_or_else(|held| held.into_inner())
}
