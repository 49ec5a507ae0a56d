//! Where moments come from: this machine, or a recording.
use super::cgroups::{self, Group};
use super::moment::{Event, Moment};
use crate::replay::{decide, describe, machine};
use crate::status::answer;
use anyhow::{Context, Result};
use kernfs::knobs::Knob;
use kernfs::samples::{Reader, Record};
use kernfs::{Options, Root, Sample, Sampler};
use policy::{Config, Decision, Policy};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Events that are kept of a policy that acts on nothing.
const EVENTS: usize = 200;

/// A policy that sees each sample and acts on nothing: it forecasts, and says what the daemon would do.
#[derive(Default)]
struct Onlooker {
    policy: Option<Policy>,
    decision: Decision,
    events: Rc<Vec<Event>>,
}

impl Onlooker {
    fn see(
        &mut self,
        sample: &Sample,
        record: impl FnOnce() -> Record,
        at_s: f64,
        page_size: u64,
    ) -> Moment {
        let new = || Policy::new(Config::default(), machine(&record()));
        decide(
            self.policy.get_or_insert_with(new),
            sample,
            &mut self.decision,
        );
        for (action, why) in self.decision.actions() {
            let what = describe(action);
            // A policy that is not obeyed repeats itself.
            if self.events.last().is_some_and(|last| last.what == what) {
                continue;
            }
            // Moments share the events, so they are copied only where there is a new one.
            let events = Rc::make_mut(&mut self.events);
            events.push(Event {
                at_s,
                what,
                why: why.to_owned(),
                outcome: "not done: no daemon acts here".to_owned(),
            });
            let surplus = events.len().saturating_sub(EVENTS);
            events.drain(..surplus);
        }
        let mut moment = Moment::of(sample, &self.decision, page_size);
        moment.events = Rc::clone(&self.events);
        moment
    }
}

#[derive(Default)]
struct Last {
    t: Option<f64>,
    groups: Vec<Group>,
    events: Rc<Vec<Event>>,
}

/// This machine, now.
pub struct Live {
    root: Root,
    socket: PathBuf,
    sampler: Sampler,
    sample: Sample,
    onlooker: Onlooker,
    /// The time, groups and events of the last look.
    last: Last,
}

impl Live {
    pub fn new(root: Root, socket: &Path) -> Live {
        let options = Options {
            knobs: Knob::ALL.to_vec(),
            ..Options::default()
        };
        Live {
            sampler: Sampler::new(root.clone(), options),
            root,
            socket: socket.to_owned(),
            sample: Sample::default(),
            onlooker: Onlooker::default(),
            last: Last::default(),
        }
    }

    /// `uname -r`.
    pub fn release(&self) -> &str {
        &self.sampler.machine().release
    }

    /// Looks once.
    pub fn look(&mut self) -> Moment {
        self.sampler.sample(&mut self.sample);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_s = now.map_or(0.0, |time| time.as_secs_f64());
        let found = self.sampler.machine().clone();
        let page_size = found.page_size;
        let sample = &self.sample;
        let record = || Record {
            machine: Some(found),
            ..Record::of(sample)
        };
        let mut moment = self.onlooker.see(sample, record, now_s, page_size);
        moment.at_unix_s = Some(now_s);
        let seconds = self.last.t.map_or(0.0, |before| moment.t - before);
        moment.groups = cgroups::read(&self.root, &self.last.groups, seconds, page_size);
        match answer::ask(&self.socket) {
            Ok(text) => {
                // What is no status is no daemon's.
                if let Ok(status) = answer::parse(&text) {
                    moment = moment.with_daemon(&status, &self.last.events);
                }
            }
            Err(error) => moment.denied = error.kind() == ErrorKind::PermissionDenied,
        }
        self.last = Last {
            t: Some(moment.t),
            groups: moment.groups.clone(),
            events: Rc::clone(&moment.events),
        };
        moment
    }
}

/// All moments of a recording.
///
/// # Errors
/// The file cannot be read, or is no recording.
pub fn recorded(path: &Path) -> Result<(String, Vec<Moment>)> {
    let name = names::shown(path).to_string();
    let (input, _) = trace::open_packed(path)?;
    let mut reader = Reader::new(input);
    let (mut sample, mut onlooker, mut moments) =
        (Sample::default(), Onlooker::default(), Vec::new());
    let (mut release, mut page_size, mut begin) = (String::new(), 4096, None);
    while let Some(record) = reader.next() {
        let record = record.with_context(|| name.clone())?;
        if let Some(machine) = &record.machine {
            release.clone_from(&machine.release);
            page_size = machine.page_size.max(1);
        }
        let restored = record.restore(&mut sample).map_err(anyhow::Error::msg);
        restored.with_context(|| format!("{name}: line {}", reader.line()))?;
        // A clock that began at a boot that nobody knows says nothing.
        let t = record.t - *begin.get_or_insert(record.t);
        let moment = onlooker.see(&sample, || record, t, page_size);
        moments.push(Moment { t, ..moment });
    }
    anyhow::ensure!(!moments.is_empty(), "{name}: no samples");
    Ok((release, moments))
}
