//! The tables of a campaign: all rows in one fixed order, and what each task took.
use crate::folder::{remove_leftovers, write, Folder};
use crate::table::{self, Column, Row, Writer};
use crate::task;
use anyhow::{bail, Result};

/// Rows of a group: the same in every campaign, so that the bytes depend on the rows alone.
const GROUP: usize = 1 << 16;

/// The key of the merged file's end that counts traces without a result.
pub const MISSING: &str = "hotset.traces_missing";

/// What a merge found.
#[derive(Debug)]
pub struct Merged {
    pub rows: u64,
    pub traces: usize,
    /// Traces that have no row in the table, since a task of theirs has no result.
    pub missing: Vec<String>,
}

/// Writes all rows by trace, policy and size, in the order of the plan, and the table of runs. Traces whose tasks are
/// not all done are left out.
///
/// # Errors
/// A task's rows are damaged, two parts of a trace saw different requests, or a file cannot be written.
pub fn merge(folder: &Folder, progress: &dyn Fn(u64)) -> Result<Merged> {
    let plan = &folder.plan;
    let done = folder.done()?;
    let is_done = |task: usize| done.binary_search(&task).is_ok();
    let mut missing = Vec::new();
    let mut whole: Vec<std::ops::Range<usize>> = Vec::new();
    let mut first = 0;
    while first < plan.tasks.len() {
        let all = first..first + plan.tasks[first].of as usize;
        first = all.end;
        match all.clone().all(is_done) {
            true => whole.push(all),
            false => missing.push(plan.traces[plan.tasks[all.start].trace].name.clone()),
        }
    }
    let about = [(MISSING, missing.len().to_string())];
    let (bytes, rows) = all_rows(folder, &whole, &about, progress)?;
    write(&folder.results(), |to| to.write_all(&bytes))?;
    runs(folder, &done)?;
    remove_leftovers(folder.path())?;
    Ok(Merged {
        rows,
        traces: whole.len(),
        missing,
    })
}

fn all_rows(
    folder: &Folder,
    whole: &[std::ops::Range<usize>],
    about: &[(&str, String)],
    progress: &dyn Fn(u64),
) -> Result<(Vec<u8>, u64)> {
    let mut to = Writer::new(Vec::new(), &Row::schema(), about)?;
    let (mut waiting, mut total) = (Vec::new(), 0);
    for tasks in whole {
        waiting.extend(of_trace(folder, tasks)?);
        while waiting.len() >= GROUP {
            let rest = waiting.split_off(GROUP);
            to.group(&Row::columns(&waiting))?;
            total += waiting.len() as u64;
            waiting = rest;
        }
        progress(tasks.end as u64);
    }
    to.group(&Row::columns(&waiting))?;
    total += waiting.len() as u64;
    Ok((to.finish()?, total))
}

/// The rows of a trace from all its tasks, by pair.
fn of_trace(folder: &Folder, tasks: &std::ops::Range<usize>) -> Result<Vec<Row>> {
    let plan = &folder.plan;
    let mut all: Vec<(usize, Row)> = Vec::new();
    for number in tasks.clone() {
        let Some(rows) = task::rows(folder, number)? else {
            bail!(
                "{}: the result has gone; run the campaign again",
                plan.name(number)
            );
        };
        all.extend(plan.pairs_of(&plan.tasks[number]).zip(rows));
    }
    all.sort_by_key(|(pair, _)| *pair);
    let rows: Vec<Row> = all.into_iter().map(|(_, row)| row).collect();
    let first = &rows[0];
    if let Some(other) = rows.iter().find(|row| row.digest != first.digest) {
        bail!(
            "{}: tasks have read different requests (digests {} and {}): the file has changed; begin again in another folder",
            first.trace,
            first.digest,
            other.digest
        );
    }
    Ok(rows)
}

/// Writes what each task took, and where. This table differs from run to run.
fn runs(folder: &Folder, done: &[usize]) -> Result<()> {
    let plan = &folder.plan;
    let found = done.iter().filter_map(|&task| {
        let attempt = folder.attempt(task)?;
        Some((plan.tasks[task], attempt.ended?, attempt))
    });
    let found: Vec<_> = found.collect();
    let count = |of: &dyn Fn(
        &(
            crate::plan::Task,
            crate::folder::Ended,
            crate::folder::Attempt,
        ),
    ) -> u64| { Column::Count(found.iter().map(of).collect()) };
    let names = found
        .iter()
        .map(|(task, ..)| plan.traces[task.trace].name.clone());
    let hosts = found.iter().map(|(.., attempt)| attempt.host.clone());
    let real = |of: fn(&crate::folder::Ended) -> f64| {
        Column::Real(found.iter().map(|(_, ended, _)| of(ended)).collect())
    };
    let columns = vec![
        ("task", count(&|(.., attempt)| attempt.task as u64)),
        ("trace", Column::Text(names.collect())),
        ("part", count(&|(task, ..)| u64::from(task.part))),
        ("parts", count(&|(task, ..)| u64::from(task.of))),
        (
            "attempt",
            count(&|(.., attempt)| u64::from(attempt.attempt)),
        ),
        ("host", Column::Text(hosts.collect())),
        ("begun", count(&|(.., attempt)| attempt.begun)),
        ("seconds", real(|ended| ended.seconds)),
        ("cpu_seconds", real(|ended| ended.cpu_seconds)),
        ("peak_memory", count(&|(_, ended, _)| ended.peak_memory)),
        ("memory_limit", count(&|(.., attempt)| attempt.memory_limit)),
        ("predicted_memory", count(&|(task, ..)| task.memory)),
        (
            "predicted_seconds",
            Column::Real(found.iter().map(|(task, ..)| task.seconds()).collect()),
        ),
    ];
    let bytes = table::bytes(columns, &[])?;
    write(&folder.runs(), |to| to.write_all(&bytes))
}
