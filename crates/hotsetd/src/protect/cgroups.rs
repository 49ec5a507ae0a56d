//! memory.low or memory.min of named cgroups, sized by the measured working set of each.
use super::context::{Tools, MODULE};
use super::settings::ProtectedCgroup;
use crate::actuate::error::Error;
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
    root: Root,
    sampler: Sampler,
    sample: Sample,
    list: Vec<Cgroup>,
    sampled_s: f64,
}

struct Cgroup {
    folder: String,
    /// Path of the file that is written: /sys/fs/cgroup/user.slice/memory.low.
    knob: String,
    working_set: WorkingSet,
    /// Bytes.
    written: u64,
    /// Bytes that are to be written.
    asked: u64,
    /// The knob's inode: another one is another cgroup of the same name.
    inode: Option<u64>,
    /// The administrator has written the knob.
    left: bool,
}

impl Cgroups {
    /// `None` where no cgroup is named.
    #[must_use]
    pub fn new(root: &Path, named: &[ProtectedCgroup]) -> Option<Cgroups> {
        if named.is_empty() {
            return None;
        }
        let list = named.iter().map(|cgroup| {
            let folder = format!("/sys/fs/cgroup/{}", cgroup.name);
            let file = if cgroup.hard { "min" } else { "low" };
            Cgroup {
                knob: format!("{folder}/memory.{file}"),
                folder,
                working_set: WorkingSet::default(),
                written: 0,
                asked: 0,
                inode: None,
                left: false,
            }
        });
        let (root, list) = (Root::new(root), list.collect::<Vec<_>>());
        Some(Cgroups {
            sampler: sampler(&root, &list),
            sample: Sample::default(),
            root,
            list,
            sampled_s: f64::NEG_INFINITY,
        })
    }

    /// Samples the cgroups every 30 s, and writes what their working sets need. `memory`: bytes of the
    /// machine. `page_size`: bytes.
    pub(super) fn update(&mut self, now_s: f64, memory: u64, page_size: u64, tools: &mut Tools) {
        for cgroup in &mut self.list {
            if let Some(result) = tools.knobs.ended(&cgroup.knob) {
                cgroup.report(&result, tools);
            }
        }
        if now_s - self.sampled_s < EVERY_S {
            return;
        }
        self.sampled_s = now_s;
        let mut is_new = false;
        for cgroup in &mut self.list {
            is_new |= cgroup.is_new(tools);
        }
        if is_new {
            // The files of a cgroup that is gone are looked for more and more rarely.
            self.sampler = sampler(&self.root, &self.list);
        }
        self.sampler.sample(&mut self.sample);
        let most = memory / SHARE / self.list.len().max(1) as u64;
        for (cgroup, found) in self.list.iter_mut().zip(&self.sample.cgroups) {
            if tools.knobs.is_under_way(&cgroup.knob) {
                continue;
            }
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
            let wanted = cgroup.working_set.observe(now_s, &stat, most, page_size);
            if let Some(bytes) = wanted.filter(|_| !cgroup.left) {
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

fn sampler(root: &Root, list: &[Cgroup]) -> Sampler {
    let options = Options {
        sources: Sources::CGROUPS,
        knobs: Vec::new(),
        cgroups: list
            .iter()
            .map(|cgroup| cgroup.folder.clone().into())
            .collect(),
    };
    Sampler::new(root.clone(), options)
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
    /// Whether the cgroup is another one than at the last look. A service that is started again has a new one, with
    /// none of what was written to the old one.
    fn is_new(&mut self, tools: &mut Tools) -> bool {
        let found = rustix::fs::stat(tools.knobs.place(&self.knob).as_str());
        let Some(inode) = found.ok().map(|about| about.st_ino) else {
            return false;
        };
        let before = self.inode.replace(inode);
        if before.is_some_and(|before| before != inode) {
            (self.working_set, self.written) = (WorkingSet::default(), 0);
            // systemd gives the boundary to a unit's new cgroup as well.
            if !tools.knobs.is_systemds(&self.knob) {
                // Where the journal cannot be written, the next write says so.
                let _ = tools.knobs.leave(&self.knob);
                self.left = false;
            }
        }
        before != Some(inode)
    }

    fn write(&mut self, bytes: u64, tools: &mut Tools) {
        self.asked = bytes;
        let to = Text::<24>::of(format_args!("{bytes}"));
        let result = tools.knobs.begin(&self.knob, to.as_str());
        self.report(&result, tools);
    }

    fn report(&mut self, result: &Result<Outcome, Error>, tools: &mut Tools) {
        match result {
            Ok(Outcome::Written { .. }) => {
                tools.state.counts.other_writes += 1;
                self.written = self.asked;
            }
            Ok(Outcome::Unchanged) => self.written = self.asked,
            Ok(Outcome::Yielded { .. }) => self.left = true,
            _ => {}
        }
        let to = Text::<24>::of(format_args!("{}", self.asked));
        let reason = "the cgroup's working set, in bytes";
        tools.report(false, &self.knob, to.as_str(), result, reason);
    }
}
