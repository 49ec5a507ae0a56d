//! From exhaustion to the kill, and what is said of it.
use super::guard::{remember, Guard, Tools};
use super::kill::{Killed, Killer, Victim};
use super::processes::{Processes, REMEMBER_S};
use super::rivals::Rivals;
use crate::harden;
use crate::log::{fault_of, Level};
use crate::text::Text;
use policy::exhaustion::Cause;
use std::path::Path;

impl Guard {
    pub(super) fn open_killer(&mut self, root: &Path, dry: bool, tools: &mut Tools) {
        let kill = &self.settings.kill;
        match Processes::open(root, self.eyes.page_size()) {
            Ok(processes) => {
                let marks = kill.marks.clone();
                let mut killer = Killer::new(processes, marks, dry || kill.dry_run);
                killer.prepare(harden::now_s());
                self.killer = Some(killer);
                self.look_for_rivals(tools);
            }
            Err(errno) => {
                let words = format_args!("{}/proc: {errno}; nobody is killed", root.display());
                tools.log.line(Level::Warning, "protect", words);
            }
        }
    }

    pub(super) fn kill(&mut self, now_s: f64, cause: Cause, tools: &mut Tools) {
        let page_size = self.eyes.page_size();
        let Some(killer) = &mut self.killer else {
            return;
        };
        let fault = fault_of(&["kill"]);
        match killer.kill(now_s, self.total + self.swap, page_size) {
            Killed::Waiting => {}
            Killed::Nobody => {
                let words = format_args!("memory is exhausted, and nobody may be killed for it");
                tools.log.fault(now_s, fault, "protect", words);
            }
            Killed::Failed(victim, errno) => {
                tools.state.counts.failures += 1;
                let words = format_args!("kill of {} ({}): {errno}", victim.name, victim.pid);
                tools.log.fault(now_s, fault, "protect", words);
            }
            Killed::Done(victim) => {
                self.protect.killed(f64::from(victim.took_us) / 1e6);
                self.tell_killed(victim, cause, tools);
            }
        }
    }

    fn tell_killed(&mut self, victim: Victim, cause: Cause, tools: &mut Tools) {
        let page_size = self.eyes.page_size();
        match victim.pretended {
            true => self.counts.pretended += 1,
            false => self.counts.kills += 1,
        }
        let verb = if victim.pretended {
            "would kill"
        } else {
            "killed"
        };
        let mib = |pages: u64| (pages * (page_size >> 10)) >> 10;
        let outcome = &self.outcome;
        let swap = match cause {
            Cause::SwapFull => "swap is full",
            Cause::SwapStuck => "swap takes nothing",
        };
        let what = Text::of(format_args!("{verb} {} ({})", victim.name, victim.pid));
        let why = Text::<160>::of(format_args!(
            "{swap}, clean file pages {} MiB of {}",
            mib(outcome.clean),
            mib(outcome.floors.clean_min)
        ));
        let words = format_args!(
            "{what}, uid {}, {} MiB in {} processes, score {} MiB, in {} us: {why}",
            victim.uid,
            mib(victim.memory),
            victim.count,
            mib(victim.score.max(0) as u64),
            victim.took_us,
        );
        tools.log.line(Level::Warning, "protect", words);
        let freed = format_args!("{} MiB in {} processes", mib(victim.memory), victim.count);
        remember(tools, what, &why, freed);
        if let Some(herald) = &self.herald {
            if herald.tell(&victim, cause, page_size).is_err() {
                self.counts.untold += 1;
            }
        }
        self.last_victim = Some((victim, cause, harden::unix_s()));
    }

    pub(super) fn prepare(&mut self, now_s: f64, tools: &mut Tools) {
        let Some(killer) = &mut self.killer else {
            return;
        };
        // To read all of /proc takes longer than it takes a hog to use up what is left: at the last
        // moment what was seen before must do.
        let age_s = match self.outcome.pressing {
            true => REMEMBER_S * 4.0,
            false => REMEMBER_S,
        };
        if self.outcome.brewing && killer.processes().age_s(now_s) >= age_s {
            killer.prepare(now_s);
            self.look_for_rivals(tools);
        }
    }

    fn look_for_rivals(&mut self, tools: &mut Tools) {
        let Some(killer) = &self.killer else { return };
        let found = Rivals::among(killer.processes().list());
        for name in found.new_since(self.rivals) {
            let words = format_args!(
                "{name} runs as well, and would kill beside us: stop one of the two, or set \
                 protect.kill.when = \"never\" (docs/protect.md)"
            );
            tools.log.line(Level::Warning, "protect", words);
        }
        self.rivals = found;
    }
}
