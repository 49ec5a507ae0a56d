//! The files of a finished run:
//!
//! ```text
//! DIR/run.json              Run: the experiment, the machine, the arms
//! DIR/trials/ARM-REP.json   Trial: one boot of one arm
//! DIR/console/ARM-REP.log   the kernel's console, whole
//! DIR/traces/ARM-REP.*      with `trace = ["page-cache"]`: docs/guide/traces.md
//! DIR/recorded/NAME         recorded traces that were accessed
//! ```
use crate::plan::Plan;
use crate::wire::Counters;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the files. Raise it when a reader of older files would misread newer ones.
pub const SCHEMA: u32 = 1;

/// `run.json`: everything about a run except its measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub schema: u32,
    pub experiment: String,
    pub title: String,
    /// Description of the experiment in Markdown, for the head of the report.
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
    /// The experiment file's text at the time of the run.
    pub source: String,
    /// Name and version of each package of the root of programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
}

/// The machine that guests ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bed {
    /// "User-Mode Linux" or "QEMU (TCG)".
    pub name: String,
    pub memory_mb: u64,
    pub cpus: u32,
    pub zram_mb: u64,
    /// Bytes a second; 0 for unlimited.
    pub disk_read_bps: u64,
    /// Further parameters of the kernel's command line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command_line: String,
    /// Guests that ran at the same time. 0: there was no guest, and the machine itself was measured.
    pub jobs: u32,
    pub host_cpu: String,
    pub host_cpus: u32,
    pub host_kernel: String,
}

impl Bed {
    /// Whether the machine itself was measured, and no guest.
    #[must_use]
    pub fn is_this_machine(&self) -> bool {
        self.jobs == 0
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    pub name: String,
    /// Name in tables and legends.
    pub label: String,
    /// Kernel version and series, "7.3.4 vanilla" for instance.
    pub kernel: String,
    /// The image that was booted, and its making. Runs of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// The arm that ratios are taken against; none: the arm itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Kernel files that were written, path to value.
    pub settings: BTreeMap<String, String>,
    /// The place of a sweep's arm on the curves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
}

/// The image of a kernel: the file, and the making as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// SHA-256 of the file that was booted.
    pub sha256: String,
    /// "vanilla", "series", and so on; "foreign" for patches or images that are not the lab's.
    pub flavour: String,
    /// Identifies the source: Debian's package with its checksum, or a checksum of a tree. Empty where
    /// the lab did not build the image.
    #[serde(default)]
    pub source: String,
    /// File names of the patches, in order.
    #[serde(default)]
    pub patches: Vec<String>,
    /// Digest of these patches; empty without any.
    #[serde(default)]
    pub patches_digest: String,
    /// SHA-256 of the configuration; empty where the lab did not build the image.
    #[serde(default)]
    pub config_sha256: String,
}

/// A place on a [`crate::plan::Curve`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Name of the line that the point is on, as promises use it.
    pub series: String,
    /// Name of the line in legends; `series` when empty.
    #[serde(default)]
    pub label: String,
    pub x: f64,
}

/// `trials/ARM-REP.json`: one boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub schema: u32,
    pub arm: String,
    /// Number of the repetition, from 0.
    pub repetition: u32,
    pub seed: u64,
    pub outcome: Outcome,
    /// `uname -r` in the guest; empty when the guest sent nothing.
    pub release: String,
    pub mem_total_kb: u64,
    /// Host seconds from the start of the process to the guest's first line, and to its end.
    pub boot_s: f64,
    pub wall_s: f64,
    /// Settings as read back in the guest.
    pub settings: BTreeMap<String, String>,
    pub scenes: Vec<SceneRecord>,
    pub events: Vec<Event>,
    /// Gauge name to (t_ms, value).
    pub gauges: BTreeMap<String, Vec<(f64, f64)>>,
    /// Last lines of the console, for every outcome but `ok`.
    #[serde(default)]
    pub console_tail: Vec<String>,
}

/// The end of a boot. Anything but `Ok` is a result too: it is recorded and shown, never retried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    Ok,
    /// The kernel panicked; `message` is its line.
    Panic {
        message: String,
    },
    /// The guest was silent for `silent_s` seconds and was ended.
    Hang {
        silent_s: u64,
    },
    /// The guest reported an error, or ended without a reason.
    Failed {
        message: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneRecord {
    pub name: String,
    pub begin_ms: f64,
    pub end_ms: f64,
    /// Growth over the scene, `vmstat.pgscan_direct` for instance. Gauges of vmstat, whose names
    /// begin with `nr_`, appear with their change.
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
