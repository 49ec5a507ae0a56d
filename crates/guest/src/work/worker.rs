//! One process of one worker.
use anyhow::{bail, Context, Result};
use protocol::spec::{Task, Worker};
use protocol::work::Work;

use super::access::{self, Sequence};
use super::files::{compile, copy, names, read, write};
use super::kernel::{age, knobs, reclaim};
use super::memory::{anon, beat, huge, outside, pipes};
use super::stop::catch_sigterm;
use super::{apps, database, kill, program};
use crate::boot::cgroups::cgroup_of_worker;
use crate::channel::Channel;
use crate::kernel_files;
use crate::observe::nodes;
use crate::spec::read_spec;

/// Runs `/init work NAME`, or `/init work NAME UNIT` for a process that a worker starts. Never
/// returns.
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
    let spec = read_spec()?;
    let Task::Scenes { workload } = &spec.task else {
        bail!("the spec has no workload: its task is not to run scenes")
    };
    let worker = { workload.workers.get(name) }.context("the spec has no such worker")?;
    // Drawn before the process joins its cgroup, so that the cgroup is not charged for the sequence.
    let sequence = match &worker.does {
        Work::Access(access) => Some(Sequence::draw(access, spec.seed)?),
        _ => None,
    };
    enter(name, worker)?;
    if let Work::Program(orders) = &worker.does {
        return program::exec(orders);
    }
    let channel = &Channel::open()?;
    // `seed` is the same in all arms; `own` differs by process.
    let (seed, own) = (spec.seed, spec.seed ^ u64::from(std::process::id()));
    match &worker.does {
        Work::Hog(hog) if hog.from_outside => outside::hog(name, hog, channel),
        Work::Hog(hog) => anon::hog(hog, own),
        Work::Touch(touch) => anon::touch(name, touch, own, channel),
        Work::Beat(beat) => beat::beat(name, beat, own, channel),
        Work::Forks { size, period_ms } => anon::forks(size.bytes(), *period_ms),
        Work::HugePages { size, period_ms } => {
            huge::faults(name, size.bytes(), *period_ms, channel)
        }
        Work::Pipes { size, period_ms } => pipes::hold(name, size.bytes(), *period_ms, channel),
        Work::Fixed(fixed) => anon::fixed(name, fixed, seed, channel),
        Work::Access(access) => {
            let sequence = sequence.context("no sequence was drawn")?;
            access::run(name, access, sequence, seed, channel)
        }
        Work::Stream { file } => read::stream(file),
        Work::Probe { file, period_ms } => read::probe(name, file, *period_ms, channel),
        Work::ReadOnce { file } => read::once(name, file, channel),
        Work::Pass(pass) => read::pass(name, pass, seed, channel),
        Work::Squeeze { file, times } => read::squeeze(name, file, *times, seed, channel),
        Work::Churn(churn) => write::churn(name, churn, own, channel),
        Work::Tree { files, size } => write::tree(name, *files, size.bytes(), seed, channel),
        Work::CopyTree { rest_ms } => copy::tree(name, *rest_ms, channel),
        Work::Names {} => names::names(name, channel),
        Work::Compile(job) => match unit {
            None => compile::all(name, job, channel),
            Some(unit) => compile::unit(name, job, unit.parse()?, seed, channel),
        },
        Work::MakeDatabase(_) | Work::LookUp(_) => database::exec(name, worker, seed, channel),
        Work::AppCycle(cycle) => match unit {
            None => apps::cycle(name, cycle, seed, channel),
            Some(unit) => apps::unit(unit, cycle, seed),
        },
        Work::Age { times } => age::age(name, *times, channel),
        Work::KnobLoop(orders) => knobs::knobs(name, orders, channel),
        Work::Ask(ask) => reclaim::ask(name, ask, channel),
        Work::Program(orders) => program::exec(orders),
        Work::KillDaemon(orders) => {
            let daemon = spec.daemon.as_ref().context("there is no daemon to kill")?;
            kill::daemon(name, &daemon.command, orders, seed, channel)
        }
    }
}

/// Gives the process its own name, cgroup and `oom_score_adj`. Without the last it would inherit PID 1's
/// exemption from the OOM killer.
fn enter(name: &str, worker: &Worker) -> Result<()> {
    let cgroup = cgroup_of_worker(name, worker);
    kernel_files::write(&format!("{cgroup}/cgroup.procs"), "0")?;
    let adj = worker.oom_score_adj.to_string();
    kernel_files::write("/proc/self/oom_score_adj", &adj)?;
    kernel_files::write("/proc/self/comm", name)?;
    if let Some(node) = worker.node {
        nodes::bind(node)?;
    }
    if worker.does.finishes_on_sigterm() {
        catch_sigterm();
    }
    Ok(())
}
