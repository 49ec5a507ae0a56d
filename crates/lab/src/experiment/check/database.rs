//! What only workers with a database, a copy or a shared cgroup can have wrong.
use super::super::source::Step;
use super::{fault, plain, Checked};
use crate::experiment::Experiment;
use raw::database::Engine;
use raw::spec::{Work, Worker};

/// A shared cgroup has one limit, or the last worker's would be everybody's.
pub fn cgroup(experiment: &Experiment, name: &str, here: &dyn Fn(&[&str]) -> Vec<Step>) -> Checked {
    let worker = &experiment.workers[name];
    let Some(cgroup) = &worker.cgroup else {
        return Ok(());
    };
    if !plain(cgroup) {
        let message = "a cgroup's name is made of letters, digits, '-', '_', '.'";
        return fault(here(&["cgroup"]), message);
    }
    if worker.own_cgroup || matches!(worker.does, Work::Forks { .. }) {
        let message = "it has a cgroup of its own, and cannot share another";
        return fault(here(&["cgroup"]), message);
    }
    for (other, one) in &experiment.workers {
        if one.cgroup.as_ref() == Some(cgroup) && one.memory_max != worker.memory_max {
            let message = format!("worker {other:?} shares its cgroup and has another memory_max");
            return fault(here(&["cgroup"]), message);
        }
    }
    Ok(())
}

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
                return fault(field, "expected at least 1 MiB");
            }
            if bytes >= experiment.machine.scratch_mb << 20 {
                let message = "the machine's disk has no room for that: machine.scratch_mb";
                return fault(field, message);
            }
            let same =
                |work: &&Work| matches!(work, Work::MakeDatabase(one) if one.engine == make.engine);
            if others().filter(same).count() > 1 || worker.count > 1 {
                let message = "an engine has one database: two workers would make the same files";
                return fault(here(&["does", "make-database", "engine"]), message);
            }
            Ok(())
        }
        Work::LookUp(look_up) => {
            let field = |name: &str| here(&["does", "look-up", name]);
            let made = |work: &Work| matches!(work, Work::MakeDatabase(make) if make.engine == look_up.engine);
            if !others().any(made) {
                let message = "no worker makes a database of this engine: does.make-database";
                return fault(field("engine"), message);
            }
            if !(1..=1 << 26).contains(&look_up.look_ups) {
                return fault(field("look_ups"), "expected 1 to 67108864");
            }
            if look_up.settle > 1 << 26 {
                return fault(field("settle"), "expected 0 to 67108864");
            }
            if look_up.mapped && look_up.engine == Engine::Redb {
                return fault(field("mapped"), "redb maps no files: it reads by pread(2)");
            }
            // Else it would be told of what all others read.
            let own = worker.own_cgroup || worker.cgroup.is_some();
            if !own && worker.memory_max.resolve(whole).bytes() == 0 {
                let message = "its counters are its cgroup's: memory_max, cgroup or own_cgroup";
                return fault(here(&["does", "look-up"]), message);
            }
            Ok(())
        }
        Work::CopyTree { .. } => {
            if !others().any(|work| matches!(work, Work::Tree { .. })) {
                let message = "no worker writes a tree to copy: does.tree";
                return fault(here(&["does", "copy-tree"]), message);
            }
            if worker.count > 1 {
                let message = "a worker has one copy: its processes would write the same files";
                return fault(here(&["count"]), message);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
