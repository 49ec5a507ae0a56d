//! The files of a finished run:
//!
//! ```text
//! DIR/run.json              Run: what was run, where, with what
//! DIR/trials/ARM-REP.json   Trial: one boot of one arm
//! DIR/console/ARM-REP.log   the kernel's console, whole
//! DIR/traces/ARM-REP.*      with `trace = ["page-cache"]`: docs/traces.md
//! DIR/recorded/NAME         recorded traces that were accessed
//! ```
use crate::plan::Plan;
use crate::wire::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Raised when a reader of older files would misread newer ones.
pub const SCHEMA: u32 = 1;

/// `run.json`: everything about a run but its measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub schema: u32,
    pub experiment: String,
    pub title: String,
    /// What the experiment is about, in Markdown, for the head of the report.
    #[serde(default)]
    pub about: String,
    /// The command that reproduces this run.
    pub command: String,
    pub hotset_version: String,
    /// Seconds since the epoch.
    pub started: u64,
    pub bed: Bed,
    pub arms: Vec<Arm>,
    pub repetitions: u32,
    pub seed: u64,
    pub plan: Plan,
    /// The experiment file's text as it was run.
    pub source: String,
}

/// Where guests ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bed {
    /// "User-Mode Linux" or "QEMU (TCG)".
    pub name: String,
    pub memory_mb: u64,
    pub cpus: u32,
    pub zram_mb: u64,
    /// Bytes a second; 0 for unlimited.
    pub disk_read_bps: u64,
    /// Further words of the kernel's command line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command_line: String,
    /// Guests run side by side.
    pub jobs: u32,
    pub host_cpu: String,
    pub host_cpus: u32,
    pub host_kernel: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    pub name: String,
    /// For tables and legends.
    pub label: String,
    /// Kernel version and series, "7.3.4 vanilla" for instance.
    pub kernel: String,
    /// The arm that ratios are taken against, where not itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Kernel files set, path to value.
    pub settings: BTreeMap<String, String>,
    /// Of a sweep's arm: where it stands on the curves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

/// A place on a [`crate::plan::Curve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The line that it is a point of, by the name that promises use.
    pub series: String,
    /// The line's name in legends; `series` when empty.
    #[serde(default)]
    pub label: String,
    pub x: f64,
}

/// `trials/ARM-REP.json`: one boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub schema: u32,
    pub arm: String,
    /// From 0.
    pub repetition: u32,
    pub seed: u64,
    pub outcome: Outcome,
    /// `uname -r` as the guest said it; empty when it never spoke.
    pub release: String,
    pub mem_total_kb: u64,
    /// Host seconds from start of the process to the guest's hello, and to its end.
    pub boot_s: f64,
    pub wall_s: f64,
    /// Settings as read back in the guest.
    pub settings: BTreeMap<String, String>,
    pub scenes: Vec<SceneRecord>,
    pub events: Vec<Event>,
    /// Gauge name to (t_ms, value).
    pub gauges: BTreeMap<String, Vec<(f64, f64)>>,
    /// Last lines of the console; kept in the trial for any outcome but `ok`.
    #[serde(default)]
    pub console_tail: Vec<String>,
}

/// How a boot ended. Anything but `Ok` is a result too: it is recorded and shown, never retried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    Ok,
    /// The kernel panicked; `message` is its line.
    Panic {
        message: String,
    },
    /// Nothing was heard for `silent_s` seconds and the guest was ended.
    Hang {
        silent_s: u64,
    },
    /// The guest's own error, or it ended without saying why.
    Failed {
        message: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneRecord {
    pub name: String,
    pub begin_ms: f64,
    pub end_ms: f64,
    /// Growth over the scene, `vmstat.pgscan_direct` for instance. (vmstat's gauges, whose names
    /// begin with `nr_`, appear with their change as well.)
    pub counters: Counters,
    /// Observation name to (t_ms, value), in order of time.
    pub observations: BTreeMap<String, Vec<(f64, f64)>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub t_ms: f64,
    pub name: String,
    pub detail: String,
}
