//! Runs a campaign: submits the tasks without a result, looks what became of them, and tries some once more.
use crate::engines::{prefix, Batch, Engine};
use crate::error::Damaged;
use crate::folder::{remove_leftovers, Folder};
use crate::plan::Limits;
use crate::status::Failure;
use crate::task;
use anyhow::Result;
use progress::duration;
use std::collections::BTreeMap;
use units::format_bytes;

/// Attempts at a task that was ended without an error of its own.
const ATTEMPTS: u32 = 2;

/// Rounds at most: an engine that loses most of what it gets is not asked forever.
const ROUNDS: u32 = 5;

/// How much smaller the bundles of a round are than those of the round before.
const SMALLER: u32 = 8;

/// What became of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Tasks whose results were there before.
    pub before: usize,
    pub done: usize,
    /// Tasks that were tried twice.
    pub again: usize,
    pub failed: Vec<Failure>,
}

/// Goes on with a campaign until each task has a result or has failed. `progress` is told how many are done.
///
/// # Errors
/// The engine cannot be used, or the folder cannot be read or written.
pub fn run(folder: &Folder, engine: &dyn Engine, progress: &dyn Fn(u64)) -> Result<Outcome> {
    let watch = || -> Result<()> {
        progress(folder.done()?.len() as u64);
        Ok(())
    };
    engine.earlier(folder, &watch)?;
    let mut open = Vec::new();
    for number in 0..folder.plan.tasks.len() {
        match task::rows(folder, number) {
            Ok(Some(_)) => continue,
            Ok(None) => {}
            Err(error) if error.is::<Damaged>() => folder.remove_rows(number)?,
            Err(error) => return Err(error),
        }
        folder.forget(number)?;
        open.push(number);
    }
    remove_leftovers(&folder.tasks())?;
    let before = folder.plan.tasks.len() - open.len();
    let again = rounds(folder, engine, &mut open, &watch)?;
    let failures = open.iter().map(|&number| Failure {
        task: number,
        name: folder.plan.name(number),
        reason: failed(folder, number).unwrap_or_else(|| unexplained(folder, number)),
    });
    let failed: Vec<Failure> = failures.collect();
    Ok(Outcome {
        before,
        done: folder.plan.tasks.len() - before - failed.len(),
        again,
        failed,
    })
}

/// Submits the open tasks until each has a result, has failed, or has no attempt left; returns how many were tried
/// twice. Rounds bundle tasks, each an eighth as many as the one before and the last one none: a task that is killed
/// takes fewer and fewer with it, and engines take seconds to begin a process. What was killed is tried by itself.
fn rounds(
    folder: &Folder,
    engine: &dyn Engine,
    open: &mut Vec<usize>,
    watch: &dyn Fn() -> Result<()>,
) -> Result<usize> {
    let longest = engine.longest_array()?;
    let all = open.clone();
    let task = |number: &usize| &folder.plan.tasks[*number];
    for round in 1..=ROUNDS {
        let whole = engine.bundle(open.iter().map(|number| task(number).seconds()).sum());
        let bundle = match round {
            ROUNDS => 0.0,
            _ => whole / f64::from(SMALLER.pow(round - 1)),
        };
        let batches = batches(folder, open, round, bundle, longest);
        if batches.is_empty() {
            break;
        }
        engine.run(folder, &batches, bundle, watch)?;
        let has_begun = |batch: &Batch| {
            let mut tasks = batch.elements.iter().flatten();
            tasks.any(|number| attempts(folder, *number) >= batch.attempt)
        };
        let none_began = !batches.iter().any(has_begun);
        let done = folder.done()?;
        open.retain(|number| done.binary_search(number).is_err());
        // What is left has had both its attempts, or an engine that begins nothing.
        if round > 1 && none_began {
            break;
        }
    }
    let again = all.iter().filter(|number| attempts(folder, **number) > 1);
    Ok(again.count())
}

/// How many attempts at a task have begun.
fn attempts(folder: &Folder, task: usize) -> u32 {
    folder.attempt(task).map_or(0, |last| last.attempt)
}

/// The error of a task's own. Another attempt would end in the same.
fn failed(folder: &Folder, task: usize) -> Option<String> {
    folder.attempt(task)?.error
}

/// Why a task without an error of its own has no result.
fn unexplained(folder: &Folder, task: usize) -> String {
    let logs = folder.engine();
    let logs = names::shown(&logs);
    match folder.attempt(task) {
        None => format!("never began: the engine ended before; logs are in {logs}"),
        Some(attempt) => format!(
            "was ended {}, on {} with {} of memory and {}; it needs more, or was killed; logs are in {logs}",
            match attempt.attempt {
                1 => "once",
                _ => "twice",
            },
            attempt.host,
            format_bytes(attempt.memory_limit as f64),
            duration(attempt.seconds_limit),
        ),
    }
}

/// The tasks without a result and without an error of their own that have an attempt left, in batches of equal limits.
fn batches(folder: &Folder, open: &[usize], round: u32, bundle: f64, longest: usize) -> Vec<Batch> {
    let mut kinds: BTreeMap<(u32, Limits), Vec<usize>> = BTreeMap::new();
    for &number in open {
        // A task that never began has used no attempt, and was not short of anything.
        let used = match folder.attempt(number) {
            None => 0,
            Some(last) if last.error.is_some() => continue,
            Some(last) => last.attempt,
        };
        if used >= ATTEMPTS {
            continue;
        }
        let task = &folder.plan.tasks[number];
        let limits = Limits::of(task.memory, task.seconds(), used + 1);
        kinds.entry((used + 1, limits)).or_default().push(number);
    }
    let mut batches = Vec::new();
    for ((attempt, limits), numbers) in kinds {
        let predicted = |number: usize| folder.plan.tasks[number].seconds();
        let bundle = if attempt > 1 { 0.0 } else { bundle };
        let elements = elements(&numbers, &predicted, bundle);
        for elements in elements.chunks(longest) {
            batches.push(Batch {
                name: format!("{}-{round}-{}", prefix(folder), batches.len() + 1),
                attempt,
                limits,
                elements: elements.to_vec(),
            });
        }
    }
    batches
}

/// Tasks bundled up to about so many predicted seconds: an engine takes longer to start a process than many a task
/// takes.
fn elements(numbers: &[usize], predicted: &dyn Fn(usize) -> f64, seconds: f64) -> Vec<Vec<usize>> {
    let mut elements: Vec<Vec<usize>> = Vec::new();
    let mut left = 0.0;
    for &number in numbers {
        let predicted = predicted(number);
        match elements.last_mut() {
            Some(last) if predicted <= left => {
                last.push(number);
                left -= predicted;
            }
            _ => {
                elements.push(vec![number]);
                left = seconds - predicted;
            }
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn short_tasks_share_an_element_and_long_ones_do_not() {
        let predicted = |number: usize| [0.4, 0.4, 0.4, 5.0, 0.1, 0.9][number];
        let found = elements(&[0, 1, 2, 3, 4, 5], &predicted, 1.0);
        assert_eq!(found, [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
        let alone = elements(&[0, 2, 5], &predicted, 0.0);
        assert_eq!(alone, [vec![0], vec![2], vec![5]]);
    }
}
