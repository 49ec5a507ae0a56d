//! A worker that is a program of its own, with a real database in it: see [`raw::database`].
use anyhow::{Context, Result};
use raw::spec::Worker;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::channel::Channel;
use crate::setup;

/// Where the lab puts it, in guests that have such a worker.
const PROGRAM: &str = "/hotset/database";

/// Becomes that program, in the worker's cgroup and with the line to the lab as its standard output.
/// One process, so that it is ended as any worker is.
pub fn become_it(name: &str, worker: &Worker, seed: u64, channel: &Channel) -> Result<()> {
    let orders = serde_json::to_string(&worker.does)?;
    let error = Command::new(PROGRAM)
        .args([name, &seed.to_string(), setup::SCRATCH, &orders])
        .arg(setup::cgroup_of_worker(name, worker))
        .stdout(channel.line()?)
        .exec();
    Err(error).with_context(|| format!("starting {PROGRAM}"))
}
