//! memory.low or memory.min of named cgroups, sized by the measured working set of each.
use super::context::{Tools, MODULE};
use super::settings::ProtectedCgroup;
use crate::actuate::knobs::Outcome;
use crate::os::fixed_string::Text;
use crate::telemetry::log::condition;
use kernfs::sampler::Sources;
use kernfs::{Options, Root, Sample, Sampler};
use policy::working_set::{Stat, WorkingSet};
use std::path::Path;

/// Seconds between samples.
const EVERY_S: f64 = 30.0;
/// All cgroups together may keep at most memory divided by this from the rest of the machine.
const SHARE: u64 = 2;

/// The cgroups.
pub struct Cgroups {
    sampler: Sampler,
    sample: Sample,
    list: Vec<Cgroup>,
    sampled_s: f64,
}

struct Cgroup {
    /// Path of the file that is written: /sys/fs/cgroup/user.slice/memory.low.
    knob: String,
    working_set: WorkingSet,
    /// Bytes.
    written: u64,
}

impl Cgroups {
    /// `None` where no cgroup is named.
    #[must_use]
    pub fn new(root: &Path, named: &[ProtectedCgroup]) -> Option<Cgroups> {
        if named.is_empty() {
            return None;
        }
        let folder = |cgroup: &ProtectedCgroup| format!("/sys/fs/cgroup/{}", cgroup.name);
        let options = Options {
            sources: Sources::CGROUPS,
            knobs: Vec::new(),
            cgroups: named.iter().map(|cgroup| folder(cgroup).into()).collect(),
        };
        let list = named.iter().map(|cgroup| {
            let file = if cgroup.hard { "min" } else { "low" };
            Cgroup {
                knob: format!("{}/memory.{file}", folder(cgroup)),
                working_set: WorkingSet::default(),
                written: 0,
            }
        });
        Some(Cgroups {
            sampler: Sampler::new(Root::new(root), options),
            sample: Sample::default(),
            list: list.collect(),
            sampled_s: f64::NEG_INFINITY,
        })
    }

    /// Samples the cgroups every 30 s, and writes what their working sets need. `memory`: bytes of the
    /// machine. `page_size`: bytes.
    pub(super) fn update(&mut self, now_s: f64, memory: u64, page_size: u64, tools: &mut Tools) {
        if now_s - self.sampled_s < EVERY_S {
            return;
        }
        self.sampled_s = now_s;
        self.sampler.sample(&mut self.sample);
        let most = memory / SHARE / self.list.len().max(1) as u64;
        for (cgroup, found) in self.list.iter_mut().zip(&self.sample.cgroups) {
            let wrong = condition(&["cgroup", &cgroup.knob]);
            let Some(stat) = stat(found) else {
                let message = format_args!(
                    "{} is left as it is: the cgroup's memory.stat lacks active_anon or active_file",
                    cgroup.knob
                );
                tools.log.warn(now_s, wrong, MODULE, message);
                continue;
            };
            let message = format_args!("{}: memory.stat can be read again", cgroup.knob);
            tools.log.resolved(wrong, MODULE, message);
            if let Some(bytes) = cgroup.working_set.observe(now_s, &stat, most, page_size) {
                cgroup.write(bytes, tools);
            }
        }
    }

    /// The cgroups in the status document.
    #[must_use]
    pub fn status(&self) -> Vec<status::Cgroup> {
        self.list
            .iter()
            .map(|cgroup| status::Cgroup {
                knob: cgroup.knob.clone(),
                bytes: cgroup.written,
                working_set_bytes: cgroup.working_set.bytes(),
            })
            .collect()
    }
}

/// `None` where memory.stat lacks a counter that the working set is measured by.
fn stat(found: &kernfs::cgroup::CgroupMemory) -> Option<Stat> {
    let stat = &found.stat;
    let active = stat.active_anon()? + stat.active_file()?;
    let refaults = [
        stat.workingset_refault_whole(),
        stat.workingset_refault_anon(),
        stat.workingset_refault_file(),
    ];
    Some(Stat {
        active,
        kernel: stat.slab_unreclaimable().unwrap_or(0),
        refaults: refaults.iter().flatten().sum(),
        current: found.current.unwrap_or(active),
    })
}

impl Cgroup {
    fn write(&mut self, bytes: u64, tools: &mut Tools) {
        let to = Text::<24>::of(format_args!("{bytes}"));
        let result = tools.knobs.set(&self.knob, None, to.as_str());
        match result {
            Ok(Outcome::Written { .. }) => {
                tools.state.counts.other_writes += 1;
                self.written = bytes;
            }
            Ok(Outcome::Unchanged) => self.written = bytes,
            _ => {}
        }
        let write = tools.knob_write(
            &self.knob,
            to.as_str(),
            "the cgroup's working set, in bytes",
        );
        write.report(&result, tools.log, tools.state);
    }
}
