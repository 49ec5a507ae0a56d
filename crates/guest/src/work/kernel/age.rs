//! A worker that makes new generations of pages.
use anyhow::{Context, Result};

use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, write};
use crate::observe::generations::{self, FILE};

/// Makes new generations of the first cgroup, `times` times, and observes the resulting number of
/// generations.
pub fn age(worker: &str, times: u32, channel: &Channel) -> Result<()> {
    let first = || {
        let first = generations::parse(&read(FILE)?).into_iter().next();
        first.with_context(|| format!("{FILE} shows no generations"))
    };
    for _ in 0..times {
        let it = first()?;
        let youngest = it
            .numbers
            .last()
            .context("the first cgroup has no generations")?;
        write(FILE, &format!("+ {} {} {youngest}", it.memcg, it.node))?;
    }
    let generations = first()?.numbers.len() as f64;
    channel.observe(format!("{worker}.generations"), now_ms(), generations);
    Ok(())
}
