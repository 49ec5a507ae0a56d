//! A phone's apps in turn: see [`raw::apps::AppCycle`] for what is modelled and how.
mod app;
mod book;
mod fleet;
mod killer;
mod lmkd;
mod plan;
mod tally;

use anyhow::{ensure, Context, Result};
use raw::apps::AppCycle;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{settled_path, stopping};
use crate::channel::{now_ms, Channel};
use crate::counters::{read, vmstat_field};
use crate::setup;
use book::Book;
use fleet::Fleet;
use plan::Plan;
use tally::{Start, Tally};

/// What the harness tells a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Cold,
    Warm,
    Hot,
    Burst,
    Background,
}

const COMMANDS: [Command; 5] = [
    Command::Cold,
    Command::Warm,
    Command::Hot,
    Command::Burst,
    Command::Background,
];

/// A command and the number of the start that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    command: Command,
    turn: u32,
}

impl Order {
    const BYTES: usize = 5;

    fn to_bytes(self) -> [u8; Order::BYTES] {
        let mut bytes = [self.command as u8; Order::BYTES];
        bytes[1..].copy_from_slice(&self.turn.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; Order::BYTES]) -> Option<Order> {
        let [command, turn @ ..] = bytes;
        Some(Order {
            command: *COMMANDS.get(usize::from(command))?,
            turn: u32::from_le_bytes(turn),
        })
    }
}

/// `unit` is one of the processes that the harness starts: an app's number, or `system`.
pub fn unit(unit: &str, spec: &AppCycle, seed: u64) -> Result<()> {
    match unit {
        "system" => app::run(None, spec, seed),
        app => app::run(Some(app.parse()?), spec, seed),
    }
}

/// How long PID 1 may take to see that work has settled, and to begin the next scene. On a busy host
/// that may be long, and what is counted before would belong to the wrong scene.
const NEXT_SCENE_MS: f64 = 120_000.0;

/// Says that work has settled, and waits for the scene that counts.
fn next_scene(worker: &str) -> Result<()> {
    let mark = settled_path(worker, std::process::id());
    File::create(&mark).with_context(|| format!("creating {mark}"))?;
    let begin = now_ms();
    while Path::new(&mark).exists() && !stopping() {
        ensure!(
            now_ms() - begin < NEXT_SCENE_MS,
            "no scene began once work had settled: the first scene needs until = \"settled\""
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// The harness: starts the apps in turn, and keeps count.
pub fn cycle(worker: &str, spec: &AppCycle, seed: u64, channel: &Channel) -> Result<()> {
    use rustix::mm::{mlockall, MlockAllFlags};
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context("mlockall")?;
    // It measures, and is no app that could be killed.
    setup::write("/proc/self/oom_score_adj", "-1000")?;
    let plan = Plan::new(spec, seed);
    for app in 0..spec.apps as usize {
        let path = plan.cgroup(app);
        std::fs::create_dir(&path).with_context(|| format!("creating {path}"))?;
    }
    let book = Arc::new(Book::default());
    if let Some(settings) = &spec.killer {
        killer::start(settings, book.clone(), channel.share()?)?;
    }
    let mut fleet = Fleet::new(worker, spec, book)?;
    let mut tally = Tally::default();
    let mut oom_kills = 0;
    for iteration in 0..spec.settle + spec.iterations {
        if iteration == spec.settle {
            if spec.settle > 0 {
                next_scene(worker)?;
            }
            tally = Tally::begin(now_ms());
            fleet.take_kills();
            oom_kills = kernels_kills()?;
        }
        let mut drawn = plan.drawn(iteration ^ 1 << 31);
        for (place, app) in plan.order(iteration).into_iter().enumerate() {
            if stopping() {
                return Ok(());
            }
            let turn = iteration * spec.apps + place as u32;
            // Drawn whether it is needed or not: the same for all arms.
            let loses_interface = drawn.share() < spec.warm_share;
            let begin = now_ms();
            let (start, done) = fleet.start(app, turn)?;
            let took = now_ms() - begin;
            if done {
                tally.started(start);
                let name = match start {
                    Start::Cold => "cold",
                    Start::Warm => "warm",
                    Start::Hot => "hot",
                };
                channel.observe(format!("{worker}.launch_ms"), begin, took);
                channel.observe(format!("{worker}.{name}_ms"), begin, took);
                let burst = now_ms();
                if fleet.order(app, Command::Burst, turn)? {
                    channel.observe(format!("{worker}.burst_ms"), burst, now_ms() - burst);
                }
            } else {
                tally.lost += 1;
            }
            if spec.rest_ms > 0 {
                std::thread::sleep(Duration::from_millis(spec.rest_ms));
            }
            fleet.leave(app, loses_interface, turn, channel)?;
            tally.cached(fleet.cached());
        }
    }
    fleet.look(channel)?;
    let mut kills = fleet.take_kills();
    kills.split((kernels_kills()? - oom_kills) as u32);
    tally.tell(worker, &kills, channel);
    fleet.end()
}

/// How many processes the kernel has killed since boot.
fn kernels_kills() -> Result<u64> {
    let vmstat = read("/proc/vmstat")?;
    vmstat_field(&vmstat, "oom_kill").context("/proc/vmstat has no oom_kill")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        for command in COMMANDS {
            let order = Order {
                command,
                turn: 70_000,
            };
            assert_eq!(Order::from_bytes(order.to_bytes()), Some(order));
        }
        assert_eq!(Order::from_bytes([9; 5]), None);
    }
}
