//! From exhaustion to the kill, and the reports of it.
use super::kill::{Killed, Killer, Victim};
use super::other_killers::OtherKillers;
use super::processes::Processes;
use crate::os::fixed_string::Text;
use crate::protect::context::{mib, Tools, MODULE};
use crate::protect::settings::{Kill, When};
use crate::telemetry::log::{condition, Level};
use crate::telemetry::state::PastAction;
use policy::exhaustion::Cause;
use policy::protect::Outcome;
use policy::victim::least;
use status::Kills;
use std::path::Path;

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

/// Kills when memory is exhausted.
pub struct KillController {
    killer: Killer,
    /// Bytes.
    page_size: u64,
    pub other_killers: OtherKillers,
    /// Nobody is killed while another killer runs.
    yields: bool,
    pub last: Option<LastKill>,
}

impl KillController {
    /// Opens /proc below `root`, and takes a first sample of the processes. `None`: that fails, and nobody is
    /// killed. `dry`: the daemon writes nothing.
    pub(in crate::protect) fn open(
        root: &Path,
        page_size: u64,
        settings: &Kill,
        dry: bool,
        tools: &mut Tools,
    ) -> Option<KillController> {
        let processes = match Processes::open(root, page_size, settings.rules.clone()) {
            Ok(processes) => processes,
            Err(errno) => {
                let root = root.display();
                let message =
                    format_args!("{root}/proc cannot be opened: {errno}; nobody will be killed");
                tools.log.line(Level::Warning, MODULE, message);
                return None;
            }
        };
        let dry_run = dry || settings.dry_run;
        let mut killer = Killer::new(processes, dry_run, tools.clock.clone());
        if !killer.has_pidfds() {
            let message = format_args!(
                "this kernel has no pidfd_open (Linux 5.3): a victim is checked just before its SIGKILL, and gets \
                 no SIGTERM first"
            );
            tools.log.line(Level::Notice, MODULE, message);
        }
        killer.prepare(tools.clock.now_s(), false, 0);
        let mut controller = KillController {
            killer,
            page_size,
            other_killers: OtherKillers::default(),
            yields: settings.when == When::Auto,
            last: None,
        };
        controller.find_other_killers(tools);
        Some(controller)
    }

    /// The processes, as they were last sampled.
    pub fn processes(&mut self) -> &mut Processes {
        &mut self.killer.processes
    }

    #[must_use]
    pub fn kills(&self) -> Kills {
        match self.killer.dry_run {
            _ if self.stands_back() => Kills::Never,
            true => Kills::DryRun,
            false => Kills::WhenExhausted,
        }
    }

    /// Whether the kill is left to another killer: two kill twice for one shortage.
    fn stands_back(&self) -> bool {
        self.yields && self.other_killers != OtherKillers::default()
    }

    /// Memory is exhausted by `cause`: kills, unless the last victim's memory is still on its way. `total`: pages of
    /// memory and swap.
    pub(in crate::protect) fn kill(
        &mut self,
        now_s: f64,
        cause: Cause,
        decision: &Outcome,
        total: u64,
        tools: &mut Tools,
    ) -> Option<Victim> {
        if self.stands_back() {
            return None;
        }
        let done = self
            .killer
            .kill(now_s, decision.ends_s, total, self.page_size);
        let problem = match done {
            Killed::Waiting => return None,
            Killed::Done(victim) => {
                self.report(victim, cause, decision, tools);
                return Some(victim);
            }
            Killed::Insisted(pid) => {
                let message = format_args!("process {pid} has not ended when asked: killed");
                tools.log.line(Level::Warning, MODULE, message);
                return None;
            }
            Killed::Nobody => Text::<160>::of(format_args!(
                "no process may be killed or is worth it; the kernel's OOM killer is left to act"
            )),
            Killed::Unlisted(errno) => Text::of(format_args!(
                "/proc cannot be listed: {errno}; trying again"
            )),
            Killed::Failed(victim, errno) => Text::of(format_args!(
                "{} (pid {}) cannot be killed: {errno}; trying another",
                victim.name, victim.pid
            )),
        };
        tools.state.counts.failures += u64::from(done != Killed::Nobody);
        let message = format_args!("memory is exhausted, but {problem}");
        let wrong = condition(&["kill"]);
        tools.log.warn(now_s, wrong, MODULE, message);
        None
    }

    fn report(&mut self, victim: Victim, cause: Cause, decision: &Outcome, tools: &mut Tools) {
        let verb = match (victim.dry_run, victim.asked) {
            (true, _) => "would kill",
            (false, true) => "asked to end",
            (false, false) => "killed",
        };
        let action = Text::of(format_args!("{verb} {} ({})", victim.name, victim.pid));
        let swap = match cause {
            Cause::SwapFull => "swap is full",
            Cause::SwapStuck => "swap takes no pages",
        };
        let mib = |pages| mib(pages, self.page_size);
        let reason = Text::<160>::of(format_args!(
            "{swap}, and clean file pages are at {} MiB (floor {} MiB)",
            mib(decision.clean),
            mib(decision.floors.clean_min)
        ));
        let freed = Text::<64>::of(format_args!(
            "{} MiB in {} processes",
            mib(victim.memory),
            victim.count
        ));
        let message = format_args!(
            "{action}, uid {}, {freed}, score {} MiB, in {} us: {reason}",
            victim.uid,
            mib(victim.score.max(0) as u64),
            victim.took_us,
        );
        let bytes = victim.memory * self.page_size;
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
        let at_unix_s = tools.clock.unix_s();
        tools.state.remember(PastAction {
            at_unix_s,
            action,
            reason: Text::of(format_args!("{reason}")),
            outcome: Text::of(format_args!("{freed}")),
        });
        self.last = Some(LastKill {
            victim,
            cause,
            at_unix_s,
        });
    }

    /// To be called at each sample: notices the end of the last victim.
    pub(in crate::protect) fn notice_end(&mut self, now_s: f64) {
        self.killer.notice_end(now_s);
    }

    /// Samples the processes, because a kill may become due. `pressing`: only a kill can help. `total`: pages of
    /// memory and swap.
    pub(in crate::protect) fn prepare(
        &mut self,
        now_s: f64,
        pressing: bool,
        total: u64,
        tools: &mut Tools,
    ) {
        let small = least(total, self.page_size);
        if self.killer.prepare(now_s, pressing, small) {
            self.find_other_killers(tools);
        }
    }

    fn find_other_killers(&mut self, tools: &mut Tools) {
        let found = OtherKillers::among(&self.killer.processes.list);
        for name in found.new_since(self.other_killers) {
            let level = match self.yields {
                true => Level::Notice,
                false => Level::Warning,
            };
            let message = match self.yields {
                true => "the kill is left to it; stop it, or set when = \"always\"",
                false => "both would kill for one shortage; stop one, or set when = \"auto\"",
            };
            let message =
                format_args!("{name} runs as well: {message} in [protect.kill] (hotsetd.conf(5))");
            tools.log.line(level, MODULE, message);
        }
        self.other_killers = found;
    }
}
