//! One process of one worker.
mod access;
mod apps;
mod ask;
mod asked_of_all;
mod compile;
mod copy;
mod database;
mod huge;
mod kill;
mod memory;
mod outside;
mod pipes;
mod read;
mod write;

use anyhow::{Context, Result};
use raw::spec::Task;
use raw::spec::{Work, Worker};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::channel::Channel;
use crate::{nodes, setup};

pub use memory::Random;

/// Set by SIGTERM: finish the measurement under way, then exit.
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether this process was told to end.
pub fn stopping() -> bool {
    STOP.load(Ordering::Relaxed)
}

extern "C" fn on_term(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// `/init work NAME`, or `/init work NAME UNIT` for a process that a worker starts: never returns.
pub fn main(name: &str, unit: Option<&str>) -> ! {
    let code = match run(name, unit) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("hotset-guest: worker {name}: {error:#}");
            if let Ok(channel) = Channel::open() {
                channel.event("worker-error", format!("{name}: {error:#}"));
            }
            1
        }
    };
    std::process::exit(code)
}

fn run(name: &str, unit: Option<&str>) -> Result<()> {
    let spec = crate::read_spec()?;
    let Task::Play { workload } = &spec.task else {
        anyhow::bail!("no workload to play")
    };
    let worker = workload
        .workers
        .get(name)
        .context("the spec has no such worker")?;
    // Drawn before there is a cgroup to charge it to.
    let drawn = match &worker.does {
        Work::Access(access) => Some(access::Sequence::draw(access, spec.seed)?),
        _ => None,
    };
    enter(name, worker)?;
    let channel = Channel::open()?;
    let seed = spec.seed ^ u64::from(std::process::id());
    match &worker.does {
        Work::Hog {
            size,
            rate,
            fill,
            from_outside,
        } => match from_outside {
            false => memory::hog(size.bytes(), rate.bytes(), *fill, seed),
            true => outside::hog(name, size.bytes(), rate.bytes(), *fill, &channel),
        },
        Work::Touch {
            size,
            period_ms,
            fill,
            random,
        } => {
            let set = memory::Set {
                size: size.bytes(),
                fill: *fill,
                random: *random,
            };
            memory::touch(name, &set, *period_ms, seed, &channel)
        }
        Work::Forks { size, period_ms } => memory::forks(size.bytes(), *period_ms),
        Work::Stream { file } => read::stream(file),
        Work::Probe { file, period_ms } => read::probe(name, file, *period_ms, &channel),
        Work::ReadOnce { file } => read::once(name, file, &channel),
        Work::Squeeze { file, times } => read::squeeze(name, file, *times, spec.seed, &channel),
        Work::Age { times } => crate::generations::age(name, *times, &channel),
        Work::Pass {
            file,
            times,
            rest_ms,
        } => read::pass(name, file, (*times, *rest_ms), spec.seed, &channel),
        Work::Fixed {
            file,
            size,
            rounds,
            settle,
            read,
            fill,
        } => {
            let sequence = memory::Sequence {
                file,
                size: size.bytes(),
                rounds: *rounds,
                settle: *settle,
                read: read.bytes(),
                fill: *fill,
            };
            memory::fixed(name, &sequence, spec.seed, &channel)
        }
        Work::KnobLoop {
            writes,
            count,
            period_ms,
        } => ask::knobs(name, writes, *count, *period_ms, &channel),
        Work::Churn {
            size,
            keep,
            rest_ms,
        } => write::churn(name, size.bytes(), *keep, *rest_ms, seed, &channel),
        Work::Tree { files, size } => write::tree(name, *files, size.bytes(), spec.seed, &channel),
        Work::Compile {
            files,
            units,
            jobs,
            headers,
            memory,
            object,
            rounds,
        } => {
            let job = compile::Job {
                files: *files,
                units: *units,
                jobs: *jobs,
                headers: *headers,
                memory: memory.bytes(),
                object: object.bytes(),
                rounds: *rounds,
                seed: spec.seed,
            };
            match unit {
                None => compile::all(name, &job, &channel),
                Some(unit) => compile::unit(name, &job, unit.parse()?, &channel),
            }
        }
        Work::HugePages { size, period_ms } => {
            huge::faults(name, size.bytes(), *period_ms, &channel)
        }
        Work::Pipes { size, period_ms } => pipes::hold(name, size.bytes(), *period_ms, &channel),
        Work::KillDaemon {
            times,
            least_ms,
            most_ms,
            stopped_ms,
            knobs,
        } => {
            let daemon = spec.daemon.as_ref().context("there is no daemon to kill")?;
            let plan = kill::Plan {
                times: *times,
                wait_ms: (*least_ms, *most_ms),
                stopped_ms: *stopped_ms,
                knobs,
                seed: spec.seed,
            };
            kill::daemon(name, &daemon.command, &plan, &channel)
        }
        Work::Access(access) => {
            let drawn = drawn.context("nothing was drawn")?;
            access::run(name, access, drawn, spec.seed, &channel)
        }
        Work::MakeDatabase(_) | Work::LookUp(_) => {
            database::become_it(name, worker, spec.seed, &channel)
        }
        Work::CopyTree { rest_ms } => copy::tree(name, *rest_ms, &channel),
        Work::AppCycle(cycle) => match unit {
            None => apps::cycle(name, cycle, spec.seed, &channel),
            Some(unit) => apps::unit(unit, cycle, spec.seed),
        },
        Work::Names {} => ask::names(name, &channel),
        Work::Ask {
            file,
            by,
            amount,
            period_ms,
        } => ask::reclaim(name, file, *by, amount.bytes(), *period_ms, &channel),
    }
}

/// Becomes a process like any other: its own name, cgroup, and place in the OOM killer's order
/// (PID 1's exemption is inherited).
fn enter(name: &str, worker: &Worker) -> Result<()> {
    let cgroup = setup::cgroup_of_worker(name, worker);
    setup::write(&format!("{cgroup}/cgroup.procs"), "0")?;
    setup::write(
        "/proc/self/oom_score_adj",
        &worker.oom_score_adj.to_string(),
    )?;
    setup::write("/proc/self/comm", name)?;
    if let Some(node) = worker.node {
        nodes::bind(node)?;
    }
    if measures(&worker.does) {
        let handler = on_term as extern "C" fn(libc::c_int);
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        unsafe { libc::signal(libc::SIGTERM, handler as libc::sighandler_t) };
    }
    Ok(())
}

/// Does the work end at SIGTERM with a last measurement? Any other is ended by it as most programs
/// are.
pub fn measures(work: &Work) -> bool {
    matches!(
        work,
        Work::Probe { .. }
            | Work::Touch { .. }
            | Work::KnobLoop { .. }
            | Work::Ask { .. }
            | Work::Compile { .. }
            | Work::HugePages { .. }
            | Work::KillDaemon { .. }
            | Work::CopyTree { .. }
            | Work::AppCycle(_)
    )
}

/// A file that is there once a worker's process has settled.
pub fn settled_path(worker: &str, process: u32) -> String {
    format!("/tmp/settled-{worker}-{process}")
}

/// Path of an experiment's file.
pub fn data_path(name: &str) -> String {
    format!("{}/{name}", setup::DATA)
}
