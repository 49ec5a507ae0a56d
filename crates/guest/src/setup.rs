//! Makes a bare kernel into the machine that the spec asks for.
use anyhow::{bail, Context, Result};
use raw::spec::{Disk, GuestSpec, Scratch, Work, Worker, Workload};
use raw::wire::Line;
use rustix::mount::{mount, MountFlags};
use std::collections::BTreeMap;
use std::path::Path;

use crate::channel::now_ms;

/// Where the files of the experiment are.
pub const DATA: &str = "/data";
/// Where workers may write.
pub const SCRATCH: &str = "/scratch";
/// Parent of all the workers' cgroups; carries the disk's throttle.
const CGROUP: &str = "/sys/fs/cgroup/work";

/// Settings that every trial tells, written or not: a report must say what a default was.
const TOLD: [&str; 7] = [
    "/proc/sys/vm/workingset_protection",
    "/proc/sys/vm/anon_min_ratio",
    "/proc/sys/vm/clean_min_ratio",
    "/proc/sys/vm/clean_low_ratio",
    "/proc/sys/vm/swappiness",
    "/sys/kernel/mm/lru_gen/enabled",
    "/sys/kernel/mm/lru_gen/min_ttl_ms",
];

pub fn mounts() -> Result<()> {
    let none = MountFlags::empty();
    for (kind, at) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/tmp"),
        ("debugfs", "/sys/kernel/debug"),
        ("tracefs", "/sys/kernel/tracing"),
        ("cgroup2", "/sys/fs/cgroup"),
    ] {
        if !at.starts_with("/sys/") {
            let _ = std::fs::create_dir_all(at);
        }
        match mount(kind, at, kind, none, None) {
            // The kernel may have mounted devtmpfs itself.
            Ok(()) | Err(rustix::io::Errno::BUSY) => {}
            Err(error) => bail!("mounting {kind} at {at}: {error}"),
        }
    }
    Ok(())
}

/// Modules that this kernel needs for the rest, in the order of their names: those of its own that a
/// distribution's kernel keeps apart.
const MODULES: &str = "/hotset/modules";

/// Loads what the lab put there. Files of the first root lie in memory, so each goes once loaded.
pub fn modules() -> Result<()> {
    let Ok(entries) = std::fs::read_dir(MODULES) else {
        return Ok(());
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
        rustix::system::finit_module(&file, c"", 0)
            .with_context(|| format!("loading {}", path.display()))?;
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

pub fn hello() -> Result<Line> {
    let uname = rustix::system::uname();
    let meminfo = crate::counters::read("/proc/meminfo")?;
    let total = meminfo
        .lines()
        .find_map(|line| {
            line.strip_prefix("MemTotal:")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .context("no MemTotal in /proc/meminfo")?;
    Ok(Line::Hello {
        t_ms: now_ms(),
        release: uname.release().to_string_lossy().into_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        mem_total_kb: total,
    })
}

/// Keeps PID 1 in memory, ahead of everything and out of the OOM killer's reach: it is the
/// instrument, not part of the experiment.
pub fn shield() -> Result<()> {
    use rustix::mm::{mlockall, MlockAllFlags};
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context("mlockall")?;
    write("/proc/self/oom_score_adj", "-1000")
}

/// Makes the settings, and reads them and what else matters back as the kernel has it.
pub fn settings(spec: &GuestSpec) -> Result<BTreeMap<String, String>> {
    for knob in &spec.knobs {
        write(&knob.path, &knob.value)?;
    }
    let written = spec.knobs.iter().map(|knob| knob.path.as_str());
    let mut values = BTreeMap::new();
    for path in TOLD.into_iter().chain(written) {
        // What this kernel does not have is left out.
        if let Ok(value) = std::fs::read_to_string(path) {
            values.insert(path.to_string(), value.trim().to_string());
        }
    }
    Ok(values)
}

/// Makes /dev/zram0 a swap device of `mb` MiB.
pub fn swap(mb: u64) -> Result<()> {
    if mb == 0 {
        return Ok(());
    }
    write("/sys/block/zram0/disksize", &format!("{mb}M"))?;
    std::fs::write("/dev/zram0", swap_header(mb))
        .context("writing the swap header to /dev/zram0")?;
    swap_on("/dev/zram0")
}

/// The header that mkswap(8) writes: kernel's union swap_header, version 1, last page, no bad pages.
fn swap_header(mb: u64) -> Vec<u8> {
    let mut header = vec![0u8; 4096];
    header[1024..1028].copy_from_slice(&1u32.to_le_bytes());
    header[1028..1032].copy_from_slice(&((mb * 256) as u32 - 1).to_le_bytes());
    header[4086..].copy_from_slice(b"SWAPSPACE2");
    header
}

/// The earlier of two is the more urgent.
fn swap_on(path: &str) -> Result<()> {
    let name = std::ffi::CString::new(path)?;
    // SAFETY: swapon(2) takes a NUL-terminated path, which lives through the call.
    if unsafe { libc::swapon(name.as_ptr(), 0) } != 0 {
        bail!("swapon {path}: {}", std::io::Error::last_os_error());
    }
    Ok(())
}

/// Contents of the disk, where the lab hands them along: the disk is then in RAM.
const IMAGE: &str = "/hotset/disk.img";

/// Moves the disk's contents from the first root, which is a tmpfs, to a RAM disk. A part at a time:
/// there need not be room for both.
fn fill(device: &str) -> Result<()> {
    use rustix::fs::{fadvise, fallocate, Advice, FallocateFlags};
    use std::io::{Read, Write};
    const PART: usize = 4 << 20;
    let what = || format!("moving {IMAGE} to {device}");
    let open = |path: &str, write| {
        let file = std::fs::File::options().read(true).write(write).open(path);
        file.with_context(|| format!("opening {path}"))
    };
    let (mut from, mut to) = (open(IMAGE, true)?, open(device, true)?);
    let mut part = vec![0; PART];
    let mut at = 0;
    loop {
        let n = from.read(&mut part).with_context(what)?;
        if n == 0 {
            break;
        }
        to.write_all(&part[..n]).with_context(what)?;
        to.sync_data().with_context(what)?;
        // Not twice in memory: neither here nor in the cache of the device.
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&from, hole, at, n as u64).with_context(what)?;
        fadvise(
            &to,
            at,
            std::num::NonZeroU64::new(n as u64),
            Advice::DontNeed,
        )
        .with_context(what)?;
        at += n as u64;
    }
    drop(from);
    std::fs::remove_file(IMAGE).with_context(what)
}

pub fn disk(disk: &Disk, read_only: bool) -> Result<()> {
    if Path::new(IMAGE).exists() {
        fill(&disk.device)?;
    }
    let mut flags = MountFlags::NOATIME;
    if read_only {
        flags |= MountFlags::RDONLY;
    }
    let _ = std::fs::create_dir_all(DATA);
    mount(disk.device.as_str(), DATA, "ext4", flags, None)
        .with_context(|| format!("mounting {} at {DATA}", disk.device))
}

/// Mounts the disk that workers may write to.
pub fn scratch(scratch: &Scratch) -> Result<()> {
    let _ = std::fs::create_dir_all(SCRATCH);
    let device = scratch.device.as_str();
    mount(device, SCRATCH, "ext4", MountFlags::NOATIME, None)
        .with_context(|| format!("mounting {device} at {SCRATCH}"))?;
    match scratch.swap_mb {
        0 => Ok(()),
        mb => swap_file(&format!("{SCRATCH}/swap"), mb),
    }
}

/// Makes a swap file of `mb` MiB, less urgent than zram.
fn swap_file(path: &str, mb: u64) -> Result<()> {
    use rustix::fs::{fallocate, FallocateFlags};
    let what = || format!("making the swap file {path}");
    let file = std::fs::File::create_new(path).with_context(what)?;
    fallocate(&file, FallocateFlags::empty(), 0, mb << 20).with_context(what)?;
    std::os::unix::fs::FileExt::write_all_at(&file, &swap_header(mb), 0).with_context(what)?;
    file.sync_all().with_context(what)?;
    swap_on(path)
}

/// One cgroup for all workers, so that they share LRU lists as the programs of one desktop session
/// do, and one more for each worker with a limit of its own. All under the disk's throttle.
pub fn cgroups(spec: &GuestSpec, workload: &Workload) -> Result<()> {
    // A kernel told cgroup_disable=memory has none of that; a worker with a limit then fails below.
    let there = crate::counters::read("/sys/fs/cgroup/cgroup.controllers")?;
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
    std::fs::create_dir(cgroup_of("", false)).context("creating the workers' cgroup")?;
    for (name, worker) in &workload.workers {
        let limit = worker.memory_max.bytes();
        let path = cgroup_of_worker(name, worker);
        // A shared one is there already for all but the first.
        if has_own_cgroup(worker) && !Path::new(&path).exists() {
            std::fs::create_dir(&path).with_context(|| format!("creating {path}"))?;
        }
        if limit > 0 {
            write(&format!("{path}/memory.max"), &limit.to_string())?;
        }
    }
    Ok(())
}

/// Keeps the workers to the disk's speeds on one device.
fn throttle(device: &str, disk: &Disk, write_bps: u64) -> Result<()> {
    if disk.read_bps == 0 && disk.read_iops == 0 && write_bps == 0 {
        return Ok(());
    }
    let name = device.trim_start_matches("/dev/");
    let number = crate::counters::read(&format!("/sys/block/{name}/dev"))?;
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

/// Has the worker another cgroup than most: one with a limit, one that it shares with some, or so
/// that all of it can be ended?
fn has_own_cgroup(worker: &Worker) -> bool {
    worker.own_cgroup
        || worker.cgroup.is_some()
        || worker.memory_max.bytes() > 0
        || matches!(worker.does, Work::Forks { .. })
}

/// The cgroup that the processes of this worker join.
pub fn cgroup_of_worker(name: &str, worker: &Worker) -> String {
    match &worker.cgroup {
        Some(shared) => format!("{CGROUP}/shared-{shared}"),
        None => cgroup_of(name, has_own_cgroup(worker)),
    }
}

/// The cgroup that a worker's processes join.
pub fn cgroup_of(worker: &str, limited: bool) -> String {
    if limited {
        format!("{CGROUP}/limited-{worker}")
    } else {
        format!("{CGROUP}/all")
    }
}

pub fn write(path: &str, value: &str) -> Result<()> {
    std::fs::write(Path::new(path), value).with_context(|| format!("writing {value:?} to {path}"))
}

pub fn power_off() -> ! {
    rustix::fs::sync();
    let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    std::process::exit(1)
}
