//! One run of the command under one setting.
use super::header::ARMS;
use super::options::Options;
use super::plan::SCENE;
use crate::keeper::wire::{Bytes, Ending, Message, Order};
use crate::keeper::Keeper;
use crate::machine::counters::Reader;
use crate::machine::memory;
use crate::machine::settle::{self, Rest};
use crate::setting::{daemon, Setting};
use crate::FOLDER;
use anyhow::{bail, Context, Result};
use lab::host::stop::Stop;
use lab::run::schedule::Turn;
use names::shown;
use progress::{Console, Step};
use protocol::record::{Outcome, SceneRecord, Trial, SCHEMA};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two looks at what can be had of memory.
const LOOK: Duration = Duration::from_millis(50);
/// The time between two samples of gauges.
const SAMPLE: Duration = Duration::from_millis(500);
/// The time that hotsetd has to open its status socket.
const READY: Duration = Duration::from_secs(5);

/// A signal asked the trial to end.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Stopped;

/// What all runs need.
pub struct Bench<'a> {
    pub options: &'a Options,
    pub keeper: Keeper,
    pub reader: Reader,
    pub stop: &'a Stop,
    pub console: Console,
}

/// The files of a run's output: `console/a-0`, to which an ending is added.
pub struct Logs(pub PathBuf);

impl Logs {
    pub fn command(&self) -> PathBuf {
        self.0.with_extension("log")
    }

    fn of(&self, what: &str) -> PathBuf {
        self.0.with_extension(format!("{what}.log"))
    }
}

/// The gauges of a run, by name: milliseconds since its start, and values.
type Gauges = BTreeMap<String, Vec<(f64, f64)>>;

impl Bench<'_> {
    /// Makes a run. Its programs have ended and its setting is undone when this returns, whatever the result.
    pub fn run(&mut self, turn: &Turn, logs: &Logs) -> (Trial, Result<()>) {
        let begun = Instant::now();
        let setting = &self.options.settings[turn.arm];
        let mut trial = Trial {
            schema: SCHEMA,
            arm: ARMS[turn.arm].into(),
            repetition: turn.repetition,
            seed: turn.seed,
            outcome: Outcome::Ok,
            release: lab::host::kernel(),
            mem_total_kb: self.reader.meminfo().mem_total().unwrap_or(0),
            boot_s: 0.0,
            wall_s: 0.0,
            settings: BTreeMap::new(),
            scenes: Vec::new(),
            events: Vec::new(),
            gauges: Gauges::new(),
            console_tail: Vec::new(),
        };
        let made = self
            .settled()
            .and_then(|()| self.measured(setting, logs, &mut trial));
        let undone = self.undo(setting);
        trial.wall_s = begun.elapsed().as_secs_f64();
        let result = made.and(undone);
        if let Err(error) = &result {
            let message = format!("{error:#}");
            trial.outcome = Outcome::Failed { message };
            trial.console_tail = tail(&logs.command());
        }
        (trial, result)
    }

    fn settled(&mut self) -> Result<()> {
        let root = &self.options.root;
        match settle::settle(root, self.stop) {
            Rest::Stopped => bail!(Stopped),
            Rest::Restless => {
                self.note("dirty pages are still being written after a minute; the run begins")
            }
            Rest::Settled => {}
        }
        match self.options.cold {
            true => settle::drop_caches(root),
            false => Ok(()),
        }
    }

    fn note(&mut self, text: &str) {
        self.console.step(Step::Note { text: text.into() });
    }

    fn measured(&mut self, setting: &Setting, logs: &Logs, trial: &mut Trial) -> Result<()> {
        let options = self.options;
        self.apply(setting, logs, trial)?;
        if !options.beside.is_empty() {
            let (lines, log) = (options.beside.clone(), logs.of("beside").into());
            self.keeper.ask(&Order::Beside { lines, log })?;
        }
        let begun = Instant::now();
        self.watch(begun, Some(options.lead), &mut Gauges::new(), logs)?;
        let ms = || begun.elapsed().as_secs_f64() * 1000.0;
        let words = options.command.iter().map(Bytes::from).collect();
        let (begin_ms, before) = (ms(), self.reader.counters());
        let log = logs.command().into();
        self.keeper.ask(&Order::Command { words, log })?;
        let ending = self.watch(begun, None, &mut trial.gauges, logs)?;
        let after = self.reader.counters();
        let ending = ending.context("the command has no end")?;
        let mut scene = SceneRecord {
            name: SCENE.into(),
            begin_ms,
            end_ms: ms(),
            ..SceneRecord::default()
        };
        let growth = after.into_iter().filter_map(|(name, after)| {
            let before = before.get(&name)?;
            Some((name, after - before))
        });
        scene.counters = growth.collect();
        observe(&mut scene, &ending);
        trial.scenes.push(scene);
        if !ending.is_good() {
            let name = shown(Path::new(&options.command[0])).to_string();
            bail!(
                "{name} {ending}; its output is in {}",
                shown(&logs.command())
            );
        }
        Ok(())
    }

    /// Puts the setting into force.
    fn apply(&mut self, setting: &Setting, logs: &Logs, trial: &mut Trial) -> Result<()> {
        let root = &self.options.root;
        for (knob, value) in &setting.sysctls {
            let (knob, value) = (knob.clone(), value.clone());
            let path = root.sysctl(&knob);
            self.keeper.ask(&Order::Set { knob, value })?;
            let now = std::fs::read_to_string(&path).with_context(|| shown(&path).to_string())?;
            let now = now.lines().next().unwrap_or_default().trim().to_string();
            trial
                .settings
                .insert(path.to_string_lossy().into_owned(), now);
        }
        let Some(lines) = &setting.daemon else {
            return Ok(());
        };
        let folder = root.path(FOLDER);
        let files = daemon::configure(root, &folder, Path::new(FOLDER), lines)?;
        let program = daemon::program()?;
        let words = [
            Bytes::from(&program),
            "--root".into(),
            root.directory().into(),
            "--config".into(),
            (&files.config).into(),
            "--log".into(),
            "stderr".into(),
        ];
        let log = logs.of("hotsetd").into();
        self.keeper.ask(&Order::Daemon {
            words: words.into(),
            log,
        })?;
        let begun = Instant::now();
        while !files.socket.exists() && begun.elapsed() < READY {
            self.events(logs)?;
        }
        Ok(())
    }

    /// Waits for the next event, for a look's time. Returns the command's ending.
    fn events(&mut self, logs: &Logs) -> Result<Option<Ending>> {
        let event = self.keeper.event(self.stop.as_fd(), LOOK)?;
        if self.stop.asked() {
            bail!(Stopped);
        }
        match event {
            Some(Message::Command(ending)) => Ok(Some(ending)),
            Some(Message::Beside { line, ending }) => bail!(
                "--beside {line} {ending}; its output is in {}. A line that may fail ends with || true",
                shown(&logs.of("beside"))
            ),
            Some(Message::Daemon(ending)) => {
                bail!("hotsetd {ending}; its log is in {}", shown(&logs.of("hotsetd")))
            }
            Some(Message::Done { .. } | Message::Failed { .. }) | None => Ok(None),
        }
    }

    /// Watches events, signals and memory, until the time is over or, without one, until the command ends.
    fn watch(
        &mut self,
        begun: Instant,
        time: Option<Duration>,
        gauges: &mut Gauges,
        logs: &Logs,
    ) -> Result<Option<Ending>> {
        let since = Instant::now();
        let mut sampled: Option<Instant> = None;
        loop {
            if sampled.is_none_or(|at| at.elapsed() >= SAMPLE) {
                sampled = Some(Instant::now());
                let t_ms = begun.elapsed().as_secs_f64() * 1000.0;
                for (name, value) in self.reader.gauges() {
                    gauges.entry(name).or_default().push((t_ms, value));
                }
            }
            self.memory()?;
            if time.is_some_and(|time| since.elapsed() >= time) {
                return Ok(None);
            }
            if let Some(ending) = self.events(logs)? {
                return Ok(Some(ending));
            }
        }
    }

    /// Ends the run before memory is exhausted.
    fn memory(&mut self) -> Result<()> {
        let now = self.reader.meminfo();
        let (left, bound) = (memory::obtainable(now), memory::bound(now));
        if left >= bound || self.options.allow_oom {
            return Ok(());
        }
        let text = |kib: u64| units::format_bytes(kib as f64 * 1024.0);
        bail!(
            "memory is nearly exhausted: {} are left of free memory, page cache and swap, less than {}. The programs \
             are ended; take less memory, or give --allow-oom",
            text(left),
            text(bound)
        )
    }

    /// Ends the programs, and undoes the setting.
    fn undo(&mut self, setting: &Setting) -> Result<()> {
        let programs = self.keeper.ask(&Order::EndPrograms).map(drop);
        let daemon = match setting.daemon {
            Some(_) => self.keeper.ask(&Order::EndDaemon),
            None => Ok(Vec::new()),
        };
        let knobs = self.keeper.ask(&Order::GiveBack);
        for text in daemon.iter().chain(&knobs).flatten() {
            self.console.step(Step::Note { text: text.clone() });
        }
        self.keeper.forget();
        programs.and(daemon.map(drop)).and(knobs.map(drop))
    }
}

fn observe(scene: &mut SceneRecord, ending: &Ending) {
    for (name, value) in [
        ("command.wall_s", ending.wall_s),
        ("command.user_s", ending.user_s),
        ("command.system_s", ending.system_s),
        ("command.max_rss_mib", ending.max_rss_kb as f64 / 1024.0),
        ("command.minor_faults", ending.minor_faults as f64),
        ("command.major_faults", ending.major_faults as f64),
    ] {
        let point = (scene.end_ms, value);
        scene.observations.insert(name.into(), vec![point]);
    }
}

/// The last lines of a log.
fn tail(path: &Path) -> Vec<String> {
    const LINES: usize = 20;
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines[from..].iter().map(|line| line.to_string()).collect()
}
