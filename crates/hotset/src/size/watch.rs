//! Watches the machine for a time, or while a command runs.
use super::tracefs::Tracefs;
use crate::shell;
use anyhow::{anyhow, Context, Result};
use kernfs::samples::Record;
use kernfs::{Options, Root, Sample, Sampler, Sources};
use lab::host::stop::Stop;
use names::shown;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use serde::Serialize;
use size::{event, Distances};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// What was watched. Sums over the time.
#[derive(Clone, Debug, Serialize)]
pub struct Watched {
    pub seconds: f64,
    /// Bytes.
    pub memory: u64,
    pub page_size: u64,
    /// The least MemAvailable that was seen, bytes.
    pub least_available: u64,
    /// Pages of files that came back, by the kernel's count; pages of programs that did, and that left.
    pub refaults: u64,
    pub refaults_anon: u64,
    pub swapped_out: u64,
    /// Seconds in which some task waited for memory; `None`: the kernel does not tell.
    pub waited_s: Option<f64>,
    /// Every so many pages of a file were followed.
    pub every: u64,
    /// Events that the kernel dropped.
    pub lost: u64,
}

/// Without a time and without a command.
const USUAL: Duration = Duration::from_secs(600);
/// From one look at the events to the next.
const PERIOD: Duration = Duration::from_millis(100);
/// Pages that are followed at most, of a memory full of files: one in so many. As many give a curve within a hundredth
/// (C. Waldspurger et al., Efficient MRC construction with SHARDS, FAST 2015).
const FOLLOWED: u64 = 1 << 13;

/// Counters of /proc/vmstat, under the names of several kernels: pages of files that came back, and pages of programs
/// that left and that came back.
const REFAULTS: &[&str] = &["workingset_refault_file", "workingset_refault"];
const OUT: &[&str] = &["pgsteal_anon", "pswpout"];
const BACK: &[&str] = &["workingset_refault_anon", "pswpin"];

/// Watches until the time is over, the command ends, or a signal comes.
///
/// # Errors
/// There is nothing to watch, or the command cannot be started.
pub fn run(time: Option<Duration>, command: &[String]) -> Result<(Watched, Distances)> {
    let stop = Stop::on_signals()?;
    let mut machine = Machine::new()?;
    let begin = machine.look();
    let pages = machine.memory(&begin) / machine.page_size;
    let mut distances = Distances::new(pages.div_ceil(FOLLOWED).next_power_of_two());
    let mut events = Tracefs::start(distances.every())?;
    let mut child = start(command)?;
    let time = time.unwrap_or(match child {
        Some(_) => Duration::MAX,
        None => USUAL,
    });
    if child.is_none() {
        shell::note(format!("watching for {} s; Ctrl-C ends it", time.as_secs()));
    }
    let from = Instant::now();
    let (mut last, mut lost, mut least) = (begin.clone(), 0, u64::MAX);
    loop {
        let look = Instant::now();
        let at_s = from.elapsed().as_secs_f64();
        lost += events.read(|line| {
            if let Some(event) = event::parse(line, machine.page_size) {
                distances.event(at_s, &event);
            }
        })?;
        let ended = match child.as_mut().map(Child::try_wait).transpose()? {
            Some(ended) => ended.is_some(),
            None => false,
        };
        let over = ended || from.elapsed() >= time || stop.asked();
        if over || at_s - (last.t - begin.t) >= 1.0 {
            let now = machine.look();
            let since = |names: &[&str]| grown(&begin, &now, names);
            distances.counters(at_s, since(REFAULTS), since(OUT), since(BACK));
            least = least.min(field(&now, "MemAvailable") << 10);
            last = now;
        }
        if over {
            break;
        }
        // A look that took as long had more to read than it could.
        if look.elapsed() < PERIOD {
            wait(&stop)?;
        }
    }
    if let Some(child) = &mut child {
        let status = child.wait()?;
        if !status.success() {
            shell::note(format!("the command ended with {status}"));
        }
    }
    let psi = |record: &Record| Some(record.psi.get("memory")?.some?.total);
    Ok((
        Watched {
            seconds: last.t - begin.t,
            memory: machine.memory(&last),
            page_size: machine.page_size,
            least_available: least,
            refaults: grown(&begin, &last, REFAULTS),
            refaults_anon: grown(&begin, &last, BACK),
            swapped_out: grown(&begin, &last, OUT),
            waited_s: psi(&last)
                .zip(psi(&begin))
                .map(|(now, then)| now.saturating_sub(then) as f64 / 1e6),
            every: distances.every(),
            lost,
        },
        distances,
    ))
}

fn start(command: &[String]) -> Result<Option<Child>> {
    let Some((program, rest)) = command.split_first() else {
        return Ok(None);
    };
    let child = Command::new(program).args(rest).spawn();
    let child = child.with_context(|| format!("starting {}", shown(Path::new(program))))?;
    Ok(Some(child))
}

/// By how much the first of these counters that the kernel has grew.
fn grown(before: &Record, after: &Record, names: &[&str]) -> u64 {
    let value = |record: &Record, name: &str| record.vmstat.get(name).copied();
    let found = names.iter().find_map(|name| {
        let (now, then) = (value(after, name)?, value(before, name)?);
        Some(now.saturating_sub(then))
    });
    found.unwrap_or(0)
}

fn field(record: &Record, name: &str) -> u64 {
    record.meminfo.get(name).copied().unwrap_or(0)
}

fn wait(stop: &Stop) -> Result<()> {
    let timeout = Timespec::try_from(PERIOD)?;
    match poll(&mut [PollFd::new(stop, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error).context("waiting"),
    }
}

struct Machine {
    sampler: Sampler,
    sample: Sample,
    page_size: u64,
}

impl Machine {
    fn new() -> Result<Machine> {
        let options = Options {
            sources: Sources::VMSTAT | Sources::MEMINFO | Sources::PSI_MEMORY,
            ..Options::default()
        };
        let mut sampler = Sampler::new(Root::new(Path::new("/")), options);
        let mut sample = Sample::default();
        sampler.sample(&mut sample);
        if !sample.fresh.contains(Sources::VMSTAT | Sources::MEMINFO) {
            return Err(anyhow!("/proc/vmstat or /proc/meminfo cannot be read"));
        }
        let page_size = sampler.machine().page_size.max(1024);
        Ok(Machine {
            sampler,
            sample,
            page_size,
        })
    }

    fn look(&mut self) -> Record {
        self.sampler.sample(&mut self.sample);
        Record::of(&self.sample)
    }

    fn memory(&self, record: &Record) -> u64 {
        field(record, "MemTotal") << 10
    }
}
