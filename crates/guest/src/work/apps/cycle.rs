//! Starts a phone's apps in turn, and counts: see [`protocol::work::apps::AppCycle`] for the model.
use anyhow::{ensure, Context, Result};
use protocol::work::apps::AppCycle;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::app;
use super::book::Book;
use super::fleet::Fleet;
use super::killer;
use super::order::Command;
use super::plan::Plan;
use super::tally::{Start, Tally};
use crate::channel::{now_ms, Channel};
use crate::kernel_files::write;
use crate::kernel_files::{read, vmstat_field};
use crate::paths::settled_path;
use crate::work::stop::stopping;

/// Runs a process that the harness starts: `unit` is an app's number, or `system`.
pub fn unit(unit: &str, spec: &AppCycle, seed: u64) -> Result<()> {
    match unit {
        "system" => app::run(None, spec, seed),
        app => app::run(Some(app.parse()?), spec, seed),
    }
}

/// Milliseconds that PID 1 may take to begin the next scene once work has settled. On a busy host
/// this may be long, and earlier counts would belong to the wrong scene.
const NEXT_SCENE_MS: f64 = 120_000.0;

/// Reports that work has settled, and waits for the measured scene.
fn next_scene(worker: &str) -> Result<()> {
    let mark = settled_path(worker, std::process::id());
    File::create(&mark).with_context(|| format!("creating {mark}"))?;
    let begin = now_ms();
    while Path::new(&mark).exists() && !stopping() {
        ensure!(
            now_ms() - begin < NEXT_SCENE_MS,
            "no scene began after work had settled: the first scene needs until = \"settled\""
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// The harness: starts the apps in turn, and keeps count.
pub fn cycle(worker: &str, spec: &AppCycle, seed: u64, channel: &Channel) -> Result<()> {
    use rustix::mm::{mlockall, MlockAllFlags};
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context("mlockall")?;
    // The harness measures, so it must not be killed as an app.
    write("/proc/self/oom_score_adj", "-1000")?;
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
            // Always drawn, so that all arms draw the same.
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
    fleet.report_deaths(channel)?;
    let mut kills = fleet.take_kills();
    kills.split((kernels_kills()? - oom_kills) as u32);
    tally.report(worker, &kills, channel);
    fleet.end()
}

/// The processes that the kernel has killed since boot.
fn kernels_kills() -> Result<u64> {
    let vmstat = read("/proc/vmstat")?;
    vmstat_field(&vmstat, "oom_kill").context("/proc/vmstat has no oom_kill")
}
