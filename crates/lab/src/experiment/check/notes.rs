//! Notes: text of a file that has no effect, or that only some kernels understand.
use super::metrics::doubtful;
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{at, Error};
use protocol::work::access::By;
use protocol::work::Work;
use std::collections::BTreeSet;

/// Everything that is probably a mistake and does not hinder a run. The scenes of a `preset` need not run every
/// worker.
pub fn notes(experiment: &Experiment, preset: bool) -> Vec<Error> {
    let mut notes = Vec::new();
    let used: BTreeSet<&str> = { experiment.workers.values() }
        .flat_map(|worker| files(&worker.does))
        .collect();
    // A program finds all files in /data.
    let any = { experiment.workers.values() }.any(|worker| matches!(worker.does, Work::Program(_)));
    for name in experiment
        .files
        .keys()
        .filter(|name| !any && !used.contains(name.as_str()))
    {
        notes.push(Error {
            at: at!["files", name.as_str()],
            message: "no worker reads this file".into(),
        });
    }
    for name in experiment.workers.keys().filter(|_| !preset) {
        if experiment
            .scenes
            .iter()
            .all(|scene| !scene.run.contains(name))
        {
            notes.push(Error {
                at: at!["workers", name.as_str()],
                message: "no scene runs this worker".into(),
            });
        }
    }
    notes.extend(of_plan(experiment));
    notes
}

fn of_plan(experiment: &Experiment) -> impl Iterator<Item = Error> + '_ {
    let plan = &experiment.plan;
    let figures = plan.figures.iter().map(|it| ("figures", &it.metric));
    let promises = plan.promises.iter().map(|it| ("promises", &it.metric));
    let curves = plan.curves.iter().map(|it| ("curves", &it.metric));
    let places = figures
        .enumerate()
        .chain(promises.enumerate())
        .chain(curves.enumerate());
    places.filter_map(|(i, (list, metric))| doubtful(at![list, i, "metric"], metric))
}

/// The files of the experiment that a piece of work reads.
fn files(work: &Work) -> Vec<&str> {
    match work {
        Work::Access(access) => match &access.by {
            By::Mapped { file } | By::Pread { file } => vec![file],
            By::Anon {} => vec![],
        },
        Work::AppCycle(cycle) => vec![&cycle.files, &cycle.framework, &cycle.media],
        work => work.file().into_iter().collect(),
    }
}
