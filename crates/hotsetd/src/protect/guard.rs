//! One look and what it leads to.
use super::boost::{self, Boost};
use super::data::Data;
use super::eyes::Eyes;
use super::herald::Herald;
use super::kill::{Killer, Victim};
use super::locker::Locker;
use super::rivals::Rivals;
use super::settings::{Settings, When};
use super::slices::Slices;
use super::steer::{Swappiness, Turned, SWAPPINESS};
use crate::harden;
use crate::knobs::{Fault, Knobs, Outcome as Wrote};
use crate::log::{fault_of, Level, Log};
use crate::state::{Deed, State};
use crate::text::Text;
use crate::worker::{Job, Worker};
use policy::exhaustion::Cause;
use policy::floors::{clean_line, Steer};
use policy::protect::{Outcome, Protect};
use std::fmt;
use std::path::Path;

/// The series' sysctls; the last one switches it on, so it comes last.
const SERIES: [&str; 4] = [
    "vm.anon_min_ratio",
    "vm.clean_min_ratio",
    "vm.clean_low_ratio",
    "vm.workingset_protection",
];
/// A look that failed is tried again so soon.
const AGAIN_S: f64 = 0.1;
/// On a machine that is slow to look at (emulated ones) looks are rarer than the policy asks, so that
/// they take no more than this share of a CPU; and this share when only a kill can help.
const SHARE: f64 = 0.05;
const SHARE_AT_WORST: f64 = 0.5;
/// Nothing near for so long: vm.swappiness is forgotten in the journal as well.
const DISARM_S: f64 = 30.0;
/// Nearer than this the values that may be needed are journaled.
const ARM_S: f64 = 2.0;
/// And when it is so near, twice this at the fastest, vm.watermark_boost_factor is 0.
const SHORT_S: f64 = 0.25;

/// How often each thing was done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub looks: u64,
    pub steered: u64,
    pub kills: u64,
    pub pretended: u64,
    pub anon_reclaims: u64,
    /// Kills that could not be told of, for the herald was not quick enough.
    pub untold: u64,
}

/// What the guard works with, lent for a look.
pub struct Tools<'a> {
    pub knobs: &'a mut Knobs,
    pub worker: Option<&'a mut Worker>,
    pub log: &'a mut Log,
    pub state: &'a mut State,
}

/// Protection.
pub struct Guard {
    pub(super) settings: Settings,
    pub(super) eyes: Eyes,
    pub(super) protect: Protect,
    pub(super) swappiness: Swappiness,
    boost: Boost,
    /// `None` where nobody is to be killed.
    pub(super) killer: Option<Killer>,
    pub(super) herald: Option<Herald>,
    pub(super) rivals: Rivals,
    pub(super) locker: Option<Locker>,
    pub(super) slices: Option<Slices>,
    pub(super) outcome: Outcome,
    pub(super) counts: Counts,
    pub(super) last_victim: Option<(Victim, Cause, f64)>,
    /// The kernel keeps the floors itself.
    pub(super) series: bool,
    pub(super) total: u64,
    pub(super) swap: u64,
    near_s: f64,
    short_s: f64,
    slow_look_s: f64,
    /// CPU seconds that a look takes.
    cost_s: f64,
    armed: bool,
    no_anon_reclaim: bool,
}

impl Guard {
    /// Looks at the machine. `None` where protection is off.
    pub fn new(root: &Path, settings: Settings, dry: bool, tools: &mut Tools) -> Option<Guard> {
        if !settings.policy.enabled {
            return None;
        }
        let eyes = Eyes::new(root);
        let series = tools.knobs.read(SERIES[3]).is_ok();
        let kills = match settings.kill.when {
            When::Auto => !series,
            When::Always => true,
            When::Never => false,
        };
        let mut guard = Guard {
            protect: Protect::new(settings.policy.clone(), eyes.page_size()),
            eyes,
            swappiness: Swappiness::new(dry),
            boost: Boost::default(),
            killer: None,
            herald: None,
            rivals: Rivals::default(),
            locker: None,
            slices: Slices::new(root, &settings.cgroups),
            outcome: Outcome::default(),
            counts: Counts::default(),
            last_victim: None,
            series,
            total: 0,
            swap: 0,
            near_s: harden::now_s(),
            short_s: harden::now_s(),
            slow_look_s: f64::NEG_INFINITY,
            cost_s: 0.0,
            armed: false,
            no_anon_reclaim: false,
            settings,
        };
        guard.open_locker(root, dry, tools);
        if kills {
            guard.open_killer(root, dry, tools);
        }
        guard.greet(tools);
        Some(guard)
    }

    /// Locks at most a quarter of memory: what is locked can serve nobody else.
    fn open_locker(&mut self, root: &Path, dry: bool, tools: &mut Tools) {
        let page_size = self.eyes.page_size();
        let managed = |seen: &policy::sight::Sight| seen.whole().managed;
        self.total = self.eyes.look(true, 0, managed).unwrap_or(0);
        let budget = self.settings.lock_bytes.min(self.total * page_size / 4);
        if budget == 0 || dry {
            return;
        }
        let data = match Data::open(root, self.total * page_size) {
            Ok(data) => Some(data),
            Err(error) => {
                let words = format_args!(
                    "lock_mb: files that are read are not found: {error}; hotsetd.conf(5), lock_mb, has a \
                     drop-in"
                );
                tools.log.line(Level::Notice, "protect", words);
                None
            }
        };
        match Locker::start_with(root, budget, page_size, data) {
            Ok(locker) => self.locker = Some(locker),
            Err(error) => {
                let words = format_args!("lock_mb: no thread for it: {error}");
                tools.log.line(Level::Warning, "protect", words);
            }
        }
    }

    fn greet(&self, tools: &mut Tools) {
        let who = match self.series {
            true => "the kernel keeps the floors (vm.workingset_protection)",
            false => "a stock kernel: reclaim is steered by vm.swappiness",
        };
        let kill = match &self.killer {
            None => "kills nobody",
            Some(killer) if killer.pretends() => "says whom it would kill",
            Some(_) => "kills when memory is exhausted",
        };
        tools
            .log
            .line(Level::Notice, "protect", format_args!("{who}; {kill}"));
    }

    /// Whoever tells of kills from here on.
    pub fn set_herald(&mut self, herald: Option<Herald>) {
        self.herald = herald;
    }

    /// Gives back what was changed, as far as it is this guard's alone.
    pub fn stop(&mut self, tools: &mut Tools) {
        let turned = self.swappiness.disarm(tools.knobs);
        self.tell_turned(turned, harden::now_s(), tools);
        let given = self.boost.give_back(tools.knobs);
        boost::tell(given, tools);
    }

    /// This kernel cannot be asked for it.
    pub fn forgo_anon_reclaim(&mut self) {
        self.no_anon_reclaim = true;
    }

    /// May vm.swappiness be changed now?
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.armed && !self.series
    }

    /// For a guard that takes this one's place.
    pub fn take_herald(&mut self) -> Option<Herald> {
        self.herald.take()
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    #[must_use]
    pub fn kills(&self) -> bool {
        self.killer.is_some()
    }

    /// Share of memory that is file pages which reclaim is kept away from, 0 to 1; what is locked is
    /// on no list anyway.
    #[must_use]
    pub fn protected(&self) -> f64 {
        let locked = self.locker.as_ref().map_or(0, Locker::bytes) / self.eyes.page_size();
        let line = clean_line(self.outcome.floors).saturating_sub(locked);
        line as f64 / self.total.max(1) as f64
    }

    /// One look, and what it leads to. Returns the seconds until the next.
    pub fn look(&mut self, tools: &mut Tools) -> f64 {
        let now_s = harden::now_s();
        self.counts.looks += 1;
        let slow = now_s - self.slow_look_s >= 1.0;
        let (protect, total, swap) = (&mut self.protect, &mut self.total, &mut self.swap);
        let locked = self.locker.as_ref().map_or(0, Locker::bytes) / self.eyes.page_size();
        let begun_s = harden::thread_cpu_s();
        let seen = self.eyes.look(slow, locked, |seen| {
            *total = seen.nodes.iter().map(|node| node.managed).sum();
            *swap = seen.swap_total;
            protect.look(seen)
        });
        let cost_s = harden::thread_cpu_s() - begun_s;
        self.cost_s += (cost_s - self.cost_s) / 8.0;
        if slow {
            self.slow_look_s = now_s;
            self.look_at_swappiness(tools);
            let memory = self.total * self.eyes.page_size();
            if let Some(slices) = &mut self.slices {
                slices.look(now_s, memory, self.eyes.page_size(), tools);
            }
        }
        let Some(outcome) = seen else {
            // The daemon's own samples tell which file it was.
            return AGAIN_S;
        };
        self.outcome = outcome;
        if outcome.resized {
            let found = self.protect.auto();
            let (clean, anon) = (found.clean, found.anon);
            let words = format_args!("auto: clean floor {clean:.1} %, anonymous {anon:.1} %");
            tools.log.line(Level::Forecast, "protect", words);
        }
        if self.series {
            self.set_series(tools);
        } else {
            self.steer(now_s, tools);
        }
        // What is locked is the first to go where neither type can be spared; one who takes memory
        // without end would only take that as well.
        if outcome.both {
            if let Some(locker) = &self.locker {
                locker.let_go();
            }
        }
        match outcome.exhausted {
            Some(cause) => self.kill(now_s, cause, tools),
            None => self.prepare(now_s, tools),
        }
        if let (Some((node, bytes)), false) = (outcome.reclaim_anon, self.series) {
            self.reclaim(node, bytes, tools);
        }
        let share = match outcome.pressing {
            true => SHARE_AT_WORST,
            false => SHARE,
        };
        outcome.next_s.max(self.cost_s / share)
    }

    fn steer(&mut self, now_s: f64, tools: &mut Tools) {
        let to = self.outcome.steer;
        if self.outcome.next_s < ARM_S || to != Steer::Admin {
            self.near_s = now_s;
        }
        let turned = if now_s == self.near_s {
            self.armed = true;
            self.swappiness.turn(to, tools.knobs)
        } else if self.armed && now_s - self.near_s >= DISARM_S {
            self.armed = false;
            self.swappiness.disarm(tools.knobs)
        } else {
            self.swappiness.turn(to, tools.knobs)
        };
        self.tell_turned(turned, now_s, tools);
        self.keep_from_boosting(now_s, tools);
    }

    fn keep_from_boosting(&mut self, now_s: f64, tools: &mut Tools) {
        if self.killer.is_none() {
            return;
        }
        if self.outcome.next_s < SHORT_S || self.outcome.steer != Steer::Admin {
            self.short_s = now_s;
            let held = self.boost.hold(tools.knobs);
            boost::tell(held, tools);
        } else if now_s - self.short_s >= DISARM_S {
            let given = self.boost.give_back(tools.knobs);
            boost::tell(given, tools);
        }
    }

    fn look_at_swappiness(&mut self, tools: &mut Tools) {
        if let turned @ Ok(Turned::Yielded { .. }) = self.swappiness.look(tools.knobs) {
            self.tell_turned(turned, harden::now_s(), tools);
        }
    }

    fn tell_turned(&mut self, turned: Result<Turned, Fault>, now_s: f64, tools: &mut Tools) {
        let fault = fault_of(&["knob", SWAPPINESS]);
        let floors = self.outcome.floors;
        let mib = |pages: u64| (pages * (self.eyes.page_size() >> 10)) >> 10;
        let (clean, anon) = (mib(self.outcome.clean), mib(self.outcome.anon));
        let floor = mib(floors.clean_min.max(floors.clean_low));
        let anon_floor = mib(floors.anon_min);
        let why = Text::<160>::of(format_args!(
            "clean file pages {clean} MiB of {floor}, anonymous {anon} MiB of {anon_floor}"
        ));
        match turned {
            Ok(Turned::Already) => {}
            Ok(Turned::Written { from, to }) => {
                self.counts.steered += 1;
                let words = format_args!("{SWAPPINESS} = {to} (was {from}): {why}");
                tools.log.line(Level::Action, "protect", words);
                let what = Text::of(format_args!("{SWAPPINESS} = {to}"));
                remember(tools, what, &why, format_args!("written, was {from}"));
            }
            Ok(Turned::Dry { from, to }) => {
                let words =
                    format_args!("dry run: {SWAPPINESS} would become {to} (is {from}): {why}");
                tools.log.line(Level::Action, "protect", words);
            }
            Ok(Turned::Yielded { found }) => {
                tools.state.counts.yields += 1;
                let words =
                    format_args!("{SWAPPINESS} = {found} is the administrator's: left to them");
                tools.log.line(Level::Notice, "protect", words);
            }
            Err(problem) => {
                tools.state.counts.failures += 1;
                let words = format_args!("{SWAPPINESS}: {problem}");
                tools.log.fault(now_s, fault, "protect", words);
            }
        }
    }

    /// The sysctls of a kernel that keeps the floors itself.
    fn set_series(&mut self, tools: &mut Tools) {
        if self.armed && !self.outcome.resized {
            return;
        }
        self.armed = true;
        let [anon, clean, low] = self.protect.ratios(self.total);
        // Their sum is bounded: the first may be taken only once the second has been lowered.
        let values = [(0, anon), (1, clean), (2, low), (0, anon), (3, 1)];
        for (place, (at, value)) in values.into_iter().enumerate() {
            let name = SERIES[at];
            let value = Text::<8>::of(format_args!("{value}"));
            match tools.knobs.set(name, None, value.as_str()) {
                Ok(Wrote::Written { from }) => {
                    tools.state.counts.other_writes += 1;
                    let words = format_args!("{name} = {value} (was {from}): as configured");
                    tools.log.line(Level::Action, "protect", words);
                }
                Ok(Wrote::Dry { from }) => {
                    let words = format_args!("dry run: {name} would become {value} (is {from})");
                    tools.log.line(Level::Action, "protect", words);
                }
                Ok(Wrote::Yielded { found }) => {
                    tools.state.counts.yields += 1;
                    let words = format_args!("{name} = {found} is the administrator's");
                    tools.log.line(Level::Notice, "protect", words);
                }
                Ok(Wrote::Unchanged) => {}
                Err(Fault::Write(_)) if place == 0 => {}
                Err(problem) => {
                    tools.state.counts.failures += 1;
                    let words = format_args!("{name} = {value}: {problem}");
                    let fault = fault_of(&["knob", name]);
                    tools.log.fault(harden::now_s(), fault, "protect", words);
                }
            }
        }
    }

    fn reclaim(&mut self, node: u32, bytes: u64, tools: &mut Tools) {
        if let (Some(worker), false) = (&mut tools.worker, self.no_anon_reclaim) {
            if worker.ask(Job::ReclaimAnon { node, bytes }) {
                self.counts.anon_reclaims += 1;
            }
        }
    }
}

pub(super) fn remember(
    tools: &mut Tools,
    what: Text<96>,
    why: &Text<160>,
    outcome: fmt::Arguments,
) {
    tools.state.remember(Deed {
        at_unix_s: harden::unix_s(),
        what,
        reason: Text::of(format_args!("{why}")),
        outcome: Text::of(outcome),
    });
}
