//! The workers' cgroups, and the throttle of their disks.
use anyhow::{Context, Result};
use protocol::spec::{Disk, GuestSpec, Worker, Workload};
use std::path::Path;

use crate::kernel_files::{read, write};

/// Parent of all workers' cgroups. The disks' throttle is set here.
pub const CGROUP: &str = "/sys/fs/cgroup/work";

/// Makes the cgroups of all workers, under the disks' throttle. Most workers share one cgroup and its
/// LRU lists, as the programs of a desktop session do. A worker with a limit has its own.
///
/// # Errors
/// When the kernel refuses, naming the file.
pub fn create(spec: &GuestSpec, workload: &Workload) -> Result<()> {
    // With cgroup_disable=memory there is no memory controller. A worker with a limit then fails
    // below.
    let there = read("/sys/fs/cgroup/cgroup.controllers")?;
    let wanted = if there.split_whitespace().any(|word| word == "memory") {
        "+memory +io"
    } else {
        "+io"
    };
    write("/sys/fs/cgroup/cgroup.subtree_control", wanted)?;
    std::fs::create_dir(CGROUP).with_context(|| format!("creating {CGROUP}"))?;
    write(&format!("{CGROUP}/cgroup.subtree_control"), wanted)?;
    let disk = &spec.disk;
    if !disk.device.is_empty() {
        throttle(&disk.device, disk, 0)?;
    }
    if let Some(scratch) = &spec.scratch {
        throttle(&scratch.device, disk, scratch.write_bps)?;
    }
    if let Some(root) = &spec.root {
        throttle(&root.device, disk, root.write_bps)?;
    }
    std::fs::create_dir(cgroup_of("", false)).context("creating the workers' cgroup")?;
    for (name, worker) in &workload.workers {
        let limit = worker.memory_max.bytes();
        let path = cgroup_of_worker(name, worker);
        // The limit is that of the cgroup above.
        let limited = worker
            .does
            .program()
            .map(|_| path.rsplit_once('/').map_or("", |(up, _)| up));
        // The first of the workers that share a cgroup has made it.
        if path != cgroup_of("", false) && !Path::new(&path).exists() {
            std::fs::create_dir_all(&path).with_context(|| format!("creating {path}"))?;
        }
        if limit > 0 {
            let limited = limited.unwrap_or(&path);
            write(&format!("{limited}/memory.max"), &limit.to_string())?;
        }
    }
    Ok(())
}

/// Limits the speed of one device for all workers.
fn throttle(device: &str, disk: &Disk, write_bps: u64) -> Result<()> {
    if disk.read_bps == 0 && disk.read_iops == 0 && write_bps == 0 {
        return Ok(());
    }
    let name = device.trim_start_matches("/dev/");
    let number = read(&format!("/sys/block/{name}/dev"))?;
    let or_max = |n: u64| match n {
        0 => "max".to_string(),
        n => n.to_string(),
    };
    let (read, write_bps) = (or_max(disk.read_bps), or_max(write_bps));
    let iops = or_max(disk.read_iops);
    let limit = format!(
        "{} rbps={read} riops={iops} wbps={write_bps}",
        number.trim()
    );
    write(&format!("{CGROUP}/io.max"), &limit)
}

/// Whether the worker has another cgroup than most workers: it has a limit, shares a named cgroup, or
/// leaves processes that only a cgroup can end.
fn has_own_cgroup(worker: &Worker) -> bool {
    worker.own_cgroup
        || worker.cgroup.is_some()
        || worker.memory_max.bytes() > 0
        || worker.does.leaves_processes()
}

/// The cgroup that the processes of `worker` join.
pub fn cgroup_of_worker(name: &str, worker: &Worker) -> String {
    let limited = match &worker.cgroup {
        Some(shared) => format!("{CGROUP}/shared-{shared}"),
        None => cgroup_of(name, has_own_cgroup(worker)),
    };
    // A program has children that only a cgroup can end. One below, without controllers, has the memory
    // and the LRU lists of the one above.
    match worker.does.program() {
        Some(_) => format!("{limited}/{name}"),
        None => limited,
    }
}

/// The cgroup of a worker by name: its own when `limited`, else that of most workers.
pub fn cgroup_of(worker: &str, limited: bool) -> String {
    if limited {
        format!("{CGROUP}/limited-{worker}")
    } else {
        format!("{CGROUP}/all")
    }
}
