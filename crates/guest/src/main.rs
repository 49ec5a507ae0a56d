//! `hotset-guest`: PID 1 of the lab's guests, and the workloads that they run.
//!
//! As PID 1 it mounts the kernel's file systems, makes the settings of `/hotset/spec.json`, runs
//! the scenes and powers off. As `/init work NAME` it is one process of the worker NAME, and as `/init in-root COMMAND` a
//! daemon of the experiment's root.
//! Measurements go through a serial line, one JSON object in each line of text ([`protocol::wire`]). A
//! serial line needs no new memory, so it works when the guest is out of memory.
mod boot;
mod channel;
mod kernel_files;
mod observe;
mod paths;
mod process;
mod scenes;
mod spec;
mod work;
mod xorshift;

use anyhow::{bail, Result};
use boot::{cgroups, disks, mounts, prepare, root, settings};
use channel::Channel;
use kernel_files::write;
use protocol::spec::{Failure, Task};
use protocol::wire::Line;
use scenes::{selftest, sequence};

fn main() {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (Some("work"), Some(name)) => work::main(&name, args.next().as_deref()),
        (Some("in-root"), Some(program)) => work::in_root([program].into_iter().chain(args)),
        _ if std::process::id() == 1 => init(),
        _ => {
            eprintln!("hotset-guest runs as PID 1 of a guest that `hotset lab` boots");
            std::process::exit(2);
        }
    }
}

fn init() -> ! {
    if let Err(error) = mounts::mount_all() {
        eprintln!("hotset-guest: {error:#}");
        mounts::power_off();
    }
    let channel = match Channel::open() {
        Ok(channel) => channel,
        Err(error) => {
            eprintln!("hotset-guest: {error:#}");
            mounts::power_off();
        }
    };
    match run(&channel) {
        Ok(()) => channel.send(&Line::End {
            t_ms: channel::now_ms(),
        }),
        Err(error) => channel.send(&Line::Error {
            message: format!("{error:#}"),
        }),
    }
    channel.drain();
    mounts::power_off();
}

fn run(channel: &Channel) -> Result<()> {
    let spec = spec::read_spec()?;
    mounts::load_modules()?;
    channel.send(&mounts::hello()?);
    match &spec.task {
        Task::Boot => Ok(()),
        Task::Selftest { programs, file } => {
            selftest::run(&spec, programs, file.as_deref(), channel)
        }
        Task::Prepare { files } => prepare::run(&spec, files, channel),
        Task::Scenes { workload } => {
            settings::shield()?;
            let values = settings::apply(&spec)?;
            channel.send(&Line::Settings { values });
            disks::zram_swap(spec.zram_mb)?;
            if !spec.disk.device.is_empty() {
                disks::mount_data(&spec.disk, true)?;
            }
            if let Some(scratch) = &spec.scratch {
                disks::mount_scratch(scratch)?;
            }
            if let Some(disk) = &spec.root {
                root::mount_root(disk)?;
            }
            cgroups::create(&spec, workload)?;
            let values = settings::apply_to_cgroups(&spec)?;
            if !values.is_empty() {
                channel.send(&Line::Settings { values });
            }
            sequence::run(&spec, workload, channel)
        }
        Task::Fail { how } => fail(*how),
    }
}

/// Fails in the given way, for the lab's own tests.
fn fail(how: Failure) -> Result<()> {
    match how {
        Failure::Panic => {
            write("/proc/sys/kernel/sysrq", "1")?;
            write("/proc/sysrq-trigger", "c")
        }
        Failure::Hang => loop {
            std::thread::park();
        },
        Failure::Error => bail!("the spec asks this guest to fail"),
    }
}
