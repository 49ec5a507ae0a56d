//! The loop: one thread, epoll; it sleeps until the forecast, pressure, a signal or a client wakes
//! it.
use crate::cli::Options;
use crate::daemon::Daemon;
use crate::harden;
use crate::instance::Instance;
use crate::load;
use crate::log::{Level, Log};
use crate::notify::Notify;
use crate::protect::herald::Herald;
use crate::protect::realtime;
use crate::serve::{self, Kind, Server};
use crate::wake::{self, Asked, Signals, Timer};
use rustix::event::epoll;
use rustix::fd::{AsFd, OwnedFd};
use std::io;

const TIMER: u64 = 1;
const SIGNALS: u64 = 2;
const PRESSURE: u64 = 3;
const WORKER: u64 = 4;
const LOOK: u64 = 5;
/// Two samples closer together than this tell no rate.
const CLOSEST_S: f64 = 0.1;

/// Runs until it is told to stop. Returns whether every knob was given back.
///
/// # Errors
/// What keeps it from starting. Nothing was written then.
pub fn run(options: &Options, config: crate::config::Config, mut log: Log) -> io::Result<bool> {
    // A dry run takes no lock and opens no socket: both would be files.
    let _instance = match config.dry_run {
        true => None,
        false => Some(take_instance(options)?),
    };
    harden::one_heap();
    // Before the worker's thread is started, so that it has them blocked as well.
    let signals = Signals::new()?;
    let timer = Timer::new()?;
    let look_timer = Timer::new()?;
    let mut notify = Notify::from_environment();
    if !config.dry_run {
        harden_against_want(&mut log);
    }
    let mut daemon = Daemon::new(&options.root, config, log)?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let watch = |fd: &dyn AsFd, number, flags| {
        epoll::add(&poll, fd.as_fd(), epoll::EventData::new_u64(number), flags)
    };
    watch(&timer.0, TIMER, epoll::EventFlags::IN)?;
    watch(&signals.0, SIGNALS, epoll::EventFlags::IN)?;
    watch(&look_timer.0, LOOK, epoll::EventFlags::IN)?;
    let _pressure = watch_pressure(&mut daemon, &poll);
    if let Some(worker) = daemon.worker() {
        watch(&worker.done_fd(), WORKER, epoll::EventFlags::IN)?;
    }
    let mut server = None;
    if !daemon.config().dry_run {
        let (opened, wrong) = Server::open(daemon.config(), &options.root, &poll);
        for words in wrong {
            daemon.log().line(
                Level::Warning,
                "sockets",
                format_args!("{words}; going on without"),
            );
        }
        server = Some(opened);
    }
    greet(&mut daemon);
    // While there is memory to start a process with.
    start_herald(&mut daemon);
    hasten(&mut daemon);
    harden::trim_heap();
    let mut awake = Awake {
        options,
        timer: &timer,
        look_timer: &look_timer,
        notify: &mut notify,
        told_s: harden::now_s(),
        sampled_s: 0.0,
    };
    awake.sample(&mut daemon);
    awake.notify.send("READY=1");

    let mut events = Vec::with_capacity(16);
    let stopped = 'loops: loop {
        events.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => break Err(errno),
        }
        for event in &events {
            let number = { event.data }.u64();
            match number {
                TIMER => {
                    timer.take();
                    daemon.state().counts.wakes_timer += 1;
                    awake.sample(&mut daemon);
                }
                LOOK => {
                    look_timer.take();
                    awake.look(&mut daemon);
                }
                PRESSURE => {
                    daemon.state().counts.wakes_pressure += 1;
                    awake.look(&mut daemon);
                    if harden::now_s() - awake.sampled_s >= CLOSEST_S {
                        awake.sample(&mut daemon);
                    }
                }
                WORKER => daemon.take_done(),
                SIGNALS => match signals.take() {
                    Some(Asked::Stop) => break 'loops Ok(()),
                    Some(Asked::Reload) => awake.reload(&mut daemon),
                    None => {}
                },
                _ => {
                    if let Some(server) = &mut server {
                        serve(server, number, &poll, &daemon, awake.sampled_s);
                    }
                }
            }
        }
        if let Some(server) = &mut server {
            server.tidy(awake.sampled_s);
        }
    };
    notify.send("STOPPING=1");
    // Whatever went wrong with the loop: first the knobs.
    let all = daemon.stop();
    stopped?;
    daemon
        .log()
        .line(Level::Notice, "daemon", format_args!("stopped"));
    Ok(all)
}

/// The lock, with words for whoever cannot have it.
///
/// # Errors
/// When another daemon runs, or its file cannot be made.
pub fn take_instance(options: &Options) -> io::Result<Instance> {
    let path = options.root.join("run/hotset/hotsetd.lock");
    Instance::take(&path).map_err(|error| {
        let words = match error.kind() {
            io::ErrorKind::WouldBlock => "another hotsetd runs; `hotset status` tells of it".into(),
            _ => error.to_string(),
        };
        io::Error::new(error.kind(), format!("{}: {words}", path.display()))
    })
}

fn harden_against_want(log: &mut Log) {
    if let Err(error) = harden::spare_from_oom_killer() {
        let words =
            format_args!("oom_score_adj cannot be set: {error}; the OOM killer may take us");
        log.line(Level::Warning, "daemon", words);
    }
    if let Err(error) = harden::lock_memory() {
        let words = format_args!("mlockall: {error}; when memory is short we may be slow");
        log.line(Level::Warning, "daemon", words);
    }
}

/// Whoever tells of kills.
fn start_herald(daemon: &mut Daemon) {
    let dry = daemon.config().dry_run;
    let kill = &daemon.config().protect.kill;
    let (hook, notify) = (kill.hook.clone(), kill.notify);
    let wanted = daemon.guard().is_some_and(|guard| guard.kills());
    if dry || !wanted || (hook.is_none() && !notify) {
        return;
    }
    let program = std::env::current_exe();
    match program.and_then(|program| Herald::start(&program, hook.as_deref(), notify)) {
        Ok(herald) => {
            if let Some(guard) = daemon.guard() {
                guard.set_herald(Some(herald));
            }
        }
        Err(error) => {
            let words = format_args!("nobody will be told of kills: {error}");
            daemon.log().line(Level::Warning, "protect", words);
        }
    }
}

/// Real-time priority, where protection is on.
fn hasten(daemon: &mut Daemon) {
    let priority = daemon.config().protect.realtime_priority;
    if daemon.config().dry_run || daemon.guard().is_none() || priority == 0 {
        return;
    }
    if let Err(error) = realtime::raise(priority) {
        let words = format_args!(
            "SCHED_FIFO {priority}: {error}; under load we may come late (realtime_priority)"
        );
        daemon.log().line(Level::Warning, "protect", words);
    }
}

fn watch_pressure(daemon: &mut Daemon, poll: &OwnedFd) -> Option<OwnedFd> {
    let settings = daemon.config().pressure;
    // Setting a trigger up is a write.
    if !settings.enabled || daemon.config().dry_run {
        return None;
    }
    let opened = wake::pressure_trigger(daemon.root(), settings).and_then(|fd| {
        let data = epoll::EventData::new_u64(PRESSURE);
        epoll::add(poll, &fd, data, epoll::EventFlags::PRI)?;
        Ok(fd)
    });
    match opened {
        Ok(fd) => Some(fd),
        Err(errno) => {
            let words = format_args!("no trigger ({errno}): pressure is seen at the next sample");
            daemon.log().line(Level::Notice, "pressure", words);
            None
        }
    }
}

fn greet(daemon: &mut Daemon) {
    let dry = match daemon.config().dry_run {
        true => ", dry run: nothing is written",
        false => "",
    };
    let level = daemon.config().policy.aggressiveness;
    let version = env!("CARGO_PKG_VERSION");
    let words = format_args!("hotsetd {version}, aggressiveness {level}{dry}");
    daemon.log().line(Level::Notice, "daemon", words);
}

fn serve(server: &mut Server, number: u64, poll: &OwnedFd, daemon: &Daemon, now_s: f64) {
    let tell = |kind| match kind {
        Kind::Status => daemon.status(),
        Kind::Metrics => daemon.metrics(),
    };
    match number {
        serve::STATUS => server.accept(Kind::Status, now_s, poll, tell),
        serve::METRICS => server.accept(Kind::Metrics, now_s, poll, tell),
        client => server.serve(client, poll, tell),
    }
}

/// What is done at each wake.
struct Awake<'a> {
    options: &'a Options,
    timer: &'a Timer,
    look_timer: &'a Timer,
    notify: &'a mut Notify,
    told_s: f64,
    sampled_s: f64,
}

impl Awake<'_> {
    fn sample(&mut self, daemon: &mut Daemon) {
        let mut next_s = daemon.step();
        self.sampled_s = harden::now_s();
        if let Some(interval_s) = self.notify.interval_s() {
            next_s = next_s.min(interval_s);
            self.tell_alive(self.sampled_s, interval_s);
        }
        // Far from everything a fiftieth more costs nothing, and keeps one wakeup in ten seconds from
        // being a little more than one.
        self.timer
            .set(if next_s >= 5.0 { next_s * 1.02 } else { next_s });
        self.look(daemon);
    }

    /// A quick look. One that would not come sooner than the next sample comes with it.
    fn look(&mut self, daemon: &mut Daemon) {
        let Some(next_s) = daemon.look() else {
            return;
        };
        let strict = daemon.guard().is_some_and(|guard| guard.is_armed());
        let changed = self.notify.be_strict(strict);
        if let (Some(interval_s), true) = (self.notify.interval_s(), strict) {
            if changed {
                // A sample that is further off than that is too late to tell in.
                self.timer.set(CLOSEST_S);
            }
            self.tell_alive(harden::now_s(), interval_s);
        }
        let sample_s = self.sampled_s + daemon.state().next_sample_s - harden::now_s();
        if next_s < sample_s {
            self.look_timer.set(next_s);
        }
    }

    fn tell_alive(&mut self, now_s: f64, interval_s: f64) {
        if now_s - self.told_s >= interval_s / 2.0 {
            self.notify.send("WATCHDOG=1");
            self.told_s = now_s;
        }
    }

    fn reload(&mut self, daemon: &mut Daemon) {
        let path = self.options.config_path();
        match load::load(&path, self.options.config.is_some()) {
            Ok(mut config) => {
                self.options.override_config(&mut config);
                daemon.reload(config);
                self.sample(daemon);
            }
            Err(problems) => {
                for problem in problems {
                    let words = format_args!("{problem}");
                    daemon.log().line(Level::Error, "configuration", words);
                }
                let words = format_args!("not taken: going on with the old one");
                daemon.log().line(Level::Error, "configuration", words);
            }
        }
    }
}
