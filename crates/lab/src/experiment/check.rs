//! What the grammar of an experiment file cannot say: names that must exist, values in range.
mod apps;
mod database;

use super::source::{at, there_are, Fault};
use super::{sizes_of, Experiment};
use crate::bed::Kind;
use raw::plan::{Judge, Promise, Relative};
use raw::size::Size;
use raw::spec::{Until, Work};

type Checked = Result<(), Fault>;

fn fault<T>(at: Vec<super::source::Step>, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault {
        at,
        message: message.into(),
    })
}

pub fn all(experiment: &Experiment) -> Checked {
    whole(experiment)?;
    machine(experiment)?;
    workers(experiment)?;
    scenes(experiment)?;
    arms(experiment)?;
    plan(experiment)
}

fn whole(experiment: &Experiment) -> Checked {
    if experiment.repetitions == 0 || experiment.repetitions > 1000 {
        return fault(at!["repetitions"], "expected 1 to 1000");
    }
    size_in_range(experiment.exhausted_below, at!["exhausted_below"])?;
    for (name, size) in &experiment.files {
        let at = at!["files", name.as_str()];
        if !plain(name) {
            return fault(
                at,
                "a file's name is made of letters, digits, '-', '_' and '.'",
            );
        }
        size_in_range(*size, at.clone())?;
        if size.resolve(1 << 30).bytes() == 0 {
            return fault(at, "expected a size above 0");
        }
    }
    Ok(())
}

fn machine(experiment: &Experiment) -> Checked {
    let machine = &experiment.machine;
    let between = |field: &str, value: u64, low: u64, high: u64| {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        fault(
            at!["machine", field],
            format!("expected {low} to {high}, not {value}"),
        )
    };
    between("memory_mb", machine.memory_mb, 32, 65536)?;
    between("cpus", machine.cpus.into(), 1, 64)?;
    between("zram_mb", machine.zram_mb, 0, 65536)?;
    // The file system needs some of the disk for itself.
    between("swap_mb", machine.swap_mb, 0, machine.scratch_mb / 10 * 9)?;
    between("sample_ms", machine.sample_ms, 10, 60_000)?;
    between("silent_s", machine.silent_s, 1, 86_400)?;
    let one_word = |word: &String| !word.is_empty() && !word.contains(char::is_whitespace);
    if !machine.command_line.iter().all(one_word) {
        let message = "expected one word each, \"cgroup_disable=memory\" for instance";
        return fault(at!["machine", "command_line"], message);
    }
    if machine.silent_s * 1000 < machine.sample_ms * 2 {
        return fault(
            at!["machine", "silent_s"],
            "a guest speaks once in sample_ms: silence cannot be told from work",
        );
    }
    let qemu = machine.bed == Kind::Qemu;
    if machine.icount && (!qemu || machine.cpus != 1) {
        let message = "instructions are counted on bed = \"qemu\" with cpus = 1";
        return fault(at!["machine", "icount"], message);
    }
    if !machine.numa.is_empty() {
        let here = at!["machine", "numa"];
        if !qemu {
            return fault(here, "memory nodes are to be had on bed = \"qemu\"");
        }
        let nodes = experiment.nodes_mb();
        if nodes.contains(&0) || nodes.iter().sum::<u64>() != machine.memory_mb {
            let message = format!("expected sizes that sum to {} MiB", machine.memory_mb);
            return fault(here, message);
        }
        if let Some(i) = experiment
            .arms
            .iter()
            .position(|arm| arm.memory_mb.is_some())
        {
            let message = "a machine with memory nodes has one size for all arms";
            return fault(at!["arms", i, "memory_mb"], message);
        }
    }
    between("scratch_mb", machine.scratch_mb, 0, 65536)?;
    if (1..16).contains(&machine.scratch_mb) {
        let message = "expected 16 or more, or 0 for none: a file system needs room of its own";
        return fault(at!["machine", "scratch_mb"], message);
    }
    if machine.icount && machine.scratch_mb > 0 {
        let message = "a disk that is written to answers when the host gets around to it, which \
                       counted instructions do not allow";
        return fault(at!["machine", "scratch_mb"], message);
    }
    for (field, size) in [
        ("disk_read", machine.disk_read),
        ("disk_write", machine.disk_write),
    ] {
        if matches!(size, Size::Percent(_)) {
            let message = "expected bytes a second, \"100MB\" for instance";
            return fault(at!["machine", field], message);
        }
    }
    Ok(())
}

fn workers(experiment: &Experiment) -> Checked {
    for (name, worker) in &experiment.workers {
        let here = |rest: &[&str]| {
            let mut path = at!["workers", name.as_str()];
            path.extend(rest.iter().map(|key| (*key).into()));
            path
        };
        if !plain(name) {
            return fault(
                here(&[]),
                "a worker's name is made of letters, digits, '-', '_', '.'",
            );
        }
        if worker.count == 0 || worker.count > 1000 {
            return fault(here(&["count"]), "expected 1 to 1000");
        }
        if !(-1000..=1000).contains(&worker.oom_score_adj) {
            return fault(here(&["oom_score_adj"]), "expected -1000 to 1000");
        }
        size_in_range(worker.memory_max, here(&["memory_max"]))?;
        let mut work = worker.does.clone();
        let kind = kind(&work);
        for (field, size) in sizes_of(&mut work) {
            size_in_range(*size, here(&["does", kind, field]))?;
        }
        let (file, period) = match &worker.does {
            Work::Stream { file }
            | Work::ReadOnce { file }
            | Work::Pass { file, .. }
            | Work::Squeeze { file, .. }
            | Work::Fixed { file, .. } => (Some(file), None),
            Work::Probe { file, period_ms } => (Some(file), Some(*period_ms)),
            Work::Ask {
                file, period_ms, ..
            } => (Some(file), Some(*period_ms)),
            Work::Touch { period_ms, .. } => (None, Some(*period_ms)),
            Work::HugePages { period_ms, .. } | Work::Pipes { period_ms, .. } => {
                (None, Some(*period_ms))
            }
            Work::Hog { .. }
            | Work::Forks { .. }
            | Work::Age { .. }
            | Work::Names {}
            | Work::KnobLoop { .. }
            | Work::Churn { .. }
            | Work::Tree { .. }
            | Work::Compile { .. }
            | Work::CopyTree { .. }
            | Work::MakeDatabase(_)
            | Work::LookUp(_)
            | Work::KillDaemon { .. } => (None, None),
            Work::Access(access) => (apps::access(experiment, access, &here)?, None),
            Work::AppCycle(cycle) => {
                apps::check(experiment, cycle, &here)?;
                (None, None)
            }
        };
        if let Some(file) = file.filter(|file| !experiment.files.contains_key(*file)) {
            let names: Vec<&String> = experiment.files.keys().collect();
            let message = format!("[files] has no {file:?}; {}", there_are(&names));
            return fault(here(&["does", kind, "file"]), message);
        }
        if matches!(worker.does, Work::Age { times: 0 }) {
            return fault(here(&["does", kind, "times"]), "expected at least 1");
        }
        if let Work::KnobLoop { writes, .. } = &worker.does {
            if writes.is_empty() {
                return fault(here(&["does", kind, "writes"]), "expected writes to make");
            }
        }
        written(experiment, &worker.does, &here)?;
        database::cgroup(experiment, name, &here)?;
        database::check(experiment, worker, &here)?;
        if worker
            .node
            .is_some_and(|node| node as usize >= experiment.machine.numa.len().max(1))
        {
            return fault(
                here(&["node"]),
                "the machine has no such node: machine.numa",
            );
        }
        if period == Some(0) {
            return fault(here(&["does", kind, "period_ms"]), "expected at least 1");
        }
    }
    Ok(())
}

/// What only work that writes, or that has a daemon, can have wrong.
fn written(
    experiment: &Experiment,
    work: &Work,
    here: &dyn Fn(&[&str]) -> Vec<super::source::Step>,
) -> Checked {
    let kind = kind(work);
    let scratch = matches!(
        work,
        Work::Churn { .. }
            | Work::Tree { .. }
            | Work::Compile { .. }
            | Work::CopyTree { .. }
            | Work::MakeDatabase(_)
            | Work::LookUp(_)
    );
    if scratch && experiment.machine.scratch_mb == 0 {
        let message = "it writes, and the machine has no disk for that: machine.scratch_mb";
        return fault(here(&["does", kind]), message);
    }
    match work {
        Work::Churn { size, .. }
        | Work::HugePages { size, .. }
        | Work::Pipes { size, .. }
        | Work::Tree { size, .. }
        | Work::Forks { size, .. }
            if size.resolve(1 << 30).bytes() == 0 =>
        {
            fault(here(&["does", kind, "size"]), "expected a size above 0")
        }
        Work::Tree { files: 0, .. } | Work::Compile { files: 0, .. } => {
            fault(here(&["does", kind, "files"]), "expected at least 1")
        }
        Work::Compile { jobs, .. } if !(1..=64).contains(jobs) => {
            fault(here(&["does", kind, "jobs"]), "expected 1 to 64")
        }
        Work::KillDaemon {
            least_ms, most_ms, ..
        } if least_ms > most_ms => fault(
            here(&["does", kind, "most_ms"]),
            "expected at least least_ms",
        ),
        Work::KillDaemon { .. } => {
            let without = { experiment.arms.iter() }.find(|arm| arm.daemon.is_none());
            match without {
                Some(arm) => {
                    let message = format!("arm {:?} has no daemon to kill", arm.name);
                    fault(here(&["does", kind]), message)
                }
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The name of a kind of work in a file.
fn kind(work: &Work) -> &'static str {
    match work {
        Work::Hog { .. } => "hog",
        Work::Stream { .. } => "stream",
        Work::Probe { .. } => "probe",
        Work::Touch { .. } => "touch",
        Work::ReadOnce { .. } => "read-once",
        Work::Pass { .. } => "pass",
        Work::Squeeze { .. } => "squeeze",
        Work::Age { .. } => "age",
        Work::Fixed { .. } => "fixed",
        Work::KnobLoop { .. } => "knob-loop",
        Work::Forks { .. } => "forks",
        Work::Names {} => "names",
        Work::Churn { .. } => "churn",
        Work::Tree { .. } => "tree",
        Work::Compile { .. } => "compile",
        Work::HugePages { .. } => "huge-pages",
        Work::Pipes { .. } => "pipes",
        Work::KillDaemon { .. } => "kill-daemon",
        Work::Ask { .. } => "ask",
        Work::AppCycle(_) => "app-cycle",
        Work::Access(_) => "access",
        Work::MakeDatabase(_) => "make-database",
        Work::LookUp(_) => "look-up",
        Work::CopyTree { .. } => "copy-tree",
    }
}

fn scenes(experiment: &Experiment) -> Checked {
    if experiment.scenes.is_empty() {
        return fault(at!["scenes"], "expected at least one scene");
    }
    for (i, scene) in experiment.scenes.iter().enumerate() {
        if scene.name.is_empty() {
            return fault(at!["scenes", i, "name"], "expected a name");
        }
        if experiment.scenes[..i]
            .iter()
            .any(|other| other.name == scene.name)
        {
            let message = format!("another scene is called {:?}", scene.name);
            return fault(at!["scenes", i, "name"], message);
        }
        if !(scene.seconds > 0.0 && scene.seconds <= 86_400.0) {
            return fault(
                at!["scenes", i, "seconds"],
                "expected seconds, above 0, a day at most",
            );
        }
        let here = at!["scenes", i, "kills"];
        if !(1..=100_000).contains(&scene.kills) {
            return fault(here, "expected 1 to 100000");
        }
        if scene.kills > 1 && scene.until != Some(Until::Killed) {
            return fault(here, "kills are counted with until = \"killed\"");
        }
        for (j, name) in scene.run.iter().enumerate() {
            if !experiment.workers.contains_key(name) {
                let names: Vec<&String> = experiment.workers.keys().collect();
                let message = format!("no worker is called {name:?}; {}", there_are(&names));
                return fault(at!["scenes", i, "run", j], message);
            }
        }
    }
    Ok(())
}

fn arms(experiment: &Experiment) -> Checked {
    let arms = &experiment.arms;
    let names: Vec<&String> = arms.iter().map(|arm| &arm.name).collect();
    if arms.is_empty() {
        return fault(at!["arms"], "expected at least one arm");
    }
    for (i, arm) in arms.iter().enumerate() {
        let here = |field: &str| match arm.sweep {
            Some(sweep) => at!["sweeps", sweep, field],
            None => at!["arms", i, field],
        };
        if !plain(&arm.name) {
            let message = "an arm's name is made of letters, digits, '-', '_' and '.'";
            return fault(here("name"), message);
        }
        if names[..i].contains(&&arm.name) {
            return fault(
                here("name"),
                format!("another arm is called {:?}", arm.name),
            );
        }
        if let Some(baseline) = arm.baseline.as_ref().filter(|name| !names.contains(name)) {
            let message = format!("no arm is called {baseline:?}; {}", there_are(&names));
            return fault(here("baseline"), message);
        }
        if arm.memory_mb.is_some_and(|mb| !(32..=65536).contains(&mb)) {
            return fault(at!["arms", i, "memory_mb"], "expected 32 to 65536");
        }
        if arm.zram_mb.is_some_and(|mb| mb > 65536) {
            return fault(at!["arms", i, "zram_mb"], "expected 0 to 65536");
        }
        for (name, value) in &arm.knobs {
            let at = match arm.sweep {
                Some(_) => here("knobs"),
                None => at!["arms", i, "knobs", name.as_str()],
            };
            let below = ["/proc/", "/sys/"];
            if name.starts_with('/') && !below.iter().any(|dir| name.starts_with(dir)) {
                return fault(at, "expected a sysctl or a path below /proc or /sys");
            }
            if name.is_empty() || name.contains("..") || name.contains(char::is_whitespace) {
                return fault(
                    at,
                    "expected a sysctl, \"vm.swappiness\", or an absolute path",
                );
            }
            let number = value.parse::<i64>();
            if name.ends_with("_ratio") && number.is_ok_and(|percent| !(0..=100).contains(&percent))
            {
                return fault(at, format!("expected a percentage, 0 to 100, not {value}"));
            }
        }
    }
    Ok(())
}

fn plan(experiment: &Experiment) -> Checked {
    let scenes: Vec<&String> = experiment.scenes.iter().map(|scene| &scene.name).collect();
    let arms: Vec<&String> = experiment.arms.iter().map(|arm| &arm.name).collect();
    let scene = |at: Vec<super::source::Step>, name: &String| {
        if scenes.contains(&name) {
            return Ok(());
        }
        fault(
            at,
            format!("no scene is called {name:?}; {}", there_are(&scenes)),
        )
    };
    for (i, figure) in experiment.plan.figures.iter().enumerate() {
        scene(at!["figures", i, "scene"], &figure.scene)?;
        metric(at!["figures", i, "metric"], &figure.metric)?;
    }
    for (i, chart) in experiment.plan.charts.iter().enumerate() {
        scene(at!["charts", i, "scene"], &chart.scene)?;
        metric(at!["charts", i, "metric"], &chart.metric)?;
    }
    for (i, curve) in experiment.plan.curves.iter().enumerate() {
        scene(at!["curves", i, "scene"], &curve.scene)?;
        metric(at!["curves", i, "metric"], &curve.metric)?;
        if experiment.arms.iter().all(|arm| arm.point.is_none()) {
            return fault(at!["curves", i], "no arm has a point to draw: [[sweeps]]");
        }
    }
    for (i, comparison) in experiment.plan.comparisons.iter().enumerate() {
        scene(at!["comparisons", i, "scene"], &comparison.scene)?;
        for (j, row) in comparison.rows.iter().enumerate() {
            metric(at!["comparisons", i, "rows", j, "metric"], &row.metric)?;
        }
        let from = (at!["comparisons", i, "from"], &comparison.from);
        let to = comparison.to.iter().enumerate();
        let to = to.map(|(j, name)| (at!["comparisons", i, "to", j], name));
        for (at, name) in std::iter::once(from).chain(to) {
            if !arms.contains(&name) {
                let message = format!("no arm is called {name:?}; {}", there_are(&arms));
                return fault(at, message);
            }
        }
        if comparison.to.is_empty() {
            return fault(at!["comparisons", i, "to"], "expected at least one arm");
        }
    }
    for (i, promise) in experiment.plan.promises.iter().enumerate() {
        of_series(experiment, i, promise)?;
        scene(at!["promises", i, "scene"], &promise.scene)?;
        metric(at!["promises", i, "metric"], &promise.metric)?;
        for (j, name) in promise.arms.iter().enumerate() {
            let Some(arm) = experiment.arms.iter().find(|arm| arm.name == *name) else {
                let message = format!("no arm is called {name:?}; {}", there_are(&arms));
                return fault(at!["promises", i, "arms", j], message);
            };
            if promise.relative_to == Relative::Baseline && arm.baseline.is_none() {
                let message = format!("arm {name:?} has no baseline to be compared with");
                return fault(at!["promises", i, "arms", j], message);
            }
        }
        if promise.arms.is_empty() && promise.series.is_empty() {
            return fault(
                at!["promises", i, "arms"],
                "expected at least one arm or series",
            );
        }
        if let Relative::Scene(name) = &promise.relative_to {
            scene(at!["promises", i, "relative_to", "scene"], name)?;
        }
        let bounded = promise.at_least.is_some() || promise.at_most.is_some();
        if !bounded && !promise.monotonic {
            return fault(at!["promises", i], "expected at_least or at_most");
        }
    }
    Ok(())
}

/// What a promise says of series.
fn of_series(experiment: &Experiment, i: usize, promise: &Promise) -> Checked {
    let points = experiment.arms.iter().filter_map(|arm| arm.point.as_ref());
    let mut known: Vec<&String> = points.map(|point| &point.series).collect();
    known.dedup();
    let exists = |at, name: &String| {
        if known.contains(&name) {
            return Ok(());
        }
        let message = format!("no series is called {name:?}; {}", there_are(&known));
        fault(at, message)
    };
    for (j, name) in promise.series.iter().enumerate() {
        exists(at!["promises", i, "series", j], name)?;
    }
    if let Relative::Series(name) = &promise.relative_to {
        let at = at!["promises", i, "relative_to", "series"];
        exists(at.clone(), name)?;
        if promise.monotonic {
            return fault(at, "a series rises by itself, not relative to another");
        }
    }
    if promise.monotonic && (promise.series.is_empty() || !promise.arms.is_empty()) {
        let message = "a series rises, an arm does not: name series, and no arms";
        return fault(at!["promises", i, "monotonic"], message);
    }
    if promise.judge == Judge::Interval && promise.width.is_none() && !promise.may_be_unsure {
        let message = "expected a width: an interval as wide as it likes holds every bound";
        return fault(at!["promises", i], message);
    }
    if promise.judge == Judge::Value && (promise.width.is_some() || promise.may_be_unsure) {
        let message = "width and may_be_unsure say something of judge = \"interval\" only";
        return fault(at!["promises", i], message);
    }
    Ok(())
}

/// `probe.resident`, `vmstat.pgscan_direct`, a sum of such, or a ratio of two sums.
fn metric(at: Vec<super::source::Step>, metric: &str) -> Checked {
    if raw::plan::parts(metric).is_some() {
        return Ok(());
    }
    fault(
        at,
        "expected a measure such as \"probe.read_ms\", a sum, \"vmstat.a+vmstat.b\", or a ratio of \
         two, \"vmstat.a/(vmstat.a+vmstat.b)\"",
    )
}

fn size_in_range(size: Size, at: Vec<super::source::Step>) -> Checked {
    match size {
        Size::Percent(percent) if !(0.0..=1000.0).contains(&percent) => fault(
            at,
            format!("expected a share of memory from 0% to 1000%, not {percent}%"),
        ),
        Size::Bytes(bytes) if bytes > 1 << 44 => fault(at, "expected at most 16 TiB"),
        _ => Ok(()),
    }
}

fn plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
}
