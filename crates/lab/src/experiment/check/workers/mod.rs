//! Checks the workers.
mod apps;
mod database;
mod program;

pub use program::root;

use super::rule::{invalid, is_plain, size_in_range, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{at, there_are, Step};
use protocol::spec::Worker;
use protocol::work::{Churn, Compile, Work};

pub fn workers(experiment: &Experiment) -> Checked {
    for (name, worker) in &experiment.workers {
        let here = |rest: &[&str]| {
            let mut path = at!["workers", name.as_str()];
            path.extend(rest.iter().map(|key| (*key).into()));
            path
        };
        if !is_plain(name) {
            return invalid(
                here(&[]),
                "a worker's name is made of letters, digits, '-', '_', '.'",
            );
        }
        of_process(experiment, worker, &here)?;
        of_work(&worker.does, &here)?;
        of_file(experiment, &worker.does, &here)?;
        of_disk_and_daemon(experiment, &worker.does, &here)?;
        database::cgroup(experiment, name, &here)?;
        database::check(experiment, worker, &here)?;
        if let Some(orders) = worker.does.program() {
            program::program(experiment, orders, &here)?;
        }
    }
    Ok(())
}

/// Checks the fields that all kinds of workers have.
fn of_process(
    experiment: &Experiment,
    worker: &Worker,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Checked {
    if worker.count == 0 || worker.count > 1000 {
        return invalid(here(&["count"]), "expected 1 to 1000");
    }
    if !(-1000..=1000).contains(&worker.oom_score_adj) {
        return invalid(here(&["oom_score_adj"]), "expected -1000 to 1000");
    }
    let nodes = experiment.machine.numa.len().max(1);
    if worker.node.is_some_and(|node| node as usize >= nodes) {
        let message =
            format!("the machine has {nodes} memory nodes, counted from 0 (machine.numa)");
        return invalid(here(&["node"]), message);
    }
    size_in_range(worker.memory_max, here(&["memory_max"]))
}

/// Checks the sizes and the numbers of a piece of work.
fn of_work(work: &Work, here: &dyn Fn(&[&str]) -> Vec<Step>) -> Checked {
    let kind = work.name();
    for (field, size) in work.clone().sizes() {
        size_in_range(*size, here(&["does", kind, field]))?;
    }
    if matches!(work, Work::Age { times: 0 }) {
        return invalid(here(&["does", kind, "times"]), "expected at least 1");
    }
    if matches!(work, Work::KnobLoop(knobs) if knobs.writes.is_empty()) {
        return invalid(
            here(&["does", kind, "writes"]),
            "expected at least one write",
        );
    }
    if work.period_ms() == Some(0) {
        return invalid(here(&["does", kind, "period_ms"]), "expected at least 1");
    }
    Ok(())
}

/// Checks that the file of a piece of work is on the data disk.
fn of_file(experiment: &Experiment, work: &Work, here: &dyn Fn(&[&str]) -> Vec<Step>) -> Checked {
    let file = match work {
        Work::Access(access) => apps::access(experiment, access, here)?,
        Work::AppCycle(cycle) => {
            apps::check(experiment, cycle, here)?;
            None
        }
        work => work.file(),
    };
    if let Some(file) = file.filter(|file| !experiment.files.contains_key(*file)) {
        let names: Vec<&String> = experiment.files.keys().collect();
        let message = format!("[files] has no {file:?}; {}", there_are(file, &names));
        return invalid(here(&["does", work.name(), "file"]), message);
    }
    Ok(())
}

/// Checks work that writes to the scratch disk, or that has a daemon.
fn of_disk_and_daemon(
    experiment: &Experiment,
    work: &Work,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Checked {
    let kind = work.name();
    if work.writes() && experiment.machine.scratch_mb == 0 {
        let message =
            "the worker writes files, and the machine has no disk for them: set machine.scratch_mb";
        return invalid(here(&["does", kind]), message);
    }
    match work {
        Work::Churn(Churn { size, .. })
        | Work::HugePages { size, .. }
        | Work::Pipes { size, .. }
        | Work::Tree { size, .. }
        | Work::Forks { size, .. }
            if size.resolve(1 << 30).bytes() == 0 =>
        {
            invalid(here(&["does", kind, "size"]), "expected a size above 0")
        }
        Work::Tree { files: 0, .. } | Work::Compile(Compile { files: 0, .. }) => {
            invalid(here(&["does", kind, "files"]), "expected at least 1")
        }
        Work::Compile(job) if !(1..=64).contains(&job.jobs) => {
            invalid(here(&["does", kind, "jobs"]), "expected 1 to 64")
        }
        Work::KillDaemon(kill) if kill.least_ms > kill.most_ms => invalid(
            here(&["does", kind, "most_ms"]),
            "expected at least least_ms",
        ),
        Work::KillDaemon(_) => {
            let without = { experiment.arms.iter() }.find(|arm| arm.daemon.is_none());
            match without {
                Some(arm) => {
                    let message = format!("arm {:?} has no daemon to kill", arm.name);
                    invalid(here(&["does", kind]), message)
                }
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
