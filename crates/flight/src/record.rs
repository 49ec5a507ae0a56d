//! What a line of the file holds.
use crate::layout::Layout;
use kernfs::samples;
use serde::{Deserialize, Serialize};

/// The file's first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`Header::SCHEMA`].
    pub schema: String,
    pub layout: Layout,
    pub machine: samples::Machine,
}

impl Header {
    /// The name and version of the format. The version grows when a field goes or changes its meaning.
    pub const SCHEMA: &'static str = "hotset.flight.1";
}

/// One record: a sample as of `hotset record`, with fewer counters and more of the machine's life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub sample: samples::Record,
    /// Counted from the file's first record.
    #[serde(default)]
    pub number: u64,
    /// Seconds since 1970.
    #[serde(default)]
    pub unix_s: f64,
    /// The first digits of /proc/sys/kernel/random/boot_id: `t` begins anew with each boot.
    #[serde(default)]
    pub boot: String,
    /// Whether every file was read, as `hotset replay` needs it.
    #[serde(default)]
    pub whole: bool,
    /// The largest processes, largest first, when they were last counted.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// Processes of one name and user that have most together, most first, when they were last counted.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Cgroups whose tasks waited most for memory since they were last asked, most first.
    #[serde(default)]
    pub cgroups: Vec<Cgroup>,
    /// What hotsetd did since the record before.
    #[serde(default)]
    pub did: Vec<Deed>,
    /// In copies that are kept: for what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    pub pid: i32,
    pub name: String,
    #[serde(default)]
    pub uid: u32,
    /// Memory that nobody else has: anonymous and shared memory, page tables and swap, KiB.
    pub kib: u64,
    /// The part of it in swap, KiB.
    #[serde(default)]
    pub swap: u64,
    /// Seconds since boot at its start.
    #[serde(default)]
    pub start_s: f64,
    /// Its cgroup (v2), or the end of a long one.
    #[serde(default)]
    pub unit: String,
}

/// Processes of one name and user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub name: String,
    #[serde(default)]
    pub uid: u32,
    pub count: u64,
    /// As of [`Process`], all together.
    pub kib: u64,
}

/// One cgroup.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cgroup {
    /// Its path below the root of cgroups.
    pub name: String,
    /// memory.current, and memory.max (0: no limit). KiB.
    #[serde(default)]
    pub kib: u64,
    #[serde(default)]
    pub max: u64,
    /// Processes of it that the kernel has killed.
    #[serde(default)]
    pub oom: u64,
    /// Microseconds in which some of its tasks, or all, waited for memory, since it began.
    #[serde(default)]
    pub some: u64,
    #[serde(default)]
    pub full: u64,
}

/// What hotsetd did, as in its status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deed {
    /// Seconds since 1970.
    pub unix_s: f64,
    pub did: String,
    #[serde(default)]
    pub why: String,
    #[serde(default)]
    pub came: String,
}

/// Why a copy is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// `kill` or `stall`.
    pub why: String,
    /// Seconds since 1970.
    pub unix_s: f64,
}
