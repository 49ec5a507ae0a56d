//! Carrying out what the policy decided, and saying so.
use crate::harden;
use crate::knobs::{self, Fault, GivenBack, Knobs, Outcome};
use crate::kswapd;
use crate::log::{fault_of, Level, Log};
use crate::state::{describe, Deed, State};
use crate::text::Text;
use crate::worker::{Done, Job, Worker};
use policy::{Action, Tunable};
use rustix::io::Errno;

/// Everything that an action touches.
pub struct Hands<'a> {
    pub knobs: &'a mut Knobs,
    /// `None` in a dry run.
    pub worker: Option<&'a mut Worker>,
    pub log: &'a mut Log,
    pub state: &'a mut State,
    pub tunables: &'a [Tunable],
    /// The knobs as the decision saw them.
    pub seen: policy::Knobs,
    pub now_s: f64,
}

/// What the loop must know of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    Done,
    /// The kernel does not take this value: its ceiling is lower than was thought.
    Refused,
    /// A dry run: as if it had been done.
    Pretended,
}

impl Hands<'_> {
    /// Does one thing.
    pub fn act(&mut self, action: &Action, reason: &str) -> After {
        let seen = self.seen;
        match action {
            Action::SetWatermarkScaleFactor(to) => self.set(
                action,
                knobs::WATERMARK_SCALE_FACTOR,
                seen.watermark_scale_factor,
                *to,
                reason,
            ),
            Action::SetCompactionProactiveness(to) => {
                let seen = seen.compaction_proactiveness;
                self.set(action, knobs::COMPACTION_PROACTIVENESS, seen, *to, reason)
            }
            Action::SetVfsCachePressure(to) => self.set(
                action,
                knobs::VFS_CACHE_PRESSURE,
                seen.vfs_cache_pressure,
                *to,
                reason,
            ),
            Action::SetNegativeDentryLimit(to) => {
                let seen = seen.negative_dentry_limit;
                self.set(action, knobs::NEGATIVE_DENTRY_LIMIT, seen, *to, reason)
            }
            Action::SetTunable(index) => match self.tunables.get(*index) {
                Some(tunable) => {
                    self.set_words(action, &tunable.name, None, &tunable.value, reason)
                }
                None => After::Done,
            },
            Action::ReclaimNode { node, bytes } => {
                let (node, bytes) = (*node, *bytes);
                self.hand_over(action, Job::Reclaim { node, bytes }, reason)
            }
            Action::SetKswapdNice { node, nice } => self.renice(action, *node, *nice, reason),
            Action::CompactNode { node } => {
                self.hand_over(action, Job::Compact { node: *node }, reason)
            }
            Action::Warn(warning) => {
                self.state.counts.warnings += 1;
                let what = Text::<96>::of(format_args!("{warning:?}"));
                // A warning that stands is not one every second.
                let what = fault_of(&["warning", what.as_str()]);
                let words = format_args!("{reason}");
                if self.log.fault(self.now_s, what, "policy", words) {
                    self.remember(action, reason, format_args!("logged"));
                }
                After::Done
            }
        }
    }

    fn set(
        &mut self,
        action: &Action,
        knob: &str,
        seen: Option<u32>,
        to: u32,
        reason: &str,
    ) -> After {
        let to = Text::<16>::of(format_args!("{to}"));
        let seen = seen.map(|seen| Text::<16>::of(format_args!("{seen}")));
        let seen = seen.as_ref().map(Text::as_str);
        self.set_words(action, knob, seen, to.as_str(), reason)
    }

    fn set_words(
        &mut self,
        action: &Action,
        knob: &str,
        seen: Option<&str>,
        to: &str,
        reason: &str,
    ) -> After {
        let fault = fault_of(&["knob", knob]);
        match self.knobs.set(knob, seen, to) {
            Ok(Outcome::Written { from }) => {
                match action {
                    Action::SetWatermarkScaleFactor(_) => self.state.counts.watermark_writes += 1,
                    _ => self.state.counts.other_writes += 1,
                }
                self.log
                    .well(fault, "knobs", format_args!("{knob} can be written again"));
                let words = format_args!("{knob} = {to} (was {from}): {reason}");
                self.log.line(Level::Action, "act", words);
                self.remember(action, reason, format_args!("written, was {from}"));
                After::Done
            }
            Ok(Outcome::Unchanged) => After::Done,
            Ok(Outcome::Dry { from }) => {
                let words = format_args!("dry run: {knob} would become {to} (is {from}): {reason}");
                self.log.line(Level::Action, "act", words);
                self.remember(action, reason, format_args!("dry run, is {from}"));
                After::Pretended
            }
            Ok(Outcome::Yielded { found }) => {
                self.state.counts.yields += 1;
                let words = format_args!("{knob} was written by somebody else: {found} stays");
                self.log.line(Level::Notice, "knobs", words);
                self.remember(action, reason, format_args!("yielded to {found}"));
                After::Done
            }
            Err(problem) => {
                self.state.counts.failures += 1;
                let words = format_args!("{knob} = {to}: {problem}");
                if self.log.fault(self.now_s, fault, "knobs", words) {
                    self.remember(action, reason, format_args!("{problem}"));
                }
                match problem {
                    Fault::Write(Errno::INVAL) => After::Refused,
                    _ => After::Done,
                }
            }
        }
    }

    fn renice(&mut self, action: &Action, node: u32, nice: i32, reason: &str) -> After {
        let knob = kswapd::knob(node);
        match self.knobs.read(knob.as_str()) {
            // A container sees none, and an administrator may have given it more.
            Err(Fault::Missing) => return After::Done,
            Ok(now) if now.as_str().parse().is_ok_and(|now: i32| now <= nice) => {
                return After::Done
            }
            _ => {}
        }
        let to = Text::<16>::of(format_args!("{nice}"));
        self.set_words(action, knob.as_str(), None, to.as_str(), reason)
    }

    fn hand_over(&mut self, action: &Action, job: Job, reason: &str) -> After {
        let what = describe(action, self.tunables);
        let Some(worker) = &mut self.worker else {
            let words = format_args!("dry run: would {what}: {reason}");
            self.log.line(Level::Action, "act", words);
            self.remember(action, reason, format_args!("dry run"));
            return After::Pretended;
        };
        if worker.ask(job) {
            self.log
                .line(Level::Action, "act", format_args!("{what}: {reason}"));
            self.remember(action, reason, format_args!("begun"));
        } else {
            let words = format_args!("not {what}: the last one is still under way");
            self.log.line(Level::Action, "act", words);
        }
        After::Done
    }

    fn remember(&mut self, action: &Action, reason: &str, outcome: std::fmt::Arguments) {
        self.state.remember(Deed {
            at_unix_s: harden::unix_s(),
            what: describe(action, self.tunables),
            reason: Text::of(format_args!("{reason}")),
            outcome: Text::of(outcome),
        });
    }
}

/// Says what the worker has done.
pub fn tell_done(done: &Done, now_s: f64, log: &mut Log, state: &mut State) {
    let (what, node) = match done.job {
        Job::Reclaim { node, .. } => ("reclaim", node),
        Job::Compact { node } => ("compact", node),
        Job::ReclaimAnon { node, .. } => ("reclaim of anonymous memory", node),
    };
    let fault = fault_of(&["worker", what]);
    let seconds = done.seconds;
    let mut deed = Deed {
        at_unix_s: harden::unix_s(),
        what: Text::of(format_args!("{what} of node {node} ended")),
        ..Deed::default()
    };
    if let Some(errno) = done.error {
        state.counts.failures += 1;
        log.fault(
            now_s,
            fault,
            "act",
            format_args!("{what} of node {node}: {errno}"),
        );
        deed.outcome.put(format_args!("{errno}"));
    } else {
        log.well(fault, "act", format_args!("{what} works again"));
        match done.job {
            // Many a second while memory is short; the counters tell of them.
            Job::ReclaimAnon { .. } => {
                state.counts.reclaims += 1;
                state.counts.reclaimed_bytes += done.bytes;
                return;
            }
            Job::Reclaim { bytes, .. } => {
                state.counts.reclaims += 1;
                state.counts.reclaimed_bytes += done.bytes;
                let (got, of) = (done.bytes >> 10, bytes >> 10);
                let words = format_args!("{got} of {of} KiB of node {node} in {seconds:.3} s");
                log.line(Level::Action, "act", format_args!("reclaimed {words}"));
                deed.outcome.put(words);
            }
            Job::Compact { .. } => {
                state.counts.compactions += 1;
                let words = format_args!("compacted node {node} in {seconds:.3} s");
                log.line(Level::Action, "act", words);
                deed.outcome.put(words);
            }
        }
    }
    state.remember(deed);
}

/// Gives everything back, and says so. Returns whether all of it could be.
pub fn give_back(knobs: &mut Knobs, log: &mut Log) -> bool {
    let mut all = true;
    knobs.give_back(|what| match what {
        GivenBack::Restored { knob, original } => {
            log.line(
                Level::Notice,
                "knobs",
                format_args!("{knob} = {original}: given back"),
            );
        }
        GivenBack::Left { knob, found } => {
            let words = format_args!("{knob} stays {found}: not a value of ours");
            log.line(Level::Notice, "knobs", words);
        }
        GivenBack::Failed { knob, fault } => {
            all = false;
            let words = format_args!("{knob} could not be given back: {fault}");
            log.line(Level::Error, "knobs", words);
        }
    });
    all
}
