//! The event loop: one thread, epoll. It sleeps until the forecast, memory pressure, a signal or a
//! client wakes it.
use crate::config::cli::Options;
use crate::config::file;
use crate::config::settings::Config;
use crate::os::process;
use crate::runtime::daemon::Daemon;
use crate::runtime::lock_file;
use crate::runtime::sd_notify::Notify;
use crate::runtime::startup;
use crate::runtime::wake::{Asked, Signals, Timer};
use crate::telemetry::log::{Level, Log};
use crate::telemetry::server::{Kind, Listen, Listeners};
use crate::telemetry::serving::Serving;
use rustix::event::epoll;
use rustix::fd::{AsFd, OwnedFd};
use std::io;
use std::path::Path;

const TIMER: u64 = 1;
const SIGNALS: u64 = 2;
const PRESSURE: u64 = 3;
const WORKER: u64 = 4;
const PROTECTION: u64 = 5;
const SERVING: u64 = 6;
/// Samples closer together than this, in seconds, give no rate.
const CLOSEST_S: f64 = 0.1;

/// Runs until a signal asks for the end. Returns whether every knob was given back.
///
/// # Errors
/// The daemon cannot start. Nothing was written then.
pub fn run(options: &Options, config: Config, mut log: Log) -> io::Result<bool> {
    let lock = take_lock(options, &config, &mut log)?;
    process::one_heap();
    // Signals are blocked before the worker's thread starts: a thread inherits the mask.
    let wakes = Wakes::new()?;
    if !config.dry_run {
        startup::stay_in_memory(&mut log);
    }
    let mut daemon = Daemon::new(&options.root, config, log)?;
    wakes.watch(&daemon)?;
    let _pressure = startup::watch_pressure(&mut daemon, &wakes.poll, PRESSURE);
    let mut serving = match lock {
        Some(_) => start_serving(&mut daemon, &options.root, &wakes.poll),
        None => None,
    };
    startup::log_start(&mut daemon);
    startup::raise_priority(&mut daemon);
    process::trim_heap();
    let mut rounds = Rounds {
        options,
        timer: &wakes.timer,
        protection_timer: &wakes.protection_timer,
        notify: Notify::from_environment(),
        notified_s: process::now_s(),
        sampled_s: 0.0,
    };
    rounds.sample(&mut daemon);
    rounds.notify.send("READY=1");
    let ended = wakes.serve(&mut daemon, &mut rounds, &mut serving);
    rounds.notify.send("STOPPING=1");
    // The knobs are given back even if the loop failed.
    let all = daemon.stop();
    ended?;
    daemon
        .log()
        .line(Level::Notice, "daemon", format_args!("stopped"));
    Ok(all)
}

/// The descriptors that wake the event loop.
struct Wakes {
    poll: OwnedFd,
    signals: Signals,
    timer: Timer,
    protection_timer: Timer,
}

impl Wakes {
    fn new() -> io::Result<Wakes> {
        Ok(Wakes {
            signals: Signals::new()?,
            timer: Timer::new()?,
            protection_timer: Timer::new()?,
            poll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        })
    }

    fn watch(&self, daemon: &Daemon) -> io::Result<()> {
        let add = |fd: &dyn AsFd, number| {
            let data = epoll::EventData::new_u64(number);
            epoll::add(&self.poll, fd.as_fd(), data, epoll::EventFlags::IN)
        };
        add(&self.timer.0, TIMER)?;
        add(&self.signals.0, SIGNALS)?;
        add(&self.protection_timer.0, PROTECTION)?;
        if let Some(worker) = daemon.worker() {
            add(&worker.done_fd(), WORKER)?;
        }
        Ok(())
    }

    /// Serves events until a signal asks for the end.
    fn serve(
        &self,
        daemon: &mut Daemon,
        rounds: &mut Rounds,
        serving: &mut Option<Serving>,
    ) -> io::Result<()> {
        let mut events = Vec::with_capacity(16);
        loop {
            events.clear();
            match epoll::wait(
                &self.poll,
                rustix::buffer::spare_capacity(&mut events),
                None,
            ) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            for event in &events {
                let number = { event.data }.u64();
                match number {
                    TIMER => {
                        self.timer.take();
                        daemon.state().counts.wakes_timer += 1;
                        rounds.sample(daemon);
                    }
                    PROTECTION => {
                        self.protection_timer.take();
                        rounds.step_protection(daemon);
                    }
                    PRESSURE => rounds.answer_pressure(daemon),
                    WORKER => daemon.take_done(),
                    SIGNALS => match self.signals.take() {
                        Some(Asked::Stop) => return Ok(()),
                        Some(Asked::Reload) => rounds.reload(daemon),
                        None => {}
                    },
                    SERVING => self.answer(daemon, serving),
                    _ => {}
                }
            }
        }
    }

    /// Hands a document to the process that serves status and metrics.
    fn answer(&self, daemon: &mut Daemon, serving: &mut Option<Serving>) {
        let Some(process) = serving else { return };
        let alive = process.answer(|kind| match kind {
            Kind::Status => daemon.status(),
            Kind::Metrics => daemon.metrics(),
        });
        if !alive {
            let _ = epoll::delete(&self.poll, process.fd());
            let _ = process.ended();
            let text = format_args!(
                "the process that serves status and metrics has ended; the daemon goes on without"
            );
            daemon.log().line(Level::Warning, "sockets", text);
            *serving = None;
        }
    }
}

/// Takes the lock, under which the sockets are made. The option --dry-run makes no file, so it takes none. A dry run that
/// the configuration asks for is a service as any other, but runs beside one that has the lock.
fn take_lock(
    options: &Options,
    config: &Config,
    log: &mut Log,
) -> io::Result<Option<lock_file::Instance>> {
    if options.dry_run {
        if config.metrics != Listen::Nowhere {
            let text = format_args!(
                "--dry-run serves no metrics; a configuration with dry_run = true does"
            );
            log.line(Level::Notice, "sockets", text);
        }
        return Ok(None);
    }
    match lock_file::take(&options.root) {
        Err(error) if config.dry_run => {
            let text = format_args!("{error}; this dry run serves no status and no metrics");
            log.line(Level::Notice, "sockets", text);
            Ok(None)
        }
        taken => taken.map(Some),
    }
}

/// Starts the process that serves status and metrics; `None` where there is nothing to serve.
fn start_serving(daemon: &mut Daemon, root: &Path, poll: &OwnedFd) -> Option<Serving> {
    let config = daemon.config();
    let (listeners, errors) = Listeners::open(config.status.as_deref(), &config.metrics, root);
    for error in errors {
        let text = format_args!("{error}; the daemon goes on without this socket");
        daemon.log().line(Level::Warning, "sockets", text);
    }
    if listeners.all.is_empty() {
        return None;
    }
    let started = std::env::current_exe().and_then(|program| Serving::start(&program, listeners));
    let started = started.and_then(|serving| {
        let data = epoll::EventData::new_u64(SERVING);
        epoll::add(poll, serving.fd(), data, epoll::EventFlags::IN)?;
        Ok(serving)
    });
    started
        .map_err(|error| {
            let text = format_args!("no status and no metrics: {error}");
            daemon.log().line(Level::Warning, "sockets", text);
        })
        .ok()
}

/// The daemon's work at each wake.
struct Rounds<'a> {
    options: &'a Options,
    timer: &'a Timer,
    protection_timer: &'a Timer,
    notify: Notify,
    /// When systemd's watchdog was last notified.
    notified_s: f64,
    sampled_s: f64,
}

impl Rounds<'_> {
    fn sample(&mut self, daemon: &mut Daemon) {
        startup::start_notifier(daemon);
        let mut next_s = daemon.step();
        daemon.keep_learned();
        self.sampled_s = process::now_s();
        if let Some(interval_s) = self.notify.interval_s() {
            next_s = next_s.min(interval_s);
            self.notify_watchdog(self.sampled_s, interval_s);
        }
        // Far from the watermarks the sleep is a fiftieth longer, so that the timer's slack causes no
        // more than one wakeup in ten seconds.
        self.timer
            .set(if next_s >= 5.0 { next_s * 1.02 } else { next_s });
        self.step_protection(daemon);
    }

    /// Memory pressure: protection first, then a sample unless the last one was just now.
    fn answer_pressure(&mut self, daemon: &mut Daemon) {
        daemon.state().counts.wakes_pressure += 1;
        self.step_protection(daemon);
        if process::now_s() - self.sampled_s >= CLOSEST_S {
            self.sample(daemon);
        }
    }

    /// A step of protection. The next one has a timer only if it is due before the next sample.
    fn step_protection(&mut self, daemon: &mut Daemon) {
        let Some(next_s) = daemon.step_protection() else {
            return;
        };
        let strict = daemon.guard().is_some_and(|guard| guard.is_armed());
        let changed = self.notify.be_strict(strict);
        if let (Some(interval_s), true) = (self.notify.interval_s(), strict) {
            if changed {
                // The next sample may come too late for the shorter watchdog.
                self.timer.set(CLOSEST_S);
            }
            self.notify_watchdog(process::now_s(), interval_s);
        }
        let sample_s = self.sampled_s + daemon.state().next_sample_s - process::now_s();
        if next_s < sample_s {
            self.protection_timer.set(next_s);
        }
    }

    fn notify_watchdog(&mut self, now_s: f64, interval_s: f64) {
        if now_s - self.notified_s >= interval_s / 2.0 {
            self.notify.send("WATCHDOG=1");
            self.notified_s = now_s;
        }
    }

    fn reload(&mut self, daemon: &mut Daemon) {
        self.notify.reloading();
        match file::load(&self.options.config_place()) {
            Ok(mut config) => {
                self.options.override_config(&mut config);
                daemon.reload(config);
                self.sample(daemon);
                self.notify.send("READY=1\nSTATUS=");
            }
            Err(problems) => {
                for problem in problems {
                    let text = format_args!("{problem}");
                    daemon.log().line(Level::Error, "configuration", text);
                }
                let text = format_args!("the new configuration is refused: the old one stays");
                daemon.log().line(Level::Error, "configuration", text);
                self.notify.send(
                    "READY=1\nSTATUS=The new configuration is refused, the old one stays: hotsetd --check-config",
                );
            }
        }
    }
}
