//! The flight recorder: what the machine looked like before it froze. Each record goes to a file of fixed size, by a
//! thread; a record costs no allocation and no wakeup of its own.
mod budget;
mod disk;
mod groups;
mod keep;
mod largest;
mod line;
mod place;
mod pressure;
mod writer;

use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use crate::protect::oom::processes::Processes;
use crate::telemetry::log::{condition, Level, Log};
use crate::telemetry::state::State;
use flight::{Kept, Layout};
use kernfs::Sample;
use largest::Largest;
use line::{About, Line};
use place::Refusal;
use pressure::CgroupPressure;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use writer::Writer;

/// The module's name in the log.
const MODULE: &str = "flight";
/// Seconds after which a file that could not be opened is tried again.
const AGAIN_S: f64 = 600.0;
/// Records of one moment, in seconds: the quick sample of protection follows the daemon's own.
const CLOSEST_S: f64 = 0.05;
/// While more than this share of the slots waits for the disk, there is a record each second.
const SLOW_DISK: f64 = 0.5;
/// A stall is an event when all tasks waited for [`STALL_US`] within so many seconds: a person has noticed.
const WINDOW_S: f64 = 10.0;
const STALL_US: u64 = 1_000_000;
/// Seconds from an event to the copy: the time after belongs to it.
const AFTER_S: f64 = 20.0;
/// Seconds between two events of one kind.
const NEXT_EVENT_S: f64 = 60.0;

/// The administrator's choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `None`: nothing is recorded.
    pub file: Option<PathBuf>,
    /// Bytes of the file.
    pub bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            file: Some("/var/lib/hotset/flight".into()),
            bytes: 64 << 20,
        }
    }
}

/// The recorder, once it is open.
#[derive(Default)]
pub struct Recording {
    pub recorder: Option<Recorder>,
    /// When it may be opened. Seconds of the monotonic clock.
    pub due_s: f64,
}

/// What the daemon knows besides the sample.
pub struct Moment<'a> {
    pub clock: &'a Clock,
    pub state: &'a State,
    /// Processes that hotsetd has killed.
    pub kills: u64,
    /// Protection expects a kill.
    pub brewing: bool,
    /// Every file was read.
    pub whole: bool,
}

/// The recorder.
pub struct Recorder {
    path: PathBuf,
    line: Line,
    writer: Writer,
    boot: Text<8>,
    page_size: u64,
    largest: Largest,
    cgroups: CgroupPressure,
    /// Where protection has none.
    own_processes: Option<Processes>,
    /// Actions of [`State`] that records have.
    deeds: usize,
    last_s: f64,
    last_some_us: u64,
    second: u64,
    minute: u64,
    /// When the window of stalls began, and the stalls until then.
    window: (f64, u64),
    kills: u64,
    oom_kills: u64,
    /// What is to be kept, and when.
    event: Option<(&'static str, f64, f64)>,
    /// When an event of each kind was last kept: kills, stalls.
    kept_s: [f64; 2],
    /// Records that no slot was free for.
    lost: u64,
    reported: u64,
    failed: u64,
}

impl Recorder {
    /// Opens the file. What cannot be recorded, the log says.
    ///
    /// # Errors
    /// When to try again, in seconds from now.
    pub fn open(
        root: &Path,
        file: &Path,
        bytes: u64,
        sample: &Sample,
        machine: &kernfs::samples::Machine,
        log: &mut Log,
    ) -> Result<Recorder, f64> {
        let path = crate::telemetry::server::below(root, file);
        let mut later = |why: String| {
            let text = format_args!("{}: {why}; nothing is recorded", names::shown(&path));
            log.warn(sample.t, condition(&["flight"]), MODULE, text);
            AGAIN_S
        };
        let bytes = match place::bytes(&path, bytes) {
            Ok(bytes) => bytes,
            Err(Refusal::Now(why)) => return Err(later(why)),
            Err(Refusal::InMemory) => {
                let text = format_args!(
                    "{}: its folder lies in memory; nothing is recorded",
                    names::shown(&path)
                );
                log.line(Level::Notice, MODULE, text);
                return Err(f64::INFINITY);
            }
        };
        let layout = Layout::of(bytes, sample.nodes.len());
        let writer = Writer::start(&path, layout, machine);
        let writer = writer.map_err(|error| later(names::io_error(&error)))?;
        log.resolved(
            condition(&["flight"]),
            MODULE,
            format_args!("{}: recording again", names::shown(&path)),
        );
        let boot = std::fs::read_to_string(root.join("proc/sys/kernel/random/boot_id"));
        let boot = boot.unwrap_or_default();
        Ok(Recorder {
            path,
            line: Line::new(layout.slot as usize),
            writer,
            boot: Text::of(format_args!("{}", boot.trim())),
            page_size: machine.page_size.max(1024),
            largest: Largest::default(),
            cgroups: CgroupPressure::open(root),
            own_processes: None,
            deeds: 0,
            last_s: f64::NEG_INFINITY,
            last_some_us: 0,
            second: 0,
            minute: 0,
            window: (f64::NEG_INFINITY, 0),
            kills: 0,
            oom_kills: sample.vmstat.oom_kill().unwrap_or(0),
            event: None,
            kept_s: [f64::NEG_INFINITY; 2],
            lost: 0,
            reported: 0,
            failed: 0,
        })
    }

    /// Records a sample. `processes`: those of protection, where it has them.
    pub fn take(
        &mut self,
        sample: &Sample,
        moment: &Moment,
        processes: Option<&mut Processes>,
        root: &Path,
        log: &mut Log,
    ) {
        let since_s = sample.t - self.last_s;
        if since_s < CLOSEST_S {
            return;
        }
        let unix_s = moment.clock.unix_s();
        let (second, minute) = (unix_s as u64, unix_s as u64 / 60);
        if self.writer.backlog() > SLOW_DISK && second == self.second {
            return;
        }
        let pressed = self.is_pressed(sample, since_s) || moment.brewing;
        self.look_around(sample.t, moment, processes, pressed, root);
        let about = About {
            number: self.writer.number,
            unix_s,
            boot: self.boot.as_str(),
            whole: moment.whole,
            processes: self.largest.all(),
            groups: self.largest.groups(),
            cgroups: self.cgroups.all(),
        };
        let deeds = moment.state.actions_since(self.deeds);
        let first = moment.state.oldest_since(self.deeds);
        let did = self.line.write(sample, &about, deeds);
        let layout = &self.writer.layout;
        let places = [
            Some(layout.of_record(self.writer.number)),
            (second != self.second).then(|| layout.of_second(unix_s)),
            (minute != self.minute).then(|| layout.of_minute(unix_s)),
        ];
        if self.writer.write(self.line.sealed(), places) {
            self.writer.number += 1;
            self.deeds = first + did;
            (self.second, self.minute) = (second, minute);
        } else {
            self.lost += 1;
        }
        self.last_s = sample.t;
        self.note_events(sample, moment, unix_s);
        self.report(sample.t, log);
    }

    /// Whether tasks have waited for memory since the last record, for a hundredth of the time or more.
    fn is_pressed(&mut self, sample: &Sample, since_s: f64) -> bool {
        let some_us = sample.psi.memory.some.map_or(0, |some| some.total_us);
        let waited_us = some_us.saturating_sub(self.last_some_us);
        self.last_some_us = some_us;
        since_s.is_finite() && waited_us as f64 >= since_s * 1e4
    }

    /// Brings up to date who has the memory, and who waits.
    fn look_around(
        &mut self,
        now_s: f64,
        moment: &Moment,
        processes: Option<&mut Processes>,
        pressed: bool,
        root: &Path,
    ) {
        let processes = match processes {
            Some(processes) => Some(processes),
            None => {
                if self.own_processes.is_none() {
                    let opened = Processes::open(root, self.page_size, Default::default());
                    self.own_processes = opened.ok();
                }
                self.own_processes.as_mut()
            }
        };
        if let Some(processes) = processes {
            let page_size = self.page_size;
            self.largest
                .update(processes, moment.clock, now_s, pressed, page_size);
        }
        self.cgroups.update(moment.clock, now_s, pressed);
    }

    /// Notices kills and stalls, and has the records around them kept.
    fn note_events(&mut self, sample: &Sample, moment: &Moment, unix_s: f64) {
        let now_s = sample.t;
        let oom_kills = sample.vmstat.oom_kill().unwrap_or(self.oom_kills);
        let killed = moment.kills > self.kills || oom_kills > self.oom_kills;
        (self.kills, self.oom_kills) = (moment.kills, oom_kills);
        let full_us = sample.psi.memory.full.map_or(0, |full| full.total_us);
        let stalled = full_us.saturating_sub(self.window.1) >= STALL_US;
        let first = self.window.0 == f64::NEG_INFINITY;
        if now_s - self.window.0 >= WINDOW_S {
            self.window = (now_s, full_us);
        }
        let is_new = |kind: usize| now_s - self.kept_s[kind] >= NEXT_EVENT_S;
        match self.event {
            // A kill is the end of a stall, and the better name for it.
            Some((keep::STALL, _, _)) | None if killed && is_new(0) => {
                self.event = Some((keep::KILL, unix_s, now_s + AFTER_S));
                self.kept_s[0] = now_s;
            }
            None if stalled && !first && is_new(1) => {
                self.event = Some((keep::STALL, unix_s, now_s + AFTER_S));
                self.kept_s[1] = now_s;
            }
            Some((why, at_s, due_s)) if now_s >= due_s => {
                self.event = None;
                self.writer.keep(Kept {
                    why: why.into(),
                    unix_s: at_s,
                });
            }
            _ => {}
        }
    }

    /// Says that records are lost; a disk may be full.
    fn report(&mut self, now_s: f64, log: &mut Log) {
        let failed = self.writer.seen.failed.load(Ordering::Relaxed);
        if failed > self.failed {
            self.failed = failed;
            let path = names::shown(&self.path);
            let id = condition(&["flight", "write"]);
            let errno = self.writer.seen.errno.load(Ordering::Relaxed);
            let error = std::io::Error::from_raw_os_error(errno);
            let error = names::io_error(&error);
            let text = format_args!("{path}: {error}; records are lost");
            log.warn(now_s, id, MODULE, text);
        }
        if self.lost > self.reported {
            self.reported = self.lost;
            let path = names::shown(&self.path);
            let id = condition(&["flight", "slow"]);
            let text = format_args!("{path}: the disk is too slow; records are lost");
            log.warn(now_s, id, MODULE, text);
        }
    }
}
