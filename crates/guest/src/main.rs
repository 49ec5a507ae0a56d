//! `hotset-guest`: PID 1 of the lab's guests, and the workloads that they run.
//!
//! As PID 1 it mounts what is needed, makes the settings of `/hotset/spec.json`, plays the scenes and
//! powers off. As `/init work NAME` it is one process of the worker NAME. It says what it measures
//! through a serial line, one JSON object a line ([`raw::wire`]): a serial line needs no memory that
//! is not already there, so it works when the guest is out of memory.
mod channel;
mod counters;
mod daemon;
mod generations;
mod nodes;
mod play;
mod prepare;
mod selftest;
mod setup;
mod systemd;
mod trace;
mod watch;
mod work;

use anyhow::{Context, Result};
use channel::Channel;
use raw::spec::{Failure, GuestSpec, Task};
use raw::wire::Line;

/// Where the lab puts the orders.
const SPEC: &str = "/hotset/spec.json";

fn main() {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (Some("work"), Some(name)) => work::main(&name, args.next().as_deref()),
        _ if std::process::id() == 1 => init(),
        _ => {
            eprintln!("hotset-guest runs as PID 1 of a guest that `hotset lab` boots");
            std::process::exit(2);
        }
    }
}

fn init() -> ! {
    if let Err(error) = setup::mounts() {
        eprintln!("hotset-guest: {error:#}");
        setup::power_off();
    }
    let channel = match Channel::open() {
        Ok(channel) => channel,
        Err(error) => {
            eprintln!("hotset-guest: {error:#}");
            setup::power_off();
        }
    };
    match run(&channel) {
        Ok(()) => channel.say(&Line::End {
            t_ms: channel::now_ms(),
        }),
        Err(error) => channel.say(&Line::Error {
            message: format!("{error:#}"),
        }),
    }
    channel.drain();
    setup::power_off();
}

fn read_spec() -> Result<GuestSpec> {
    let text = std::fs::read_to_string(SPEC).with_context(|| format!("reading {SPEC}"))?;
    serde_json::from_str(&text).with_context(|| format!("in {SPEC}"))
}

fn run(channel: &Channel) -> Result<()> {
    let spec = read_spec()?;
    setup::modules()?;
    channel.say(&setup::hello()?);
    match &spec.task {
        Task::Boot => Ok(()),
        Task::Selftest { programs, file } => {
            selftest::run(&spec, programs, file.as_deref(), channel)
        }
        Task::Prepare { files } => prepare::run(&spec, files, channel),
        Task::Play { workload } => {
            setup::shield()?;
            let settings = setup::settings(&spec)?;
            channel.say(&Line::Settings { values: settings });
            setup::swap(spec.zram_mb)?;
            if !spec.disk.device.is_empty() {
                setup::disk(&spec.disk, true)?;
            }
            if let Some(scratch) = &spec.scratch {
                setup::scratch(scratch)?;
            }
            setup::cgroups(&spec, workload)?;
            play::run(&spec, workload, channel)
        }
        Task::Fail { how } => fail(*how),
    }
}

/// What the lab's own tests boot, to see that it gives up cleanly.
fn fail(how: Failure) -> Result<()> {
    match how {
        Failure::Panic => {
            setup::write("/proc/sys/kernel/sysrq", "1")?;
            setup::write("/proc/sysrq-trigger", "c")
        }
        Failure::Hang => loop {
            std::thread::park();
        },
        Failure::Error => anyhow::bail!("this guest was told to fail"),
    }
}
