//! Carries out the policy's actions, and reports them.
use crate::actuate::error::Error;
use crate::actuate::knob_report::{KnobWrite, Now};

use crate::actuate::knobs::{self, GivenBack, KnobWriter, Outcome};
use crate::actuate::kswapd_nice;
use crate::actuate::reclaim_worker::{Done, Job, Worker};
use crate::os::fixed_string::Text;
use crate::telemetry::log::{condition, Level, Log};
use crate::telemetry::state::{PastAction, State};
use policy::{Action, Tunable};
use rustix::io::Errno;

/// Everything that an action touches.
pub struct Actuators<'a> {
    pub knobs: &'a mut KnobWriter,
    /// `None` in a dry run.
    pub worker: Option<&'a mut Worker>,
    pub log: &'a mut Log,
    pub state: &'a mut State,
    pub tunables: &'a [Tunable],
    /// The knobs as the decision saw them.
    pub seen: policy::Knobs,
    pub now: Now,
}

/// The outcome of an action, for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    Done,
    /// The kernel refuses the value: its ceiling is lower than assumed.
    Refused,
    /// A dry run: nothing was written.
    Pretended,
}

impl Actuators<'_> {
    /// Carries out one action.
    pub fn apply(&mut self, action: &Action, reason: &str) -> After {
        let seen = self.seen;
        match action {
            Action::SetWatermarkScaleFactor(to) => self.set_number(
                knobs::WATERMARK_SCALE_FACTOR,
                seen.watermark_scale_factor,
                *to,
                reason,
            ),
            Action::SetCompactionProactiveness(to) => {
                let seen = seen.compaction_proactiveness;
                self.set_number(knobs::COMPACTION_PROACTIVENESS, seen, *to, reason)
            }
            Action::SetVfsCachePressure(to) => {
                let seen = seen.vfs_cache_pressure;
                self.set_number(knobs::VFS_CACHE_PRESSURE, seen, *to, reason)
            }
            Action::SetNegativeDentryLimit(to) => {
                let seen = seen.negative_dentry_limit;
                self.set_number(knobs::NEGATIVE_DENTRY_LIMIT, seen, *to, reason)
            }
            Action::SetTunable(index) => match self.tunables.get(*index) {
                Some(tunable) => self.set(&tunable.name, None, &tunable.value, reason),
                None => After::Done,
            },
            Action::ReclaimNode { node, bytes } => {
                let (node, bytes) = (*node, *bytes);
                self.hand_over(action, Job::Reclaim { node, bytes }, reason)
            }
            Action::SetKswapdNice { node, nice } => self.renice(*node, *nice, reason),
            Action::CompactNode { node } => {
                self.hand_over(action, Job::Compact { node: *node }, reason)
            }
            Action::Warn(warning) => {
                self.state.counts.warnings += 1;
                let name = Text::<96>::of(format_args!("{warning:?}"));
                // A warning that lasts is not logged every second.
                let id = condition(&["warning", name.as_str()]);
                let text = format_args!("{reason}");
                if self.log.warn(self.now.monotonic_s, id, "policy", text) {
                    self.remember(action, reason, format_args!("logged"));
                }
                After::Done
            }
        }
    }

    fn set_number(&mut self, knob: &str, seen: Option<u32>, to: u32, reason: &str) -> After {
        let to = Text::<16>::of(format_args!("{to}"));
        let seen = seen.map(|seen| Text::<16>::of(format_args!("{seen}")));
        let seen = seen.as_ref().map(Text::as_str);
        self.set(knob, seen, to.as_str(), reason)
    }

    fn set(&mut self, knob: &str, seen: Option<&str>, to: &str, reason: &str) -> After {
        let result = self.knobs.set(knob, seen, to);
        let write = KnobWrite {
            module: "act",
            knob,
            to,
            reason,
            in_history: true,
            now: self.now,
        };
        write.report(&result, self.log, self.state);
        match result {
            Ok(Outcome::Written { .. }) => {
                match knob {
                    knobs::WATERMARK_SCALE_FACTOR => self.state.counts.watermark_writes += 1,
                    _ => self.state.counts.other_writes += 1,
                }
                After::Done
            }
            Ok(Outcome::Dry { .. }) => After::Pretended,
            Err(Error::Write(Errno::INVAL)) => After::Refused,
            _ => After::Done,
        }
    }

    fn renice(&mut self, node: u32, nice: i32, reason: &str) -> After {
        let knob = kswapd_nice::knob(node);
        match self.knobs.read(knob.as_str()) {
            // A container has no kswapd, and an administrator may have set a lower
            // nice value.
            Err(Error::Missing) => return After::Done,
            Ok(now) if now.as_str().parse().is_ok_and(|now: i32| now <= nice) => {
                return After::Done
            }
            _ => {}
        }
        // What the journal has is of the thread before, whose node was unplugged.
        let _ = self.knobs.leave(knob.as_str());
        let to = Text::<16>::of(format_args!("{nice}"));
        self.set(knob.as_str(), None, to.as_str(), reason)
    }

    fn hand_over(&mut self, action: &Action, job: Job, reason: &str) -> After {
        let job_text = describe(action);
        let Some(worker) = &mut self.worker else {
            let text = format_args!("dry run: would {job_text}: {reason}");
            self.log.line(Level::Action, "act", text);
            self.remember(action, reason, format_args!("dry run"));
            return After::Pretended;
        };
        if worker.ask(job) {
            self.log
                .line(Level::Action, "act", format_args!("{job_text}: {reason}"));
            self.remember(action, reason, format_args!("begun"));
        } else {
            let text = format_args!("left out: {job_text}: the last such job is still under way");
            self.log.line(Level::Action, "act", text);
        }
        After::Done
    }

    fn remember(&mut self, action: &Action, reason: &str, outcome: std::fmt::Arguments) {
        self.state.remember(PastAction {
            at_unix_s: self.now.unix_s,
            action: describe(action),
            reason: Text::of(format_args!("{reason}")),
            outcome: Text::of(outcome),
        });
    }
}

/// A job or a warning as text. Knobs are described by their report.
fn describe(action: &Action) -> Text<96> {
    match action {
        Action::ReclaimNode { node, bytes } => {
            Text::of(format_args!("reclaim {} KiB of node {node}", bytes >> 10))
        }
        Action::CompactNode { node } => Text::of(format_args!("compact node {node}")),
        Action::Warn(warning) => Text::of(format_args!("warning: {warning:?}")),
        other => Text::of(format_args!("{other:?}")),
    }
}

/// Reports the result of a worker's job.
pub fn report_done(done: &Done, now: Now, log: &mut Log, state: &mut State) {
    let (name, node) = match done.job {
        Job::Reclaim { node, .. } => ("reclaim", node),
        Job::Compact { node } => ("compact", node),
        Job::ReclaimAnon { node, .. } => ("reclaim of anonymous memory", node),
    };
    let id = condition(&["worker", name]);
    let seconds = done.seconds;
    let mut past = PastAction {
        at_unix_s: now.unix_s,
        action: Text::of(format_args!("{name} of node {node} ended")),
        ..PastAction::default()
    };
    if let Some(errno) = done.error {
        state.counts.failures += 1;
        log.warn(
            now.monotonic_s,
            id,
            "act",
            format_args!("{name} of node {node}: {errno}"),
        );
        past.outcome.put(format_args!("{errno}"));
    } else {
        log.resolved(id, "act", format_args!("{name} works again"));
        match done.job {
            // These reclaims are only counted: there are many a second while memory is short.
            Job::ReclaimAnon { .. } => {
                state.counts.reclaims += 1;
                state.counts.reclaimed_bytes += done.bytes;
                return;
            }
            Job::Reclaim { bytes, .. } => {
                state.counts.reclaims += 1;
                state.counts.reclaimed_bytes += done.bytes;
                let (got, of) = (done.bytes >> 10, bytes >> 10);
                let text = format_args!("{got} of {of} KiB of node {node} in {seconds:.3} s");
                log.line(Level::Action, "act", format_args!("reclaimed {text}"));
                past.outcome.put(text);
            }
            Job::Compact { .. } => {
                state.counts.compactions += 1;
                let text = format_args!("compacted node {node} in {seconds:.3} s");
                log.line(Level::Action, "act", text);
                past.outcome.put(text);
            }
        }
    }
    state.remember(past);
}

/// Gives every knob its original value back, and logs each. Returns whether all could be given back.
pub fn give_back(knobs: &mut KnobWriter, log: &mut Log) -> bool {
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
            let text = format_args!("{knob} keeps {found}, a value that hotsetd did not write");
            log.line(Level::Notice, "knobs", text);
        }
        GivenBack::Failed { knob, error } => {
            all = false;
            let text = format_args!("{knob} could not be given back: {error}");
            log.line(Level::Error, "knobs", text);
        }
    });
    all
}

/// Logs what [`give_back`] would do, and writes nothing. Returns whether all could be given back.
pub fn would_give_back(knobs: &KnobWriter, log: &mut Log) -> bool {
    let (mut all, mut any) = (true, false);
    knobs.would_give_back(|what| {
        any = true;
        match what {
            GivenBack::Restored { knob, original } => {
                let text = format_args!("dry run: {knob} = {original} would be given back");
                log.line(Level::Notice, "knobs", text);
            }
            GivenBack::Left { knob, found } => {
                let text = format_args!(
                    "dry run: {knob} would keep {found}, a value that hotsetd did not write"
                );
                log.line(Level::Notice, "knobs", text);
            }
            GivenBack::Failed { knob, error } => {
                all = false;
                let text = format_args!("dry run: {knob} could not be given back: {error}");
                log.line(Level::Error, "knobs", text);
            }
        }
    });
    if !any {
        let text = format_args!("dry run: there is nothing to give back");
        log.line(Level::Notice, "knobs", text);
    }
    all
}
