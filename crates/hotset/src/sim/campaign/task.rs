//! `hotset sim campaign task`
use crate::shell::{note, usage};
use anyhow::{Context, Result};
use campaign::plan::Limits;
use campaign::task::{self, Ask, Done};
use campaign::Folder;
use clap::Args;
use names::{io_error, shown};
use progress::{Delayed, Unit};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct TaskArgs {
    /// The campaign's folder
    folder: PathBuf,
    /// Numbers of tasks, from 0
    #[arg(value_name = "N", required_unless_present = "list")]
    tasks: Vec<usize>,
    /// Take the numbers from a line of this file, as arrays of engines do
    #[arg(long, value_name = "FILE", requires = "line", conflicts_with = "tasks")]
    list: Option<PathBuf>,
    /// The line, from 0
    #[arg(long, value_name = "N", requires = "list")]
    line: Option<usize>,
    /// Which attempt at the tasks it is, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    attempt: u32,
    /// End a task that takes more memory
    #[arg(long, value_name = "BYTES", value_parser = units::parse_bytes, requires = "seconds")]
    memory: Option<u64>,
    /// End a task that takes more seconds of a processor
    #[arg(long, value_name = "SECONDS", requires = "memory")]
    seconds: Option<u64>,
}

pub fn run(args: &TaskArgs) -> Result<ExitCode> {
    let folder = Folder::open(&args.folder)?;
    let limits = args.memory.zip(args.seconds);
    let ask = Ask {
        attempt: args.attempt,
        limits: limits.map(|(memory, seconds)| Limits { memory, seconds }),
    };
    let tasks = match (&args.list, args.line) {
        (Some(list), Some(line)) => numbers(list, line)?,
        _ => args.tasks.clone(),
    };
    let late = Delayed::new("Simulating", Some(tasks.len() as u64), Unit::Steps);
    // One task that fails does not keep the others from their results.
    let mut failed = None;
    for (done, task) in tasks.into_iter().enumerate() {
        match task::run(&folder, task, &ask) {
            Ok(Done::Now) => {}
            Ok(Done::Before) => note(format!("task {task} is done already")),
            Err(error) => failed = failed.or(Some(error.context(format!("task {task}")))),
        }
        late.advance(done as u64 + 1);
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn numbers(list: &Path, line: usize) -> Result<Vec<usize>> {
    let name = shown(list);
    let text = std::fs::read_to_string(list);
    let text =
        text.map_err(|error| anyhow::anyhow!("{name}: cannot read: {}", io_error(&error)))?;
    let found = text.lines().nth(line);
    let found = found.ok_or_else(|| usage!("--line: {name} has no line {line}"))?;
    let numbers = found.split_whitespace().map(str::parse);
    numbers
        .collect::<Result<_, _>>()
        .with_context(|| format!("{name}: line {line} is no list of tasks: {found}"))
}
