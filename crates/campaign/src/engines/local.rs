//! Tasks in processes of this machine, one for each processor, while memory lasts.
use super::batch::{Batch, Engine};
use crate::folder::Folder;
use anyhow::{anyhow, Context, Result};
use cluster::command::bound;
use rustix::process::Signal;
use std::collections::VecDeque;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// This machine.
pub struct Local {
    /// The program that runs a task.
    pub program: PathBuf,
    /// Tasks at once.
    pub jobs: usize,
}

/// Tasks of one process that wait, with their batch.
struct Waiting<'a> {
    tasks: &'a [usize],
    batch: &'a Batch,
    memory: u64,
    milliseconds: u64,
}

/// A process with tasks. It ends with this value, and with the thread that started it.
struct Running {
    child: Child,
    memory: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both do nothing where it has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How often processes are looked at.
const PERIOD: Duration = Duration::from_millis(10);

impl Engine for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn bundle(&self, all: f64) -> f64 {
        // Each process reads the plan.
        (all / 256.0).clamp(0.1, 2.0)
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        _bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let mut waiting = queue(folder, batches);
        let room = available_memory();
        let mut running: Vec<Running> = Vec::new();
        let mut looked = std::time::Instant::now();
        while !waiting.is_empty() || !running.is_empty() {
            let taken: u64 = running.iter().map(|one| one.memory).sum();
            let next = waiting.front().filter(|next| {
                running.len() < self.jobs && (running.is_empty() || taken + next.memory <= room)
            });
            if let Some(next) = next {
                running.push(self.start(folder, next)?);
                waiting.pop_front();
                continue;
            }
            std::thread::sleep(PERIOD);
            let mut failed = None;
            running.retain_mut(|one| match one.child.try_wait() {
                Ok(ended) => ended.is_none(),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            });
            if let Some(error) = failed {
                return Err(anyhow!("a task cannot be waited for: {error}"));
            }
            if looked.elapsed() > Duration::from_millis(500) {
                looked = std::time::Instant::now();
                watch()?;
            }
        }
        Ok(())
    }
}

impl Local {
    fn start(&self, folder: &Folder, next: &Waiting) -> Result<Running> {
        let log = folder.engine().join(format!("{}.log", next.batch.name));
        let log = File::options().create(true).append(true).open(log)?;
        let limits = next.batch.limits;
        let mut command = Command::new(&self.program);
        command
            .args(["sim", "campaign", "task", "--quiet"])
            .args(["--attempt", &next.batch.attempt.to_string()])
            .args(["--memory", &limits.memory.to_string()])
            .args(["--seconds", &limits.seconds.to_string()])
            .arg(folder.path())
            .args(next.tasks.iter().map(usize::to_string))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let started = bound(&mut command, Signal::KILL).spawn();
        let child = started
            .with_context(|| format!("{} cannot be started", names::shown(&self.program)))?;
        Ok(Running {
            child,
            memory: next.memory,
        })
    }
}

/// All elements, those that take longest first: the last ones to end are short.
fn queue<'a>(folder: &Folder, batches: &'a [Batch]) -> VecDeque<Waiting<'a>> {
    let of = |task: &usize| &folder.plan.tasks[*task];
    let mut all: Vec<Waiting> = Vec::new();
    for batch in batches {
        all.extend(batch.elements.iter().map(|tasks| {
            let predicted = tasks.iter().map(|task| of(task).memory).max();
            Waiting {
                tasks,
                batch,
                memory: match batch.attempt {
                    1 => predicted.unwrap_or(0),
                    _ => batch.limits.memory,
                },
                milliseconds: tasks.iter().map(|task| of(task).milliseconds).sum(),
            }
        }));
    }
    all.sort_by_key(|waiting| std::cmp::Reverse(waiting.milliseconds));
    all.into()
}

/// Bytes of memory that programs can get now. Without /proc, as much as is asked for.
fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    // A tenth is left to others.
    kibibytes.map_or(u64::MAX, |kibibytes| kibibytes / 10 * 9 * 1024)
}
