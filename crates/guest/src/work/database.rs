//! A worker that is a separate program with a real database: see [`protocol::work::database`].
use anyhow::{Context, Result};
use protocol::spec::Worker;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::boot::cgroups::cgroup_of_worker;
use crate::channel::Channel;
use crate::paths::SCRATCH;

/// The program, which the lab adds to guests that have such a worker.
const PROGRAM: &str = "/hotset/database";

/// Becomes the database program, in the worker's cgroup and with the line to the lab as its
/// standard output. It stays one process, so that it is ended as any worker is.
pub fn exec(name: &str, worker: &Worker, seed: u64, channel: &Channel) -> Result<()> {
    let orders = serde_json::to_string(&worker.does)?;
    let error = Command::new(PROGRAM)
        .args([name, &seed.to_string(), SCRATCH, &orders])
        .arg(cgroup_of_worker(name, worker))
        .stdout(channel.line()?)
        .exec();
    Err(error).with_context(|| format!("starting {PROGRAM}"))
}
