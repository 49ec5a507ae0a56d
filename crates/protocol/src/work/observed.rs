//! The measurements of each kind of work: `<worker>.NAME` in experiment files.
use super::{AskBy, Work};

/// The processes of a worker that were killed, once a scene: every kind of work has it.
pub const DEATHS: &str = "deaths";

impl Work {
    /// The names that this kind of work observes, besides [`DEATHS`]. Each is `<worker>.NAME` as a metric.
    pub fn observes(&self) -> &'static [&'static str] {
        match self {
            Work::Stream { .. } | Work::Forks { .. } => &[],
            Work::Hog(_) => &["mb_per_s"],
            Work::Probe { .. } => &["resident", "read_ms"],
            Work::Beat(_) => &["late_ms", "still_s"],
            Work::Touch(_) => &["round_ms", "swapped_in"],
            Work::ReadOnce { .. } => &["read_ms"],
            Work::Pass(_) | Work::Fixed(_) | Work::Tree { .. } => &["done_ms"],
            Work::Squeeze { .. } => &["reclaim_ms"],
            Work::Age { .. } => &["generations"],
            Work::KnobLoop(_) => &["written", "wrong", "longest_ms"],
            Work::Churn(_) => &["file_ms"],
            Work::Compile(_) => &["done_ms", "unit_ms", "hit"],
            Work::HugePages { .. } => &["got", "fault_ms"],
            Work::Pipes { .. } => &["fill_ms"],
            Work::KillDaemon(_) => &KILL_DAEMON,
            Work::Access(_) => &ACCESS,
            Work::AppCycle(_) => &APP_CYCLE,
            Work::MakeDatabase(_) => &["records", "records_mb", "index_mb", "done_ms"],
            Work::LookUp(_) => &LOOK_UP,
            Work::CopyTree { .. } => &["copy_ms", "copied", "copied_mb"],
            Work::Names {} => &["names"],
            Work::Ask(_) => &["left", "given"],
            Work::Program(_) => &["done_ms", "failed"],
        }
    }

    /// The names that the worker's own orders add: what a program measures.
    pub fn measures(&self) -> Vec<&str> {
        match self {
            Work::Program(program) => program.measure.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The order without which the work does not observe `name`; none where these orders suffice.
    pub fn lacks_for(&self, name: &str) -> Option<&'static str> {
        let of = |names: &[&str]| names.contains(&name);
        match self {
            Work::Hog(hog) if of(&["mb_per_s"]) && !hog.from_outside => Some("from_outside = true"),
            Work::LookUp(one) if of(&["locked_mb"]) && !one.lock_index => Some("lock_index = true"),
            Work::KillDaemon(kill) if of(&KILL_DAEMON[4..]) && kill.stopped_ms == 0 => {
                Some("stopped_ms above 0")
            }
            Work::Access(access)
                if of(&["hit_first", "hit_rest"]) && access.rule.pages().0.is_none() =>
            {
                Some("a rule with two pools")
            }
            Work::Ask(ask) if of(&["given"]) => match ask.by {
                AskBy::Hibernation | AskBy::Cma | AskBy::Offline => None,
                _ => Some("by = \"hibernation\", \"cma\" or \"offline\""),
            },
            Work::Program(program) if of(&["failed"]) && !program.may_fail => {
                Some("may_fail = true")
            }
            _ => None,
        }
    }
}

/// The last four need `stopped_ms`.
const KILL_DAEMON: [&str; 8] = [
    "killed",
    "wrong",
    "changed",
    "bad_exit",
    "stopped",
    "changed_while_stopped",
    "locked_mb",
    "swapped_kb",
];

const ACCESS: [&str; 9] = [
    "requests",
    "misses",
    "hit",
    "hit_first",
    "hit_rest",
    "majflt",
    "done_ms",
    "resident_mean",
    "resident_max",
];

const LOOK_UP: [&str; 8] = [
    "look_ups",
    "done_ms",
    "majflt",
    "index_resident",
    "records_resident",
    "locked_mb",
    "refaults",
    "read_mb",
];

const APP_CYCLE: [&str; 20] = [
    "launch_ms",
    "hot_ms",
    "warm_ms",
    "cold_ms",
    "burst_ms",
    "hot",
    "warm",
    "cold",
    "launches",
    "lost",
    "hot_to_cold",
    "hot_to_warm",
    "warm_to_cold",
    "kills",
    "kills_ams",
    "kills_lmkd",
    "kills_oom",
    "kills_daemon",
    "kills_front",
    "cached",
];
