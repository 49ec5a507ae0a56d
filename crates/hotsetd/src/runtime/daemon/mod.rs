//! One round of the event loop: sample, decide, act, report. After a few rounds a round allocates
//! nothing.
use crate::actuate::apply::{give_back, report_done, Actuators, After};
use crate::actuate::journal::Value;
use crate::actuate::knob_report::Now;
use crate::actuate::knobs::KnobWriter;
use crate::actuate::reclaim_worker::Worker;
use crate::config::settings::Config;
use crate::flight::Recording;
use crate::observe::machine;
use crate::observe::observation::Observer;
use crate::os::clock::Clock;
use crate::os::process;
use crate::protect::{self, Guard};
use crate::runtime::learned_file::LearnedFile;
use crate::runtime::restore::open_knobs;
use crate::telemetry::forecast::log_forecast;
use crate::telemetry::log::{condition, Level, Log};
use crate::telemetry::metrics;
use crate::telemetry::state::{KnobState, State};
use crate::telemetry::status::{self, Context, WrittenKnob};
use dry_run::PretendedKnobs;
use kernfs::sampler::News;
use kernfs::{Root, Sample, Sampler};
use policy::{Action, Decision, Machine, Policy};
use std::io;
use std::path::{Path, PathBuf};

mod dry_run;
mod policy_knobs;
mod protection;
mod recording;

/// Longest sleep in seconds: a change of load is noticed within a minute.
const LONGEST_SLEEP_S: f64 = 60.0;
const SHORTEST_SLEEP_S: f64 = 0.05;
/// The ceiling of vm.watermark_scale_factor of older kernels.
const OLD_CEILING: u32 = 1000;

/// The daemon without its event loop.
pub struct Daemon {
    root: PathBuf,
    config: Config,
    log: Log,
    clock: Clock,
    sampler: Sampler,
    sample: Sample,
    observer: Observer,
    machine: Machine,
    policy: Policy,
    decision: Decision,
    knobs: KnobWriter,
    worker: Option<Worker>,
    state: State,
    /// `None`: protection is off.
    guard: Option<Guard>,
    pretended: PretendedKnobs,
    learned: LearnedFile,
    recorder: Recording,
}

impl Daemon {
    /// Gives back the knobs that an earlier daemon left, and takes a first sample.
    ///
    /// # Errors
    /// The journal exists and cannot be read, or no thread can be started.
    pub fn new(root: &Path, config: Config, log: Log) -> io::Result<Daemon> {
        Daemon::with_clock(root, config, log, Clock::System)
    }

    /// [`Daemon::new`] with a clock of the caller's choice.
    ///
    /// # Errors
    /// As [`Daemon::new`].
    pub fn with_clock(
        root: &Path,
        config: Config,
        mut log: Log,
        clock: Clock,
    ) -> io::Result<Daemon> {
        let mut knobs = open_knobs(root, &config, &mut log)?;
        if knobs.journal().entries().is_empty() {
            // The journal has nothing to give back.
        } else if config.dry_run {
            let text = format_args!(
                "an earlier daemon left knobs changed: a dry run does not give them back"
            );
            log.line(Level::Notice, "knobs", text);
        } else {
            let text = format_args!("an earlier daemon was killed: its knobs are given back");
            log.line(Level::Notice, "knobs", text);
            give_back(&mut knobs, &mut log);
        }
        let worker = match config.dry_run {
            true => None,
            false => Some(Worker::start(root)?),
        };
        let mut sampler = Sampler::new(Root::new(root), kernfs::Options::default());
        let mut sample = Sample::default();
        sampler.sample(&mut sample);
        sample.t = clock.sample_s(sample.t);
        let found = sampler.machine();
        let machine = machine::find(root, &found.release, found.page_size, &sample);
        let learned = LearnedFile::open(root, &config, machine.page_size, &sample, &mut log);
        let mut policy = Policy::new(config.policy.clone(), machine);
        policy.recall(&learned.numbers, sample.t, learned.age_s(clock.unix_s()));
        let mut daemon = Daemon {
            root: root.to_owned(),
            policy,
            config,
            log,
            sampler,
            sample,
            observer: Observer::default(),
            machine,
            decision: Decision::default(),
            knobs,
            worker,
            state: State::new(clock.now_s(), clock.unix_s()),
            clock,
            guard: None,
            pretended: PretendedKnobs::default(),
            learned,
            recorder: Recording::default(),
        };
        daemon.log_lost_files();
        daemon.open_guard();
        Ok(daemon)
    }

    /// One round: a sample, a decision, its actions. Returns the seconds until the next
    /// round.
    pub fn step(&mut self) -> f64 {
        self.sampler.sample(&mut self.sample);
        self.sample.t = self.clock.sample_s(self.sample.t);
        self.state.counts.samples += 1;
        self.state.counts.unreadable_files += self.sample.errors.len() as u64;
        self.log_lost_files();
        self.observer.take(&self.sample);
        self.observe_knobs();
        if self.config.dry_run {
            let shown = self.observer.knobs_mut();
            self.pretended.show(&self.sample, shown);
        }
        let protected = self.guard.as_ref().map_or(0.0, Guard::protected);
        self.observer.protect(protected);
        let (policy, decision) = (&mut self.policy, &mut self.decision);
        self.observer.show(|seen| policy.observe(seen, decision));
        self.state.sampled_s = self.sample.t;
        self.state
            .summary
            .nodes
            .clone_from(&self.decision.summary.nodes);
        self.state.summary.free_pages = self.decision.summary.free_pages;
        self.state.summary.rates = self.decision.summary.rates;
        log_forecast(&self.decision.summary, &mut self.log);
        self.act();
        let wanted = self.decision.next_sample_s;
        // NaN counts as the near interval.
        let next_s = if wanted.is_nan() { 1.0 } else { wanted };
        self.state.next_sample_s = next_s.clamp(SHORTEST_SLEEP_S, LONGEST_SLEEP_S);
        self.record(true);
        self.state.next_sample_s
    }

    fn act(&mut self) {
        let mut refused = false;
        let mut actuators = Actuators {
            knobs: &mut self.knobs,
            worker: self.worker.as_mut(),
            log: &mut self.log,
            state: &mut self.state,
            tunables: &self.policy.config().tunables,
            seen: *self.observer.knobs(),
            now: Now {
                monotonic_s: self.sample.t,
                unix_s: self.clock.unix_s(),
            },
        };
        if self.config.dry_run {
            // The policy was shown pretended values; the actuators need the real
            // ones.
            actuators.seen = policy::Knobs::default();
        }
        for (action, reason) in self.decision.actions() {
            match actuators.apply(&action, reason) {
                After::Done => {}
                After::Refused => {
                    refused |=
                        matches!(action, Action::SetWatermarkScaleFactor(to) if to > OLD_CEILING);
                }
                After::Pretended => self.pretended.pretend(&action, &self.sample),
            }
        }
        if refused && self.machine.watermark_scale_factor_max > OLD_CEILING {
            self.machine.watermark_scale_factor_max = OLD_CEILING;
            let text = format_args!(
                "this kernel takes {OLD_CEILING} at most: the policy starts anew with that ceiling"
            );
            self.log.line(Level::Warning, "policy", text);
            self.begin_anew();
        }
    }

    /// Takes note of the knobs' values: a value that is not the daemon's is the
    /// administrator's.
    fn observe_knobs(&mut self) {
        for (which, name) in policy_knobs::NAMES.iter().enumerate() {
            let value = policy_knobs::sampled(&self.sample, which);
            self.state.knobs[which] = KnobState { name, value };
            let (Some(value), false) = (value, self.knobs.journal().entries().is_empty()) else {
                continue;
            };
            let text = Value::of(format_args!("{value}"));
            let original = self.knobs.journal().entry(name).map(|entry| entry.original);
            match self.knobs.observe(name, &text) {
                Ok(false) => {}
                // Somebody has all sysctls set again: the policy goes on.
                Ok(true) if original == Some(text) => {}
                Ok(true) => {
                    self.state.counts.yields += 1;
                    let text =
                        format_args!("{name} = {value} is the administrator's value, and stays");
                    self.log.line(Level::Notice, "knobs", text);
                }
                Err(error) => {
                    let id = condition(&["journal"]);
                    self.log
                        .warn(self.sample.t, id, "journal", format_args!("{error}"));
                }
            }
        }
    }

    /// Logs which of the kernel's files became unreadable or readable again.
    fn log_lost_files(&mut self) {
        for news in self.sampler.news() {
            match news {
                News::Lost(error) => {
                    let id = condition(&["file", error.path.to_str().unwrap_or("")]);
                    let text = format_args!("{error}; modules that do not need the file go on");
                    self.log.warn(self.sample.t, id, "sample", text);
                }
                News::Back(path) => {
                    let id = condition(&["file", path.to_str().unwrap_or("")]);
                    let text = format_args!("{} can be read again", path.display());
                    self.log.resolved(id, "sample", text);
                }
            }
        }
    }

    /// Takes and reports the worker's results.
    pub fn take_done(&mut self) {
        let now = self.now();
        while let Some(done) = self.worker.as_mut().and_then(Worker::take_done) {
            report_done(&done, now, &mut self.log, &mut self.state);
            self.forgo_refused_reclaim(&done);
        }
    }

    /// Takes another configuration. Changes of the journal, the sockets, the pressure
    /// trigger and the log's target need a restart.
    pub fn reload(&mut self, config: Config) {
        self.log.set_verbosity(config.verbosity);
        let same = config.policy == self.config.policy;
        let old = std::mem::replace(&mut self.config, config);
        let dry_run = std::mem::replace(&mut self.config.dry_run, old.dry_run);
        for (section, changed) in [
            ("dry_run", dry_run != old.dry_run),
            ("journal", self.config.journal != old.journal),
            ("learned", self.config.learned != old.learned),
            ("flight", self.config.flight != old.flight),
            ("status", self.config.status != old.status),
            ("metrics", self.config.metrics != old.metrics),
            ("log", self.config.log != old.log),
            ("pressure", self.config.pressure != old.pressure),
        ] {
            if changed {
                let text = format_args!("{section}: the change takes effect at the next start");
                self.log.line(Level::Warning, "configuration", text);
            }
        }
        let text = format_args!("the configuration is read again");
        self.log.line(Level::Notice, "configuration", text);
        if !same || self.config.protect != old.protect {
            self.begin_anew();
        }
    }

    /// Starts a new policy. A new policy takes the knobs' values for the administrator's, so
    /// the originals are given back first.
    fn begin_anew(&mut self) {
        self.gather_learned();
        self.stop_guard();
        give_back(&mut self.knobs, &mut self.log);
        self.pretended = PretendedKnobs::default();
        self.renew_guard();
        self.policy = Policy::new(self.config.policy.clone(), self.machine);
        let learned = &self.learned.numbers;
        self.policy.recall(learned, self.sample.t, 0.0);
    }

    /// Writes what was learned, every ten minutes and while nothing stalls or is about to be killed. A thread
    /// writes, since a disk may be slow.
    pub fn keep_learned(&mut self) {
        let now_s = self.clock.now_s();
        let pressed = self.guard.as_ref().is_some_and(Guard::is_pressed);
        let stalls = self.decision.summary.rates.allocstall > 0.0;
        if self.learned.is_due(now_s) && !pressed && !stalls {
            self.gather_learned();
            self.learned.write_aside(now_s, self.clock.unix_s());
        }
    }

    fn gather_learned(&mut self) {
        self.policy.learned(&mut self.learned.numbers);
        if let Some(guard) = &mut self.guard {
            guard.policy.learned(&mut self.learned.numbers);
        }
        self.learned.as_of_unix_s = self.clock.unix_s();
    }

    fn now(&self) -> Now {
        Now {
            monotonic_s: self.clock.now_s(),
            unix_s: self.clock.unix_s(),
        }
    }

    /// Gives every knob back. Returns whether all could be given back.
    pub fn stop(&mut self) -> bool {
        self.stop_guard();
        let all = give_back(&mut self.knobs, &mut self.log);
        self.gather_learned();
        if let Err(error) = self.learned.write(self.clock.unix_s()) {
            let text = format_args!("what was learned is lost: {error}");
            self.log.line(Level::Warning, "learned", text);
        }
        all
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    pub fn state(&mut self) -> &mut State {
        &mut self.state
    }

    pub fn worker(&self) -> Option<&Worker> {
        self.worker.as_ref()
    }

    /// The status document, one line of JSON.
    pub fn status(&self) -> Vec<u8> {
        let written: Vec<_> = self
            .knobs
            .journal()
            .entries()
            .iter()
            .map(|entry| WrittenKnob {
                name: entry.knob.as_str(),
                original: entry.original.as_str(),
                value: entry.ours.iter().flatten().last().map(|ours| ours.as_str()),
            })
            .collect();
        let context = Context {
            policy: &self.policy,
            written: &written,
            dry_run: self.config.dry_run,
            now_s: self.clock.now_s(),
            cpu_s: process::cpu_s(),
            protect: self.guard.as_ref().map(protect::status::status),
        };
        let document = status::status(&self.state, context);
        let mut bytes = serde_json::to_vec(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The metrics as Prometheus' text.
    pub fn metrics(&self) -> Vec<u8> {
        let mut page = metrics::Page::new();
        metrics::write(
            &mut page,
            &self.state,
            self.config.dry_run,
            process::cpu_s(),
            self.policy.machine().page_size,
        );
        if let Some(guard) = &self.guard {
            protect::status::write_metrics(&protect::status::status(guard), &mut page);
        }
        page.finish().into_bytes()
    }
}
