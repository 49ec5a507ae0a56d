//! From exhaustion to the kill, and the reports of it.
use super::kill::{Killed, Killer, Victim};
use super::low_memory::Level as WarningLevel;
use super::notifier::{Notices, Notifier};
use super::other_killers::OtherKillers;
use super::processes::{Processes, REMEMBER_S};
use crate::os::fixed_string::Text;
use crate::protect::context::{Tools, MODULE};
use crate::protect::settings;
use crate::telemetry::log::{condition, Level};
use policy::exhaustion::Cause;
use std::path::Path;

/// Whether the daemon kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Never,
    /// The victim is named in the log, and lives.
    DryRun,
    WhenExhausted,
}

impl Mode {
    /// What the daemon does when memory is exhausted, for the log.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Mode::Never => "hotsetd kills nobody",
            Mode::DryRun => "hotsetd names whom it would kill when memory is exhausted",
            Mode::WhenExhausted => "hotsetd kills when memory is exhausted",
        }
    }
}

/// Memory that is exhausted. In pages of `page_size` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustion {
    pub cause: Cause,
    /// Seconds until memory ends, at the rate at which it shrinks.
    pub ends_s: f64,
    /// All memory and swap of the machine.
    pub memory_and_swap: u64,
    /// Clean file pages.
    pub clean: u64,
    /// Hard floor under clean file pages.
    pub clean_min: u64,
    pub page_size: u64,
}

impl Exhaustion {
    fn mib(&self, pages: u64) -> u64 {
        (pages * (self.page_size >> 10)) >> 10
    }

    fn reason(&self) -> Text<160> {
        let swap = match self.cause {
            Cause::SwapFull => "swap is full",
            Cause::SwapStuck => "swap takes no pages",
        };
        Text::of(format_args!(
            "{swap}, and clean file pages are at {} MiB (floor {} MiB)",
            self.mib(self.clean),
            self.mib(self.clean_min)
        ))
    }
}

/// The MESSAGE_ID of a kill in journald.
const KILL_ID: &str = "7c2d9b1e64f34a5c8e0f3ab1d96a20c7";

/// The last kill.
#[derive(Clone, Copy, Debug)]
pub struct LastKill {
    pub victim: Victim,
    pub cause: Cause,
    /// Seconds since 1970.
    pub at_unix_s: f64,
}

/// Events since protection began.
#[derive(Clone, Copy, Debug, Default)]
pub struct KillCounts {
    /// Kills, a fork storm counted once.
    pub kills: u64,
    /// Kills of a dry run.
    pub dry_run: u64,
    /// Kills that nobody was notified of, because the notifier was still busy.
    pub unnotified: u64,
}

/// Kills when memory is exhausted. The default kills nobody.
#[derive(Default)]
pub struct KillController {
    /// `None`: nobody is killed.
    killer: Option<Killer>,
    notifier: Option<Notifier>,
    other_killers: OtherKillers,
    /// Nobody is killed while another killer runs.
    yields: bool,
    last: Option<LastKill>,
    counts: KillCounts,
}

impl KillController {
    /// Opens /proc below `root`, and takes a first sample of the processes. Where that fails, nobody is
    /// killed. `dry`: the daemon writes nothing.
    pub(in crate::protect) fn open(
        root: &Path,
        page_size: u64,
        settings: &settings::Kill,
        dry: bool,
        tools: &mut Tools,
    ) -> KillController {
        let mut controller = KillController::default();
        match Processes::open(root, page_size) {
            Ok(processes) => {
                let rules = settings.rules.clone();
                let dry_run = dry || settings.dry_run;
                let mut killer = Killer::new(processes, rules, dry_run, tools.clock.clone());
                if !killer.has_pidfds() {
                    let message = format_args!(
                        "this kernel has no pidfd_open (Linux 5.3): a victim is checked just before its SIGKILL, and gets \
                         no SIGTERM first"
                    );
                    tools.log.line(Level::Notice, MODULE, message);
                }
                killer.prepare(tools.clock.now_s(), 0);
                controller.killer = Some(killer);
                controller.yields = settings.when == settings::When::Auto;
                controller.find_other_killers(tools);
            }
            Err(errno) => {
                let message = format_args!(
                    "{}/proc cannot be opened: {errno}; nobody will be killed",
                    root.display()
                );
                tools.log.line(Level::Warning, MODULE, message);
            }
        }
        controller
    }

    pub fn set_notifier(&mut self, notifier: Option<Notifier>) {
        self.notifier = notifier;
    }

    pub fn take_notifier(&mut self) -> Option<Notifier> {
        self.notifier.take()
    }

    /// Whether there is a notifier that gives these notices.
    pub fn has_notifier(&mut self, notices: &Notices) -> bool {
        let notifier = self.notifier.as_mut();
        notifier.is_some_and(|notifier| notifier.runs(notices))
    }

    /// Warns programs, if there is a notifier that does.
    pub(in crate::protect) fn warn(&self, level: WarningLevel) {
        if let Some(notifier) = &self.notifier {
            notifier.warn(level);
        }
    }

    /// Whether victims are chosen, be it in a dry run.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.killer.is_some()
    }

    #[must_use]
    pub fn mode(&self) -> Mode {
        match &self.killer {
            None => Mode::Never,
            _ if self.stands_back() => Mode::Never,
            Some(killer) if killer.is_dry_run() => Mode::DryRun,
            Some(_) => Mode::WhenExhausted,
        }
    }

    /// Whether the kill is left to another killer: two kill twice for one shortage.
    fn stands_back(&self) -> bool {
        self.yields && self.other_killers != OtherKillers::default()
    }

    #[must_use]
    pub fn last_kill(&self) -> Option<&LastKill> {
        self.last.as_ref()
    }

    #[must_use]
    pub fn other_killers(&self) -> OtherKillers {
        self.other_killers
    }

    #[must_use]
    pub fn counts(&self) -> KillCounts {
        self.counts
    }

    /// Memory is exhausted: kills, unless the last victim's memory is still on its way. Returns the
    /// seconds that a kill took.
    pub(in crate::protect) fn kill(
        &mut self,
        now_s: f64,
        exhaustion: &Exhaustion,
        tools: &mut Tools,
    ) -> Option<f64> {
        if self.stands_back() {
            return None;
        }
        let killer = self.killer.as_mut()?;
        let wrong = condition(&["kill"]);
        let (ends_s, total) = (exhaustion.ends_s, exhaustion.memory_and_swap);
        match killer.kill(now_s, ends_s, total, exhaustion.page_size) {
            Killed::Waiting => None,
            Killed::Nobody => {
                let message = format_args!(
                    "memory is exhausted, but no process may be killed or is worth it; the kernel's OOM \
                     killer is left to act"
                );
                tools.log.warn(now_s, wrong, MODULE, message);
                None
            }
            Killed::Unlisted(errno) => {
                tools.state.counts.failures += 1;
                let message = format_args!(
                    "memory is exhausted, but /proc cannot be listed: {errno}; trying again"
                );
                tools.log.warn(now_s, wrong, MODULE, message);
                None
            }
            Killed::Failed(victim, errno) => {
                tools.state.counts.failures += 1;
                let message = format_args!(
                    "memory is exhausted, but {} (pid {}) cannot be killed: {errno}; trying another",
                    victim.name, victim.pid
                );
                tools.log.warn(now_s, wrong, MODULE, message);
                None
            }
            Killed::Insisted(pid) => {
                let message = format_args!("process {pid} has not ended when asked: killed");
                tools.log.line(Level::Warning, MODULE, message);
                None
            }
            Killed::Done(victim) => {
                self.report(victim, exhaustion, tools);
                Some(f64::from(victim.took_us) / 1e6)
            }
        }
    }

    fn report(&mut self, victim: Victim, exhaustion: &Exhaustion, tools: &mut Tools) {
        match victim.dry_run {
            true => self.counts.dry_run += 1,
            false => self.counts.kills += 1,
        }
        let verb = match (victim.dry_run, victim.asked) {
            (true, _) => "would kill",
            (false, true) => "asked to end",
            (false, false) => "killed",
        };
        let action = Text::of(format_args!("{verb} {} ({})", victim.name, victim.pid));
        let reason = exhaustion.reason();
        let (mib, count) = (exhaustion.mib(victim.memory), victim.count);
        let message = format_args!(
            "{action}, uid {}, {mib} MiB in {count} processes, score {} MiB, in {} us: {reason}",
            victim.uid,
            exhaustion.mib(victim.score.max(0) as u64),
            victim.took_us,
        );
        let bytes = victim.memory * exhaustion.page_size;
        let fields: [(&str, &dyn std::fmt::Display); 7] = [
            ("HOTSET_PID", &victim.pid),
            ("HOTSET_UID", &victim.uid),
            ("HOTSET_NAME", &victim.name),
            ("HOTSET_CGROUP", &victim.cgroup),
            ("HOTSET_COUNT", &victim.count),
            ("HOTSET_BYTES", &bytes),
            ("HOTSET_REASON", &reason),
        ];
        tools
            .log
            .event(Level::Warning, MODULE, message, KILL_ID, &fields);
        let freed = format_args!("{mib} MiB in {count} processes");
        tools.remember(action, reason.as_str(), freed);
        if let Some(notifier) = &self.notifier {
            let sent = notifier.send(&victim, exhaustion.cause, exhaustion.page_size);
            if sent.is_err() {
                self.counts.unnotified += 1;
            }
        }
        self.last = Some(LastKill {
            victim,
            cause: exhaustion.cause,
            at_unix_s: tools.clock.unix_s(),
        });
    }

    /// Samples the processes, because a kill may become due. `pressing`: only a kill can help. `small`: pages below
    /// which a process is not worth a kill.
    pub(in crate::protect) fn prepare(
        &mut self,
        now_s: f64,
        pressing: bool,
        small: u64,
        tools: &mut Tools,
    ) {
        let Some(killer) = &mut self.killer else {
            return;
        };
        // Reading all of /proc takes longer than a hog takes to use up the memory that is left. At the last
        // moment an older sample is used.
        let age_s = match pressing {
            true => REMEMBER_S * 4.0,
            false => REMEMBER_S,
        };
        if killer.processes().age_s(now_s) >= age_s {
            killer.prepare(now_s, small);
            self.find_other_killers(tools);
        }
    }

    fn find_other_killers(&mut self, tools: &mut Tools) {
        let Some(killer) = &self.killer else { return };
        let found = OtherKillers::among(killer.processes().list());
        for name in found.new_since(self.other_killers) {
            let (level, message) = match self.yields {
                true => (
                    Level::Notice,
                    "the kill is left to it; stop it, or set when = \"always\"",
                ),
                false => (
                    Level::Warning,
                    "both would kill for one shortage; stop one, or set when = \"auto\"",
                ),
            };
            let message =
                format_args!("{name} runs as well: {message} in [protect.kill] (hotsetd.conf(5))");
            tools.log.line(level, MODULE, message);
        }
        self.other_killers = found;
    }
}
