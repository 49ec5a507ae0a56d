//! How far a campaign is.
use crate::folder::Folder;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;

/// The state of a campaign's tasks.
#[derive(Debug, Serialize)]
pub struct Status {
    pub traces: usize,
    pub policies: usize,
    pub sizes: usize,
    pub tasks: usize,
    pub done: usize,
    /// Begun, and neither done nor failed: they run, or were killed.
    pub begun: usize,
    pub waiting: usize,
    pub failed: Vec<Failure>,
    /// Whether the merged table is there.
    pub merged: bool,
    /// Seconds of a processor that the done tasks took, and that the others are predicted to take.
    pub cpu_seconds: f64,
    pub cpu_seconds_left: f64,
    /// Done tasks by host.
    pub hosts: BTreeMap<String, usize>,
}

/// A task without a result, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    pub task: usize,
    /// The trace, and the part where there are several.
    pub name: String,
    pub reason: String,
}

/// Looks at all tasks of a campaign.
///
/// # Errors
/// The folder cannot be read.
pub fn status(folder: &Folder) -> Result<Status> {
    let plan = &folder.plan;
    let done = folder.done()?;
    let mut status = Status {
        traces: plan.traces.len(),
        policies: plan.policies.len(),
        sizes: plan.sizes.len(),
        tasks: plan.tasks.len(),
        done: done.len(),
        begun: 0,
        waiting: 0,
        failed: Vec::new(),
        merged: folder.results().exists(),
        cpu_seconds: 0.0,
        cpu_seconds_left: 0.0,
        hosts: BTreeMap::new(),
    };
    for (number, task) in plan.tasks.iter().enumerate() {
        let attempt = folder.attempt(number);
        if done.binary_search(&number).is_ok() {
            let Some(attempt) = attempt else { continue };
            status.cpu_seconds += attempt.ended.map_or(0.0, |ended| ended.cpu_seconds);
            *status.hosts.entry(attempt.host).or_default() += 1;
            continue;
        }
        status.cpu_seconds_left += task.seconds();
        match attempt {
            None => status.waiting += 1,
            Some(attempt) => match attempt.error {
                None => status.begun += 1,
                Some(reason) => status.failed.push(Failure {
                    task: number,
                    name: plan.name(number),
                    reason,
                }),
            },
        }
    }
    Ok(status)
}
