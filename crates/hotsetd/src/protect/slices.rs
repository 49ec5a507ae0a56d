//! memory.low or memory.min of named cgroups, sized from the working set that they are seen to have.
use super::guard::Tools;
use super::settings::Slice;
use crate::knobs::Outcome;
use crate::log::{fault_of, Level};
use crate::text::Text;
use kernfs::sampler::Sources;
use kernfs::{Options, Root, Sample, Sampler};
use policy::working_set::{Stat, WorkingSet};
use serde_json::{json, Value};
use std::path::Path;

/// Looked at so often.
const EVERY_S: f64 = 30.0;
/// All of them together may keep at most this share of memory from the rest.
const SHARE: u64 = 2;

/// The cgroups.
pub struct Slices {
    sampler: Sampler,
    sample: Sample,
    list: Vec<One>,
    looked_s: f64,
}

struct One {
    /// As a knob: /sys/fs/cgroup/user.slice/memory.low.
    knob: String,
    set: WorkingSet,
    written: u64,
}

impl Slices {
    /// `None` where none is named.
    #[must_use]
    pub fn new(root: &Path, slices: &[Slice]) -> Option<Slices> {
        if slices.is_empty() {
            return None;
        }
        let folder = |slice: &Slice| format!("/sys/fs/cgroup/{}", slice.name);
        let options = Options {
            sources: Sources::CGROUPS,
            knobs: Vec::new(),
            cgroups: slices.iter().map(|slice| folder(slice).into()).collect(),
        };
        let list = slices.iter().map(|slice| One {
            knob: format!(
                "{}/memory.{}",
                folder(slice),
                if slice.hard { "min" } else { "low" }
            ),
            set: WorkingSet::default(),
            written: 0,
        });
        Some(Slices {
            sampler: Sampler::new(Root::new(root), options),
            sample: Sample::default(),
            list: list.collect(),
            looked_s: f64::NEG_INFINITY,
        })
    }

    /// Looks, if it is time to; `memory`: bytes of the machine.
    pub fn look(&mut self, now_s: f64, memory: u64, page_size: u64, tools: &mut Tools) {
        if now_s - self.looked_s < EVERY_S {
            return;
        }
        self.looked_s = now_s;
        self.sampler.sample(&mut self.sample);
        let most = memory / SHARE / self.list.len().max(1) as u64;
        for (one, found) in self.list.iter_mut().zip(&self.sample.cgroups) {
            let stat = &found.stat;
            let fault = fault_of(&["cgroup", &one.knob]);
            let (Some(anon), Some(file)) = (stat.active_anon(), stat.active_file()) else {
                let words = format_args!("{}: the cgroup's memory.stat says nothing", one.knob);
                tools.log.fault(now_s, fault, "protect", words);
                continue;
            };
            let refaults = [
                stat.workingset_refault_whole(),
                stat.workingset_refault_anon(),
                stat.workingset_refault_file(),
            ];
            let stat = Stat {
                active: anon + file,
                kernel: stat.slab_unreclaimable().unwrap_or(0),
                refaults: refaults.iter().flatten().sum(),
                current: found.current.unwrap_or(anon + file),
            };
            if let Some(bytes) = one.set.look(now_s, &stat, most, page_size) {
                one.write(bytes, now_s, fault, tools);
            }
        }
    }

    /// For the status.
    #[must_use]
    pub fn status(&self) -> Value {
        let all = self.list.iter().map(|one| {
            json!({
                "knob": one.knob, "bytes": one.written, "working_set_bytes": one.set.bytes(),
            })
        });
        all.collect()
    }
}

impl One {
    fn write(&mut self, bytes: u64, now_s: f64, fault: u64, tools: &mut Tools) {
        let to = Text::<24>::of(format_args!("{bytes}"));
        match tools.knobs.set(&self.knob, None, to.as_str()) {
            Ok(Outcome::Written { from }) => {
                tools.state.counts.other_writes += 1;
                self.written = bytes;
                let words = format_args!("{} = {bytes} (was {from}): its working set", self.knob);
                tools.log.line(Level::Action, "protect", words);
                tools.log.well(
                    fault,
                    "protect",
                    format_args!("{} is written again", self.knob),
                );
            }
            Ok(Outcome::Dry { from }) => {
                let words = format_args!("dry run: {} would become {bytes} (is {from})", self.knob);
                tools.log.line(Level::Action, "protect", words);
            }
            Ok(Outcome::Yielded { found }) => {
                tools.state.counts.yields += 1;
                let words = format_args!("{} = {found} is the administrator's", self.knob);
                tools.log.line(Level::Notice, "protect", words);
            }
            Ok(Outcome::Unchanged) => self.written = bytes,
            Err(problem) => {
                tools.state.counts.failures += 1;
                let words = format_args!("{} = {bytes}: {problem}", self.knob);
                tools.log.fault(now_s, fault, "protect", words);
            }
        }
    }
}
