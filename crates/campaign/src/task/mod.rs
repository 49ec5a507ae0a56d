//! One task: a trace, all or a part of its policies and sizes, and one file of rows.
mod limit;
mod simulate;

use crate::error::Damaged;
use crate::folder::{host, write, Attempt, Ended, Folder};
use crate::plan::Limits;
use crate::table::{self, Row};
use anyhow::{bail, Result};
use cluster::refused;
use names::{io_error, shown};
use std::fs;
use std::io;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How a task is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// From 1.
    pub attempt: u32,
    /// Beyond these the kernel ends the task. None leaves both to the engine.
    pub limits: Option<Limits>,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The rows were there already.
    Before,
    Now,
}

/// The keys of a task's file: the hash of the plan, and the number of the task.
const PLAN: &str = "hotset.plan";
const TASK: &str = "hotset.task";

/// Runs a task, unless its rows are there already. Two runs at once write the same rows.
///
/// # Errors
/// The trace cannot be read or has changed, or the rows cannot be written. The attempt has the error.
pub fn run(folder: &Folder, task: usize, ask: &Ask) -> Result<Done> {
    let tasks = folder.plan.tasks.len();
    if task >= tasks {
        return Err(refused!(
            "there is no task {task}: expected 0 to {}",
            tasks - 1
        ));
    }
    if rows(folder, task).is_ok_and(|rows| rows.is_some()) {
        return Ok(Done::Before);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let asked = ask.limits.unwrap_or(Limits {
        memory: 0,
        seconds: 0,
    });
    let mut attempt = Attempt {
        task,
        attempt: ask.attempt,
        host: host(),
        begun: since.map_or(0, |since| since.as_secs()),
        memory_limit: asked.memory,
        seconds_limit: asked.seconds,
        ended: None,
        error: None,
    };
    folder.record(&attempt)?;
    let done = limited(folder, task, ask, &mut attempt);
    if let Err(error) = &done {
        attempt.error = Some(format!("{error:#}"));
        // The error itself is returned.
        let _ = folder.record(&attempt);
    }
    done.map(|()| Done::Now)
}

fn limited(folder: &Folder, task: usize, ask: &Ask, attempt: &mut Attempt) -> Result<()> {
    let begun = Instant::now();
    let before = limit::cpu_seconds();
    limit::forget_peak();
    if let Some(limits) = ask.limits {
        limit::set(limits, before)?;
    }
    let rows = simulate::rows(&folder.plan, task)?;
    attempt.ended = Some(Ended {
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: limit::cpu_seconds() - before,
        peak_memory: limit::peak(),
    });
    let about = [(PLAN, folder.hash.clone()), (TASK, task.to_string())];
    let names = Row::schema().into_iter().map(|(name, _)| name);
    let columns = names.zip(Row::columns(&rows)).collect();
    let bytes = table::bytes(columns, &about)?;
    // First what the task took, so that no rows are without it.
    folder.record(attempt)?;
    write(&folder.rows_of(task), |to| to.write_all(&bytes))
}

/// The rows of a task. None where the task is not done.
///
/// # Errors
/// The file cannot be read. It is damaged, or is of another campaign or another task: a [`Damaged`]. Both name the file.
pub fn rows(folder: &Folder, task: usize) -> Result<Option<Vec<Row>>> {
    let path = folder.rows_of(task);
    let name = shown(&path);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => bail!("{name}: cannot read: {}", io_error(&error)),
    };
    let rows = kept(folder, task, bytes);
    let damaged = |wrong| Damaged(format!("{name}: {wrong:#}; remove the file and go on"));
    Ok(Some(rows.map_err(damaged)?))
}

/// The rows of a task's file.
fn kept(folder: &Folder, task: usize, bytes: Vec<u8>) -> Result<Vec<Row>> {
    let mut table = table::of(bytes)?;
    if table.about(PLAN) != Some(folder.hash.as_str()) {
        bail!("is a result of another campaign");
    }
    if table.about(TASK) != Some(task.to_string().as_str()) {
        bail!("is a result of another task");
    }
    let rows = Row::of(&mut table)?;
    let expected = folder.plan.pairs_of(&folder.plan.tasks[task]).count();
    match rows.len() == expected {
        true => Ok(rows),
        false => bail!("has {} rows in place of {expected}", rows.len()),
    }
}
