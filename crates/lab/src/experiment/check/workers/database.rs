//! Checks workers with a database, a copy of a tree, or a shared cgroup.
use super::super::rule::{invalid, is_plain, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::Step;
use protocol::spec::Worker;
use protocol::work::database::Engine;
use protocol::work::Work;

/// Checks a shared cgroup, which has one limit for all of its workers.
pub fn cgroup(experiment: &Experiment, name: &str, here: &dyn Fn(&[&str]) -> Vec<Step>) -> Checked {
    let worker = &experiment.workers[name];
    let Some(cgroup) = &worker.cgroup else {
        return Ok(());
    };
    if !is_plain(cgroup) {
        let message = "a cgroup's name is made of letters, digits, '-', '_', '.'";
        return invalid(here(&["cgroup"]), message);
    }
    if worker.own_cgroup || worker.does.leaves_processes() {
        let message = "the worker has a cgroup of its own, and cannot share another: remove one";
        return invalid(here(&["cgroup"]), message);
    }
    for (other, one) in &experiment.workers {
        if one.cgroup.as_ref() == Some(cgroup) && one.memory_max != worker.memory_max {
            let message = format!("worker {other:?} shares its cgroup and has another memory_max");
            return invalid(here(&["cgroup"]), message);
        }
    }
    Ok(())
}

/// Checks a worker with a database or a copy.
pub fn check(
    experiment: &Experiment,
    worker: &Worker,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Checked {
    let whole = experiment.machine.memory_mb << 20;
    let others = || experiment.workers.values().map(|other| &other.does);
    match &worker.does {
        Work::MakeDatabase(make) => {
            let field = here(&["does", "make-database", "size"]);
            let bytes = make.size.resolve(whole).bytes();
            if bytes < 1 << 20 {
                return invalid(field, "expected at least 1 MiB");
            }
            if bytes >= experiment.machine.scratch_mb << 20 {
                let message = "the machine's disk is too small: raise machine.scratch_mb";
                return invalid(field, message);
            }
            let same =
                |work: &&Work| matches!(work, Work::MakeDatabase(one) if one.engine == make.engine);
            if others().filter(same).count() > 1 || worker.count > 1 {
                let message = "an engine has one database: two workers would make the same files";
                return invalid(here(&["does", "make-database", "engine"]), message);
            }
            Ok(())
        }
        Work::LookUp(look_up) => {
            let field = |name: &str| here(&["does", "look-up", name]);
            let made = |work: &Work| matches!(work, Work::MakeDatabase(make) if make.engine == look_up.engine);
            if !others().any(made) {
                let message =
                    "no worker makes a database of this engine: add one with does.make-database";
                return invalid(field("engine"), message);
            }
            if !(1..=1 << 26).contains(&look_up.look_ups) {
                return invalid(field("look_ups"), "expected 1 to 67108864");
            }
            if look_up.settle > 1 << 26 {
                return invalid(field("settle"), "expected 0 to 67108864");
            }
            if look_up.mapped && look_up.engine == Engine::Redb {
                return invalid(field("mapped"), "redb maps no files: it reads by pread(2)");
            }
            // Without a cgroup the counters would include the reads of all other workers.
            let own = worker.own_cgroup || worker.cgroup.is_some();
            if !own && worker.memory_max.resolve(whole).bytes() == 0 {
                let message = "its counters are its cgroup's: set memory_max, cgroup or own_cgroup";
                return invalid(here(&["does", "look-up"]), message);
            }
            Ok(())
        }
        Work::CopyTree { .. } => {
            if !others().any(|work| matches!(work, Work::Tree { .. })) {
                let message = "no worker writes a tree to copy: add one with does.tree";
                return invalid(here(&["does", "copy-tree"]), message);
            }
            if worker.count > 1 {
                let message = "a worker has one copy: its processes would write the same files";
                return invalid(here(&["count"]), message);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
