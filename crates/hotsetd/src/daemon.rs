//! The loop's body: sample, decide, act, tell. Allocates nothing once it has run a few times.
use crate::act::{give_back, tell_done, After, Hands};
use crate::config::Config;
use crate::harden;
use crate::journal::{Journal, Value};
use crate::knobs::{self, Knobs};
use crate::log::{fault_of, Level, Log};
use crate::machine;
use crate::observe::Observer;
use crate::protect::Guard;
use crate::state::{KnobState, State};
use crate::worker::Worker;
use kernfs::knobs::Knob;
use kernfs::sampler::News;
use kernfs::{Root, Sample, Sampler};
use policy::{Action, Decision, Machine, Policy};
use std::io;
use std::path::{Path, PathBuf};

mod guarded;

/// Longest sleep: a change of the machine's habits is seen within a minute.
const LONGEST_SLEEP_S: f64 = 60.0;
const SHORTEST_SLEEP_S: f64 = 0.05;
/// Where no watermark scale factor above it is taken.
const OLD_CEILING: u32 = 1000;

/// Everything but what wakes it.
pub struct Daemon {
    root: PathBuf,
    config: Config,
    log: Log,
    sampler: Sampler,
    sample: Sample,
    observer: Observer,
    machine: Machine,
    policy: Policy,
    decision: Decision,
    knobs: Knobs,
    worker: Option<Worker>,
    state: State,
    /// `None`: protection is off.
    guard: Option<Guard>,
    /// In a dry run: the values that the knobs would have, and those that they had then.
    pretended: [Option<(u32, Option<u32>)>; 4],
}

const NAMES: [&str; 4] = [
    knobs::WATERMARK_SCALE_FACTOR,
    knobs::COMPACTION_PROACTIVENESS,
    knobs::VFS_CACHE_PRESSURE,
    knobs::NEGATIVE_DENTRY_LIMIT,
];

impl Daemon {
    /// Gives back what an earlier daemon left, and looks at the machine. Sampling has begun.
    ///
    /// # Errors
    /// When the journal is there and cannot be read, or no thread can be started.
    pub fn new(root: &Path, config: Config, mut log: Log) -> io::Result<Daemon> {
        let mut knobs = open_knobs(root, &config, &mut log)?;
        if knobs.journal().entries().is_empty() {
            // Nothing to give back.
        } else if config.dry_run {
            let words = format_args!("an earlier daemon left knobs changed; a dry run leaves them");
            log.line(Level::Notice, "knobs", words);
        } else {
            let words = format_args!("an earlier daemon was killed; giving back what it left");
            log.line(Level::Notice, "knobs", words);
            give_back(&mut knobs, &mut log);
        }
        let worker = match config.dry_run {
            true => None,
            false => Some(Worker::start(root)?),
        };
        let mut sampler = Sampler::new(Root::new(root), kernfs::Options::default());
        let mut sample = Sample::default();
        sampler.sample(&mut sample);
        let found = sampler.machine();
        let machine = machine::find(root, &found.release, found.page_size, &sample);
        let mut daemon = Daemon {
            root: root.to_owned(),
            policy: Policy::new(config.policy.clone(), machine),
            config,
            log,
            sampler,
            sample,
            observer: Observer::default(),
            machine,
            decision: Decision::default(),
            knobs,
            worker,
            state: State::new(harden::now_s(), harden::unix_s()),
            guard: None,
            pretended: [None; 4],
        };
        daemon.tell_news();
        daemon.open_guard();
        Ok(daemon)
    }

    /// One round. Returns the seconds until the next.
    pub fn step(&mut self) -> f64 {
        self.sampler.sample(&mut self.sample);
        self.state.counts.samples += 1;
        self.state.counts.unreadable += self.sample.errors.len() as u64;
        self.tell_news();
        self.observer.take(&self.sample);
        self.look_at_knobs();
        if self.config.dry_run {
            self.pretend();
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
        self.tell_forecast();
        self.act();
        let wanted = self.decision.next_sample_s;
        // Not a number is the near distance.
        let next_s = if wanted.is_nan() { 1.0 } else { wanted };
        self.state.next_sample_s = next_s.clamp(SHORTEST_SLEEP_S, LONGEST_SLEEP_S);
        self.state.next_sample_s
    }

    fn act(&mut self) {
        let mut refused = false;
        let mut hands = Hands {
            knobs: &mut self.knobs,
            worker: self.worker.as_mut(),
            log: &mut self.log,
            state: &mut self.state,
            tunables: &self.policy.config().tunables,
            seen: *self.observer.knobs(),
            now_s: self.sample.t,
        };
        if self.config.dry_run {
            // What the policy saw is what would be; the actuators must see what is.
            hands.seen = policy::Knobs::default();
        }
        for (action, reason) in self.decision.actions() {
            match hands.act(&action, reason) {
                After::Done => {}
                After::Refused => {
                    refused |=
                        matches!(action, Action::SetWatermarkScaleFactor(to) if to > OLD_CEILING);
                }
                After::Pretended => {
                    if let Some((which, to)) = knob_of(&action) {
                        let is = knob_in(&self.sample, which);
                        self.pretended[which] = Some((to, is));
                    }
                }
            }
        }
        if refused && self.machine.watermark_scale_factor_max > OLD_CEILING {
            self.machine.watermark_scale_factor_max = OLD_CEILING;
            let words =
                format_args!("this kernel takes {OLD_CEILING} at most: begun anew with that");
            self.log.line(Level::Warning, "policy", words);
            self.begin_anew();
        }
    }

    /// Shows the policy its own values, so that a dry run goes on as the real one would.
    fn pretend(&mut self) {
        for which in 0..4 {
            let is = knob_in(&self.sample, which);
            if self.pretended[which].is_some_and(|(_, was)| was != is) {
                // Somebody wrote the knob.
                self.pretended[which] = None;
            }
        }
        let shown = self.observer.knobs_mut();
        let places = [
            &mut shown.watermark_scale_factor,
            &mut shown.compaction_proactiveness,
            &mut shown.vfs_cache_pressure,
            &mut shown.negative_dentry_limit,
        ];
        for (place, pretended) in places.into_iter().zip(&self.pretended) {
            if let Some((to, _)) = pretended {
                *place = Some(*to);
            }
        }
    }

    /// Takes note of what the knobs hold: what is not ours any more is the administrator's.
    fn look_at_knobs(&mut self) {
        for (which, name) in NAMES.iter().enumerate() {
            let value = knob_in(&self.sample, which);
            self.state.knobs[which] = KnobState { name, value };
            let (Some(value), false) = (value, self.knobs.journal().entries().is_empty()) else {
                continue;
            };
            let words = Value::of(format_args!("{value}"));
            match self.knobs.look(name, &words) {
                Ok(false) => {}
                Ok(true) => {
                    self.state.counts.yields += 1;
                    let words =
                        format_args!("{name} = {value} is the administrator's: left to them");
                    self.log.line(Level::Notice, "knobs", words);
                }
                Err(fault) => {
                    let what = fault_of(&["journal"]);
                    self.log
                        .fault(self.sample.t, what, "journal", format_args!("{fault}"));
                }
            }
        }
    }

    /// Says which files of the kernel stopped or began giving what they should.
    fn tell_news(&mut self) {
        for news in self.sampler.news() {
            match news {
                News::Lost(error) => {
                    let what = fault_of(&["file", error.path.to_str().unwrap_or("")]);
                    let words = format_args!("{error}; whatever does not need it goes on");
                    self.log.fault(self.sample.t, what, "sample", words);
                }
                News::Back(path) => {
                    let what = fault_of(&["file", path.to_str().unwrap_or("")]);
                    let words = format_args!("{} can be read again", path.display());
                    self.log.well(what, "sample", words);
                }
            }
        }
    }

    fn tell_forecast(&mut self) {
        if !self.log.wants(Level::Forecast) {
            return;
        }
        let summary = &self.decision.summary;
        for node in &summary.nodes {
            let words = format_args!(
                "node {}: {} free (min {}, low {}, high {}), demand {:.0} +- {:.0} pages/s, low in \
                 {:.0} s (at the earliest {:.0} s); order {}: {} pages, none in {:.0} s",
                node.id,
                node.free,
                node.min,
                node.low,
                node.high,
                node.demand,
                node.demand_error,
                node.time_to_low_s.unwrap_or(f64::INFINITY),
                node.earliest_low_s.unwrap_or(f64::INFINITY),
                node.order.order,
                node.order.available,
                node.order.time_to_exhaustion_s.unwrap_or(f64::INFINITY),
            );
            self.log.line(Level::Forecast, "forecast", words);
        }
        let (rates, free) = (&summary.rates, &summary.free_pages);
        let words = format_args!(
            "demand {:.0}, reclaim: kswapd {:.0} (capacity {:.0}), direct {:.0}, proactive {:.0}, \
             compaction {:.0}, refaults {:.0} pages/s, {:.1} stalls/s; scale factor wanted {} of \
             {} to {}, correction {:.2}",
            rates.demand,
            rates.kswapd,
            rates.kswapd_capacity,
            rates.direct,
            rates.proactive,
            rates.compacted,
            rates.refaults,
            rates.allocstall,
            free.wanted,
            free.floor,
            free.cap,
            free.correction,
        );
        self.log.line(Level::Rates, "rates", words);
    }

    /// What the worker has done since.
    pub fn take_done(&mut self) {
        let now_s = harden::now_s();
        while let Some(done) = self.worker.as_mut().and_then(Worker::take_done) {
            tell_done(&done, now_s, &mut self.log, &mut self.state);
            self.tell_guard(&done);
        }
    }

    /// Takes another configuration. What it says of the journal, the sockets and the log's target
    /// needs a restart.
    pub fn reload(&mut self, config: Config) {
        self.log.set_verbosity(config.verbosity);
        let same = config.policy == self.config.policy;
        let old = std::mem::replace(&mut self.config, config);
        self.config.dry_run = old.dry_run;
        for (what, changed) in [
            ("journal", self.config.journal != old.journal),
            ("status", self.config.status != old.status),
            ("metrics", self.config.metrics != old.metrics),
            ("log", self.config.log != old.log),
            ("pressure", self.config.pressure != old.pressure),
        ] {
            if changed {
                let words = format_args!("{what}: takes effect at the next start");
                self.log.line(Level::Warning, "configuration", words);
            }
        }
        let words = format_args!("read again");
        self.log.line(Level::Notice, "configuration", words);
        if !same || self.config.protect != old.protect {
            self.begin_anew();
        }
    }

    /// A policy that has learned nothing takes what it finds for the administrator's: so it must
    /// find the originals.
    fn begin_anew(&mut self) {
        self.stop_guard();
        give_back(&mut self.knobs, &mut self.log);
        self.pretended = [None; 4];
        self.renew_guard();
        self.policy = Policy::new(self.config.policy.clone(), self.machine);
    }

    /// Gives everything back. Returns whether all of it could be.
    pub fn stop(&mut self) -> bool {
        self.stop_guard();
        give_back(&mut self.knobs, &mut self.log)
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

    /// The status document.
    pub fn status(&self) -> Vec<u8> {
        let journal = self.knobs.journal();
        let dry = self.config.dry_run;
        let mut document = crate::tell::status(&self.state, &self.policy, journal, dry);
        document["protect"] = self.guard.as_ref().map(Guard::status).into();
        let mut bytes = serde_json::to_vec(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The metrics.
    pub fn metrics(&self) -> Vec<u8> {
        let mut page = crate::tell::metrics(&self.state, self.config.dry_run);
        self.add_guard(&mut page);
        page.into_bytes()
    }
}

/// A knob as the sample has it, by its place in [`NAMES`].
fn knob_in(sample: &Sample, which: usize) -> Option<u32> {
    let knob = [
        Knob::WatermarkScaleFactor,
        Knob::CompactionProactiveness,
        Knob::VfsCachePressure,
        Knob::NegativeDentryLimit,
    ][which];
    sample
        .knobs
        .get(knob)
        .and_then(|value| value.try_into().ok())
}

/// The knob that an action sets, by its place in [`NAMES`].
fn knob_of(action: &Action) -> Option<(usize, u32)> {
    match action {
        Action::SetWatermarkScaleFactor(to) => Some((0, *to)),
        Action::SetCompactionProactiveness(to) => Some((1, *to)),
        Action::SetVfsCachePressure(to) => Some((2, *to)),
        Action::SetNegativeDentryLimit(to) => Some((3, *to)),
        _ => None,
    }
}

/// The knobs with the journal of this boot.
///
/// # Errors
/// When the journal is there and cannot be read.
pub fn open_knobs(root: &Path, config: &Config, log: &mut Log) -> io::Result<Knobs> {
    let boot = root.join("proc/sys/kernel/random/boot_id");
    let boot = std::fs::read_to_string(boot).unwrap_or_default();
    let path = crate::serve::below(root, &config.journal);
    let journal = Journal::open(&path, &boot).map_err(|error| {
        io::Error::new(error.kind(), format!("journal {}: {error}", path.display()))
    })?;
    for complaint in &journal.complaints {
        let words = format_args!("{}: {complaint}", path.display());
        log.line(Level::Warning, "journal", words);
    }
    Ok(Knobs::new(root, journal, config.dry_run))
}
