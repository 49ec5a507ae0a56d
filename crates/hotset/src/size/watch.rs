//! Watches the machine, or a cgroup, for a time or while a command runs.
use super::group::Group;
use super::look::Look;
use super::machine::Machine;
use super::place::Place;
use super::tracefs::Tracefs;
use crate::shell;
use anyhow::{Context, Result};
use lab::host::stop::Stop;
use names::shown;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use serde::Serialize;
use size::{event, Distances, Sample};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// What was watched. Sums over the time.
#[derive(Clone, Debug, Serialize)]
pub struct Watched {
    /// The cgroup; `None`: the machine.
    pub cgroup: Option<String>,
    pub seconds: f64,
    /// Bytes: of a cgroup, its limit; without one, what it has.
    pub memory: u64,
    pub page_size: u64,
    /// The least MemAvailable that was seen, bytes; of a cgroup, what is left beside its programs.
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
    /// Pages came for so many threads that ended before it was known whether they were the cgroup's.
    pub ended: u64,
}

/// Without a time and without a command.
const USUAL: Duration = Duration::from_secs(600);
/// From one look at the events to the next.
const PERIOD: Duration = Duration::from_millis(100);
/// Pages that are followed at most, of a memory full of files: one in so many, as by C. Waldspurger et al., Efficient MRC
/// construction with SHARDS, FAST 2015. Four times as many err by 5.6% in the median in place of 6.6%, at four times the cost.
const FOLLOWED: u64 = 1 << 11;

/// The pages that are followed on a machine with so many.
pub(super) fn sample(pages: u64) -> Sample {
    Sample::new(pages.div_ceil(FOLLOWED))
}

/// Watches until the time is over, the command ends, or a signal comes.
///
/// # Errors
/// There is nothing to watch, or the command cannot be started.
pub fn run(
    time: Option<Duration>,
    command: &[String],
    cgroup: Option<&Path>,
) -> Result<(Watched, Distances)> {
    let stop = Stop::on_signals()?;
    let machine = Machine::new()?;
    let page_size = machine.page_size;
    let mut place = match cgroup {
        Some(name) => Place::Group(Group::open(name, page_size)?),
        None => Place::Machine(Box::new(machine)),
    };
    let begin = place.look().context("the cgroup is gone")?;
    let sample = sample(begin.memory / page_size);
    let mut distances = Distances::new(sample);
    let mut events = Tracefs::start(sample)?;
    let mut child = start(command)?;
    let time = time.unwrap_or(match child {
        Some(_) => Duration::MAX,
        None => USUAL,
    });
    if child.is_none() {
        shell::note(format!("watching for {} s; Ctrl-C ends it", time.as_secs()));
    }
    let from = Instant::now();
    let (mut last, mut last_s, mut lost, mut least) = (begin, 0.0, 0, u64::MAX);
    loop {
        let look = Instant::now();
        let at_s = from.elapsed().as_secs_f64();
        lost += events.read(|line| take(&mut distances, &mut place, page_size, at_s, line))?;
        let ended = match child.as_mut().map(Child::try_wait).transpose()? {
            Some(ended) => ended.is_some(),
            None => false,
        };
        let mut over = ended || from.elapsed() >= time || stop.asked();
        if over || at_s - last_s >= 1.0 {
            match place.look() {
                Some(look) => (last, last_s) = (look, at_s),
                None => {
                    shell::note("the cgroup is gone: it was watched until then");
                    over = true;
                }
            }
            let since = |of: fn(&Look) -> u64| of(&last).saturating_sub(of(&begin));
            let (out, back) = (since(|look| look.out), since(|look| look.refaults_anon));
            distances.counters(last_s, since(|look| look.refaults), out, back);
            least = least.min(last.available);
            if lost + place.ended() > 0 {
                distances.has_gaps();
            }
        }
        if over {
            break;
        }
        // A look that took as long had more to read than it could.
        if look.elapsed() < PERIOD {
            wait(&stop)?;
        }
    }
    child.map_or(Ok(()), end)?;
    let waited = last.waited_us.zip(begin.waited_us);
    let watched = Watched {
        cgroup: cgroup.map(|name| name.display().to_string()),
        seconds: last_s,
        memory: last.memory,
        page_size,
        least_available: least,
        refaults: last.refaults.saturating_sub(begin.refaults),
        refaults_anon: last.refaults_anon.saturating_sub(begin.refaults_anon),
        swapped_out: last.out.saturating_sub(begin.out),
        waited_s: waited.map(|(now, then)| now.saturating_sub(then) as f64 / 1e6),
        every: distances.every(),
        lost,
        ended: place.ended(),
    };
    Ok((watched, distances))
}

/// Waits for the command.
fn end(mut child: Child) -> Result<()> {
    if child.try_wait()?.is_none() {
        shell::note("watched for so long; the answer comes when the command ends");
    }
    let status = child.wait()?;
    if !status.success() {
        shell::note(format!("the command ended with {status}"));
    }
    Ok(())
}

/// Takes a line of the kernel's events.
fn take(distances: &mut Distances, place: &mut Place, page_size: u64, at_s: f64, line: &str) {
    let Some(found) = event::parse(line, page_size) else {
        return;
    };
    match place {
        Place::Machine(_) => distances.event(at_s, &found),
        Place::Group(group) => {
            distances.event_of_group(at_s, &found, || group.has(event::thread(line)));
        }
    }
}

fn start(command: &[String]) -> Result<Option<Child>> {
    let Some((program, rest)) = command.split_first() else {
        return Ok(None);
    };
    let child = Command::new(program).args(rest).spawn();
    let child = child.with_context(|| format!("starting {}", shown(Path::new(program))))?;
    Ok(Some(child))
}

fn wait(stop: &Stop) -> Result<()> {
    let timeout = Timespec::try_from(PERIOD)?;
    match poll(&mut [PollFd::new(stop, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error).context("waiting"),
    }
}
