//! The workers' processes, and the arm's daemon beside them: started, reaped, started again, stopped.
use anyhow::{bail, Context, Result};
use protocol::spec::{Worker, Workload};
use protocol::work::Work;
use rustix::process::{wait, Signal, WaitOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::daemon::Daemon;
use super::programs::Programs;
use crate::boot::cgroups::{cgroup_of, cgroup_of_worker};
use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, write};
use crate::observe::watch::Watched;
use crate::paths::settled_path;
use crate::process::{describe_end, signal};

/// The period in which children are reaped and the end of a scene is checked.
pub const TICK: Duration = Duration::from_millis(10);
/// The longest that a worker may take to finish its last measurement after SIGTERM.
const GRACE_MS: f64 = 120_000.0;
/// The longest that killed children of a program may take to end.
const LAST_MS: f64 = 10_000.0;
/// Pause before a worker starts again: restarts of a worker that ends at once must not keep the machine
/// busy.
const RESTART_PAUSE_MS: f64 = 20.0;

/// All children of PID 1.
pub struct Workers<'a> {
    workload: &'a Workload,
    channel: Arc<Channel>,
    watched: Arc<Watched>,
    daemon: Option<Daemon>,
    programs: Programs,
    /// Process to the name of its worker.
    running: BTreeMap<i32, &'a str>,
    /// Workers to start again, and the time of each start.
    due: Vec<(f64, &'a str)>,
    /// Processes of each worker that were killed in this scene.
    killed: BTreeMap<&'a str, u64>,
}

impl<'a> Workers<'a> {
    pub fn new(
        workload: &'a Workload,
        channel: Arc<Channel>,
        watched: Arc<Watched>,
        daemon: Option<Daemon>,
    ) -> Result<Workers<'a>> {
        Ok(Workers {
            programs: Programs::new(workload, channel.clone())?,
            workload,
            channel,
            watched,
            daemon,
            running: BTreeMap::new(),
            due: Vec::new(),
            killed: BTreeMap::new(),
        })
    }

    /// Starts those services of `names` that do not run yet, and waits until they are ready.
    ///
    /// # Errors
    /// When one cannot be started, ends, or is not ready in time.
    pub fn start_services(&mut self, names: &[&'a str]) -> Result<()> {
        for name in names {
            let worker = self.worker(name)?;
            let service = { worker.does.program() }.is_some_and(|it| it.ready.is_some());
            if service && !self.running.values().any(|running| running == name) {
                for _ in 0..worker.count {
                    self.start(name)?;
                }
            }
        }
        while !self.programs.ready()? {
            std::thread::sleep(TICK);
            self.tick(names)?;
        }
        Ok(())
    }

    /// Begins a scene: the workers `names` run that do not run yet.
    ///
    /// # Errors
    /// When one cannot be started.
    pub fn begin(&mut self, names: &[&'a str]) -> Result<()> {
        self.killed.clear();
        // Workers that have settled may wait for this scene, in which they are measured.
        for (pid, name) in &self.running {
            let _ = std::fs::remove_file(settled_path(name, *pid as u32));
        }
        for name in names {
            if !self.running.values().any(|running| running == name) {
                for _ in 0..self.worker(name)?.count {
                    self.start(name)?;
                }
            }
        }
        Ok(())
    }

    /// Reaps children. Starts workers of `names` again whose restart is due.
    ///
    /// # Errors
    /// When the daemon has ended, or a worker cannot be started.
    pub fn tick(&mut self, names: &[&str]) -> Result<()> {
        self.reap(names)?;
        if let Some(daemon) = &mut self.daemon {
            daemon.check()?;
        }
        self.restart()
    }

    /// The CPU time of the arm's daemon so far, in microseconds.
    pub fn daemon_cpu_us(&self) -> Option<f64> {
        self.daemon.as_ref()?.cpu_us()
    }

    /// Stops all workers, then the daemon.
    ///
    /// # Errors
    /// When the daemon does not end well.
    pub fn end(&mut self) -> Result<()> {
        self.stop_all_but(&[]);
        self.programs.finish()?;
        match self.daemon.take() {
            Some(daemon) => daemon.stop(),
            None => Ok(()),
        }
    }

    /// Processes of a worker that were killed in this scene.
    pub fn killed(&self, name: &str) -> u64 {
        self.killed.get(name).copied().unwrap_or(0)
    }

    /// Processes of all workers that were killed in this scene.
    pub fn all_killed(&self) -> u64 {
        self.killed.values().sum()
    }

    /// Whether a worker that ends by itself is still running.
    pub fn busy(&self, names: &[&str]) -> bool {
        self.running.values().any(|name| {
            let worker = self.workload.workers.get(*name);
            names.contains(name) && worker.is_some_and(|worker| worker.does.ends_by_itself())
        })
    }

    /// Whether all processes that settle have settled.
    pub fn settled(&self, names: &[&str]) -> bool {
        self.running
            .iter()
            .filter(|(_, name)| names.contains(name))
            .filter(|(_, name)| {
                let worker = self.workload.workers.get(**name);
                worker.is_some_and(|worker| worker.does.settles())
            })
            .all(|(pid, name)| Path::new(&settled_path(name, *pid as u32)).exists())
    }

    fn worker(&self, name: &str) -> Result<&'a Worker> {
        self.workload
            .workers
            .get(name)
            .with_context(|| format!("no worker {name}"))
    }

    fn start(&mut self, name: &'a str) -> Result<()> {
        let mut command = Command::new("/init");
        match self.programs.spawn(name, command.arg("work").arg(name)) {
            Ok(pid) => {
                self.running.insert(pid, name);
                self.channel.event("worker-start", format!("{name} {pid}"));
            }
            // The experiment takes all memory, so a new process may find none: try again.
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

    fn reap(&mut self, names: &[&str]) -> Result<()> {
        // Of every process group: a program may have its own.
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if let Some(daemon) = &mut self.daemon {
                daemon.reaped(pid, status);
            }
            let Some(name) = self.running.remove(&pid.as_raw_nonzero().get()) else {
                continue;
            };
            let end = describe_end(status);
            self.channel
                .event("worker-end", format!("{name} {pid:?} {end}"));
            let worker = self.workload.workers.get(name);
            let asked =
                worker.is_some_and(|worker| was_asked_to_end(&worker.does, status.exit_status()));
            let killed = matches!(
                status.terminating_signal(),
                Some(libc::SIGKILL | libc::SIGTERM)
            );
            if killed || asked {
                *self.killed.entry(name).or_default() += 1;
                self.watched.died();
            }
            self.programs.ended(pid.as_raw_nonzero().get(), status)?;
            let of_ours = worker.is_some_and(|worker| worker.does.program().is_none());
            if of_ours && !killed && status.signaled() {
                bail!("worker {name} crashed: {end}");
            }
            if worker.is_some_and(|worker| worker.restart) && names.contains(&name) {
                self.due.push((now_ms() + RESTART_PAUSE_MS, name));
            }
        }
        Ok(())
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

    /// Stops all workers but some. Hogs are killed at once, so that measuring workers can finish their
    /// last measurement.
    pub fn stop_all_but(&mut self, keep: &[&str]) {
        self.due.clear();
        let stopping: Vec<(i32, &str)> = self
            .running
            .iter()
            .filter(|(_, name)| !keep.contains(name))
            .map(|(pid, name)| (*pid, *name))
            .collect();
        for (pid, name) in &stopping {
            self.stop(*pid, name);
        }
        let begin = now_ms();
        let mut killed = false;
        while { stopping.iter() }.any(|(pid, _)| self.running.contains_key(pid)) {
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                if let Some(daemon) = &mut self.daemon {
                    daemon.reaped(pid, status);
                }
                self.running.remove(&pid.as_raw_nonzero().get());
            }
            if now_ms() - begin > GRACE_MS && !killed {
                killed = true;
                for (pid, name) in &stopping {
                    if self.running.contains_key(pid) {
                        self.channel.event("worker-stuck", format!("{name} {pid}"));
                        signal(*pid, Signal::KILL);
                    }
                }
            }
            std::thread::sleep(TICK);
        }
        self.end_programs(keep);
        for (pid, _) in &stopping {
            self.programs.stopped(*pid);
        }
    }

    /// Ends what is left of programs: children whose parent has ended.
    fn end_programs(&self, keep: &[&str]) {
        let left = { self.workload.workers.iter() }
            .filter(|(name, worker)| {
                worker.does.program().is_some() && !keep.contains(&name.as_str())
            })
            .map(|(name, worker)| cgroup_of_worker(name, worker));
        for cgroup in left {
            let begin = now_ms();
            if let Err(error) = write(&format!("{cgroup}/cgroup.kill"), "1") {
                self.channel.event("worker-error", format!("{error:#}"));
            }
            let events = format!("{cgroup}/cgroup.events");
            let lives = || read(&events).is_ok_and(|text| text.contains("populated 1"));
            while lives() && now_ms() - begin < LAST_MS {
                std::thread::sleep(TICK);
            }
        }
    }

    fn stop(&self, pid: i32, name: &str) {
        let Some(worker) = self.workload.workers.get(name) else {
            return signal(pid, Signal::KILL);
        };
        let finishes = worker.does.finishes_on_sigterm();
        signal(pid, if finishes { Signal::TERM } else { Signal::KILL });
        if worker.does.leaves_processes() {
            // Its processes have another parent by now.
            let cgroup = cgroup_of(name, true);
            if let Err(error) = write(&format!("{cgroup}/cgroup.kill"), "1") {
                self.channel.event("worker-error", format!("{error:#}"));
            }
        }
    }
}

/// Whether work that goes on for ever has ended as SIGTERM ends it, within a scene in which it was to go
/// on: a daemon has killed it.
fn was_asked_to_end(work: &Work, exit: Option<i32>) -> bool {
    work.finishes_on_sigterm() && !work.ends_by_itself() && exit == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemons_sigterm_is_a_kill_of_work_that_catches_it() {
        let work = |json: &str| serde_json::from_str::<Work>(json).unwrap();
        let probe = work(r#"{"probe": {"file": "f", "period_ms": 1}}"#);
        assert!(was_asked_to_end(&probe, Some(0)));
        assert!(!was_asked_to_end(&probe, Some(1)), "an error of its own");
        assert!(!was_asked_to_end(&probe, None));
        let compile = work(
            r#"{"compile": {"files": 1, "units": 1, "jobs": 1, "headers": 1, "memory": 1, "object": 1}}"#,
        );
        assert!(!was_asked_to_end(&compile, Some(0)), "it is done");
    }
}
