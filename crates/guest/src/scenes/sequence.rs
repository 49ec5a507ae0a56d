//! Runs the scenes, and reports the observations of each.
use anyhow::Result;
use protocol::spec::{GuestSpec, Scene, Until, Workload};
use protocol::wire::Line;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use super::daemon::Daemon;
use super::workers::{Workers, TICK};
use crate::channel::{now_ms, Channel};
use crate::kernel_files::write;
use crate::observe::trace::Tracer;
use crate::observe::watch::{self, Watched};
use crate::observe::{counters, generations, nodes};

/// Runs all scenes of the workload, in order.
///
/// # Errors
/// When the daemon or a worker cannot be started, the daemon ends by itself, or the kernel lacks a
/// needed file.
pub fn run(spec: &GuestSpec, workload: &Workload, channel: &Channel) -> Result<()> {
    let channel = Arc::new(channel.share()?);
    let stop = Arc::new(AtomicBool::new(false));
    let tracer = Tracer::start(&spec.trace, &channel)?;
    let watched = watch::start(workload, channel.clone(), stop.clone());
    sample(spec.sample_ms, channel.clone(), stop.clone());
    let started = spec.daemon.as_ref().filter(|daemon| daemon.start);
    let daemon = started.map(|daemon| Daemon::start(daemon, channel.clone()));
    let mut stage = Stage {
        workers: Workers::new(
            workload,
            channel.clone(),
            watched.clone(),
            daemon.transpose()?,
        )?,
        channel,
        watched,
        tracer,
        total_s: workload.scenes.iter().map(|scene| scene.seconds).sum(),
    };
    let mut before_s = 0.0;
    for scene in &workload.scenes {
        stage.run_scene(scene, before_s)?;
        before_s += scene.seconds;
    }
    stage.workers.end()?;
    stage.tracer.report(&stage.channel)?;
    stop.store(true, Ordering::Release);
    Ok(())
}

/// Reports the gauges for ever, from a thread of its own.
fn sample(period_ms: u64, channel: Arc<Channel>, stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !stop.load(Ordering::Acquire) {
            if let Ok(mut gauges) = counters::gauges() {
                gauges.extend(nodes::gauges());
                channel.send(&Line::Sample {
                    t_ms: now_ms(),
                    gauges,
                });
            }
            std::thread::sleep(Duration::from_millis(period_ms.max(10)));
        }
    });
}

struct Stage<'a> {
    workers: Workers<'a>,
    channel: Arc<Channel>,
    watched: Arc<Watched>,
    tracer: Tracer,
    /// Planned length of all scenes together, in seconds.
    total_s: f64,
}

impl<'a> Stage<'a> {
    /// Runs one scene. `before_s` is the planned length of the scenes before it, in seconds.
    fn run_scene(&mut self, scene: &'a Scene, before_s: f64) -> Result<()> {
        let names: Vec<&str> = scene.run.iter().map(String::as_str).collect();
        self.workers.stop_all_but(&names);
        self.workers.start_services(&names)?;
        if scene.drop_caches {
            write("/proc/sys/vm/drop_caches", "3")?;
        }
        let begin = now_ms();
        let before = (self.watched.count(), self.watched.exhausted());
        self.tracer.scene(begin);
        self.watched.take_stall_ms();
        self.watched.take_least_clean();
        self.report_boundary(scene, true, begin)?;
        self.workers.begin(&names)?;
        let mut reported_s = 0.0;
        loop {
            std::thread::sleep(TICK);
            self.workers.tick(&names)?;
            let elapsed_s = (now_ms() - begin) / 1e3;
            if self.is_over(scene, &names, before) {
                break;
            }
            if elapsed_s >= scene.seconds {
                // Without this event a guest without progress could not be distinguished from a finished one.
                if let Some(until) = scene.until {
                    let detail = format!("{}: no {until:?} in {} s", scene.name, scene.seconds);
                    self.channel.event("scene-limit", detail);
                }
                break;
            }
            if elapsed_s - reported_s >= 1.0 {
                reported_s = elapsed_s;
                let fraction = (before_s + elapsed_s) / self.total_s;
                self.channel.send(&Line::Progress { fraction });
            }
        }
        self.observe(&names, begin);
        self.report_boundary(scene, false, now_ms())
    }

    /// Whether the event that the scene waits for has come. `before`: OOM kills and exhaustions before it.
    fn is_over(&self, scene: &Scene, names: &[&str], before: (u64, u64)) -> bool {
        match scene.until {
            Some(Until::OomKill) => self.watched.count() > before.0,
            Some(Until::Exhausted) => self.watched.exhausted() > before.1,
            Some(Until::Killed) => self.workers.all_killed() >= u64::from(scene.kills),
            Some(Until::Done) => !self.workers.busy(names),
            Some(Until::Settled) => self.workers.settled(names),
            None => false,
        }
    }

    /// Reports one value each of the scene that began at `begin`.
    fn observe(&self, names: &[&str], begin: f64) {
        let observe = |name: &str, value| self.channel.observe(name.into(), begin, value);
        for name in names {
            let killed = self.workers.killed(name) as f64;
            observe(&format!("{name}.deaths"), killed);
        }
        if let Some(pages) = self.watched.take_least_clean() {
            observe("clean.least_mb", pages as f64 / 256.0);
        }
        if let Some(most) = generations::most() {
            observe("lru_gen.most", most as f64);
        }
        observe("stall.longest_ms", self.watched.take_stall_ms());
    }

    /// Reports that the scene begins, or that it ends.
    fn report_boundary(&self, scene: &Scene, begin: bool, t_ms: f64) -> Result<()> {
        let (name, mut counters) = (scene.name.clone(), counters::counters()?);
        if let Some(us) = self.workers.daemon_cpu_us() {
            counters.insert("daemon.cpu_us".into(), us);
        }
        self.channel.send(&if begin {
            Line::SceneBegin {
                t_ms,
                name,
                counters,
            }
        } else {
            Line::SceneEnd {
                t_ms,
                name,
                counters,
            }
        });
        Ok(())
    }
}
