//! Plays the scenes: starts and stops the workers' processes and says what happened when.
use anyhow::{bail, Context, Result};
use raw::spec::{GuestSpec, Scene, Until, Work, Worker, Workload};
use raw::wire::Line;
use rustix::process::{waitpid, Pid, Signal, WaitOptions, WaitStatus};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::daemon::Daemon;
use crate::trace::Tracer;
use crate::watch::Kills;
use crate::work::{measures, settled_path};
use crate::{counters, generations, nodes, setup, watch};

/// How often children are reaped and a scene's end is looked for.
const TICK: Duration = Duration::from_millis(10);
/// How long a worker may take to finish what it measures once it is told to stop.
const GRACE_MS: f64 = 120_000.0;
/// A worker that ends at once again and again must not keep the machine busy with starting it.
const RESTART_PAUSE_MS: f64 = 20.0;

/// Plays all scenes of the workload, in order.
pub fn run(spec: &GuestSpec, workload: &Workload, channel: &Channel) -> Result<()> {
    let channel = Arc::new(channel.share()?);
    let stop = Arc::new(AtomicBool::new(false));
    let tracer = Tracer::start(&spec.trace, &channel)?;
    let kills = watch::start(workload, channel.clone(), stop.clone());
    sample(spec.sample_ms, channel.clone(), stop.clone());
    let started = spec.daemon.as_ref().filter(|daemon| daemon.start);
    let daemon = started.map(|daemon| Daemon::start(daemon, channel.clone()));
    let mut stage = Stage {
        workload,
        daemon: daemon.transpose()?,
        channel,
        kills,
        tracer,
        running: BTreeMap::new(),
        due: Vec::new(),
        killed: BTreeMap::new(),
    };
    let total: f64 = workload.scenes.iter().map(|scene| scene.seconds).sum();
    let mut before = 0.0;
    for scene in &workload.scenes {
        stage.play(scene, before, total)?;
        before += scene.seconds;
    }
    stage.stop_all_but(&[]);
    if let Some(daemon) = stage.daemon.take() {
        daemon.stop()?;
    }
    stage.tracer.tell(&stage.channel)?;
    stop.store(true, Ordering::Release);
    Ok(())
}

/// Says the gauges for ever, from a thread of its own.
fn sample(period_ms: u64, channel: Arc<Channel>, stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !stop.load(Ordering::Acquire) {
            if let Ok(mut gauges) = counters::gauges() {
                gauges.extend(nodes::gauges());
                channel.say(&Line::Sample {
                    t_ms: now_ms(),
                    gauges,
                });
            }
            std::thread::sleep(Duration::from_millis(period_ms.max(10)));
        }
    });
}

struct Stage<'a> {
    workload: &'a Workload,
    channel: Arc<Channel>,
    kills: Arc<Kills>,
    tracer: Tracer,
    daemon: Option<Daemon>,
    /// Process to the name of its worker.
    running: BTreeMap<i32, &'a str>,
    /// Workers to start again, and when.
    due: Vec<(f64, &'a str)>,
    /// Processes of each worker that somebody has killed in this scene.
    killed: BTreeMap<&'a str, u64>,
}

impl<'a> Stage<'a> {
    fn play(&mut self, scene: &'a Scene, before: f64, total: f64) -> Result<()> {
        let names: Vec<&str> = scene.run.iter().map(String::as_str).collect();
        self.stop_all_but(&names);
        if scene.drop_caches {
            setup::write("/proc/sys/vm/drop_caches", "3")?;
        }
        let begin = now_ms();
        let kills_before = self.kills.count();
        self.tracer.scene(begin);
        self.kills.take_stall_ms();
        self.kills.take_least_clean();
        self.killed.clear();
        self.say_scene(scene, true, begin)?;
        // Who settled may wait for the scene that counts.
        for (pid, name) in &self.running {
            let _ = std::fs::remove_file(settled_path(name, *pid as u32));
        }
        for name in &names {
            if !self.running.values().any(|running| running == name) {
                for _ in 0..self.worker(name)?.count {
                    self.start(name)?;
                }
            }
        }
        let mut said = 0.0;
        loop {
            std::thread::sleep(TICK);
            self.reap(scene);
            if let Some(daemon) = &mut self.daemon {
                daemon.check()?;
            }
            self.restart()?;
            let elapsed = (now_ms() - begin) / 1e3;
            let over = match scene.until {
                Some(Until::OomKill) => self.kills.count() > kills_before,
                Some(Until::Killed) => self.killed.values().sum::<u64>() >= u64::from(scene.kills),
                Some(Until::Done) => !self.busy(&names),
                Some(Until::Settled) => self.settled(&names),
                None => false,
            };
            if over {
                break;
            }
            if elapsed >= scene.seconds {
                // Else a guest that got nowhere looks like one that finished.
                if let Some(until) = scene.until {
                    let detail = format!("{}: no {until:?} in {} s", scene.name, scene.seconds);
                    self.channel.event("scene-limit", detail);
                }
                break;
            }
            if elapsed - said >= 1.0 {
                said = elapsed;
                let fraction = (before + elapsed) / total;
                self.channel.say(&Line::Progress { fraction });
            }
        }
        for name in &names {
            let killed = self.killed.get(name).copied().unwrap_or(0) as f64;
            self.channel
                .observe(format!("{name}.deaths"), begin, killed);
        }
        if let Some(pages) = self.kills.take_least_clean() {
            let mb = pages as f64 / 256.0;
            self.channel.observe("clean.least_mb".into(), begin, mb);
        }
        if let Some(most) = generations::most() {
            self.channel
                .observe("lru_gen.most".into(), begin, most as f64);
        }
        let stall = self.kills.take_stall_ms();
        self.channel
            .observe("stall.longest_ms".into(), begin, stall);
        self.say_scene(scene, false, now_ms())
    }

    fn say_scene(&self, scene: &Scene, begin: bool, t_ms: f64) -> Result<()> {
        let (name, counters) = (scene.name.clone(), counters::counters()?);
        self.channel.say(&if begin {
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

    fn worker(&self, name: &str) -> Result<&'a Worker> {
        self.workload
            .workers
            .get(name)
            .with_context(|| format!("no worker {name}"))
    }

    fn start(&mut self, name: &'a str) -> Result<()> {
        match Command::new("/init").arg("work").arg(name).spawn() {
            Ok(child) => {
                self.running.insert(child.id() as i32, name);
                self.channel
                    .event("worker-start", format!("{name} {}", child.id()));
            }
            // No memory for a new process is the very thing under test: try again.
            Err(error)
                if error.raw_os_error() == Some(libc::ENOMEM)
                    || error.raw_os_error() == Some(libc::EAGAIN) =>
            {
                self.due.push((now_ms() + RESTART_PAUSE_MS, name));
            }
            Err(error) => bail!("starting worker {name}: {error}"),
        }
        Ok(())
    }

    /// Whether a worker that ends by itself is still running.
    fn busy(&self, names: &[&str]) -> bool {
        self.running.values().any(|name| {
            names.contains(name)
                && self.workload.workers.get(*name).is_some_and(|worker| {
                    matches!(
                        worker.does,
                        Work::ReadOnce { .. }
                            | Work::Pass { .. }
                            | Work::Squeeze { .. }
                            | Work::Age { .. }
                            | Work::Fixed { .. }
                            | Work::KnobLoop { .. }
                            | Work::Tree { .. }
                            | Work::Compile { .. }
                            | Work::KillDaemon { .. }
                            | Work::AppCycle(_)
                            | Work::MakeDatabase(_)
                            | Work::LookUp(_)
                            | Work::Access(_)
                    )
                })
        })
    }

    /// Whether all processes that settle have.
    fn settled(&self, names: &[&str]) -> bool {
        self.running
            .iter()
            .filter(|(_, name)| names.contains(name))
            .filter(|(_, name)| {
                let worker = self.workload.workers.get(**name);
                worker.is_some_and(|worker| {
                    matches!(worker.does, Work::Fixed { .. } | Work::AppCycle(_))
                })
            })
            .all(|(pid, name)| Path::new(&settled_path(name, *pid as u32)).exists())
    }

    fn reap(&mut self, scene: &Scene) {
        while let Ok(Some((pid, status))) = waitpid(None, WaitOptions::NOHANG) {
            if let Some(daemon) = &mut self.daemon {
                daemon.reaped(pid, status);
            }
            let Some(name) = self.running.remove(&pid.as_raw_nonzero().get()) else {
                continue;
            };
            self.channel
                .event("worker-end", format!("{name} {pid:?} {}", said(status)));
            if let Some(libc::SIGKILL | libc::SIGTERM) = status.terminating_signal() {
                *self.killed.entry(name).or_default() += 1;
                self.kills.died();
            }
            let restart = self
                .workload
                .workers
                .get(name)
                .is_some_and(|worker| worker.restart);
            if restart && scene.run.iter().any(|run| run == name) {
                self.due.push((now_ms() + RESTART_PAUSE_MS, name));
            }
        }
    }

    fn restart(&mut self) -> Result<()> {
        let now = now_ms();
        let (ready, later) = self.due.drain(..).partition(|(at, _)| *at <= now);
        self.due = later;
        let ready: Vec<(f64, &'a str)> = ready;
        for (_, name) in ready {
            self.start(name)?;
        }
        Ok(())
    }

    /// Stops the others: hogs at once, so that what measures can finish its last measurement.
    fn stop_all_but(&mut self, keep: &[&str]) {
        self.due.clear();
        let stopping: Vec<(i32, &str)> = self
            .running
            .iter()
            .filter(|(_, name)| !keep.contains(name))
            .map(|(pid, name)| (*pid, *name))
            .collect();
        for (pid, name) in &stopping {
            let does = self.workload.workers.get(*name).map(|worker| &worker.does);
            let measures = does.is_some_and(measures);
            signal(*pid, if measures { Signal::TERM } else { Signal::KILL });
            if let Some(Work::Forks { .. }) = does {
                // What it has started has another parent by now.
                let cgroup = setup::cgroup_of(name, true);
                if let Err(error) = setup::write(&format!("{cgroup}/cgroup.kill"), "1") {
                    self.channel.event("worker-error", format!("{error:#}"));
                }
            }
        }
        let begin = now_ms();
        let mut killed = false;
        while stopping
            .iter()
            .any(|(pid, _)| self.running.contains_key(pid))
        {
            while let Ok(Some((pid, status))) = waitpid(None, WaitOptions::NOHANG) {
                if let Some(daemon) = &mut self.daemon {
                    daemon.reaped(pid, status);
                }
                self.running.remove(&pid.as_raw_nonzero().get());
            }
            if now_ms() - begin > GRACE_MS && !killed {
                killed = true;
                for (pid, name) in stopping
                    .iter()
                    .filter(|(pid, _)| self.running.contains_key(pid))
                {
                    self.channel.event("worker-stuck", format!("{name} {pid}"));
                    signal(*pid, Signal::KILL);
                }
            }
            std::thread::sleep(TICK);
        }
    }
}

pub fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

pub fn said(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "?".into(),
    }
}
