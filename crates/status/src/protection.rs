//! Protection of the working set in the status document.
use crate::tolerant::document;
use serde::{Deserialize, Serialize};

document! {
    /// Protection of the working set.
    pub struct Protection {
        /// Who keeps the floors.
        pub enforcer: Enforcer,
        /// Hard floor under anonymous pages, percent of memory.
        pub anon_min_ratio: u32,
        /// Hard floor under clean file pages, percent of memory.
        pub clean_min_ratio: u32,
        /// Soft floor under clean file pages, percent of memory.
        pub clean_low_ratio: u32,
        /// Hard floor under anonymous pages, bytes.
        pub anon_min_bytes: u64,
        /// Hard floor under clean file pages, bytes.
        pub clean_min_bytes: u64,
        /// Soft floor under clean file pages, bytes.
        pub clean_low_bytes: u64,
        /// Clean file pages, without locked ones, bytes.
        pub clean_bytes: u64,
        /// Anonymous pages, bytes.
        pub anon_bytes: u64,
        /// Bytes that allocations can take before reclaim is steered.
        pub distance_bytes: u64,
        /// Seconds from the last sample of protection to the next.
        pub next_sample_s: f64,
        /// Which pages reclaim is kept to.
        pub steering: Steering,
        /// The administrator wrote vm.swappiness: the daemon leaves it alone.
        pub swappiness_is_the_administrators: bool,
        /// Neither type of page can be spared.
        pub both_floors_bind: bool,
        /// Memory is exhausted.
        pub exhausted: bool,
        /// Whether the daemon kills.
        pub kills: Kills,
        /// The process that was killed last.
        pub last_victim: Option<Victim>,
        /// File pages that are locked. `None`: none may be.
        pub locked: Option<LockedFiles>,
        /// Cgroups whose working set is protected. `None`: none is named.
        pub cgroups: Option<Vec<Cgroup>>,
        /// Other programs that kill when memory is short.
        pub other_killers: Vec<String>,
        /// Events since protection began.
        pub counts: ProtectionCounts,
    }

    /// A process that was killed, or would have been.
    pub struct Victim {
        /// Seconds since 1970.
        pub at_unix_s: f64,
        /// The process id.
        pub pid: i32,
        /// The user id.
        pub uid: u32,
        /// The command's name.
        pub name: String,
        /// Processes killed: 1, or those of a fork storm.
        pub processes: u32,
        /// Memory of all of them, bytes.
        pub bytes: u64,
        /// The reason why memory counted as exhausted.
        pub cause: String,
        /// A dry run: nothing was killed.
        pub dry_run: bool,
        /// Microseconds from the decision to the last signal.
        pub took_us: u32,
    }

    /// File pages that are locked in memory.
    pub struct LockedFiles {
        /// Bytes that may be locked.
        pub budget_bytes: u64,
        /// Bytes that are locked.
        pub bytes: u64,
        /// The files.
        pub files: Vec<LockedFile>,
    }

    /// A file with locked pages.
    pub struct LockedFile {
        /// The file's path.
        pub path: String,
        /// Processes that map it; 0: data that is read.
        pub users: u32,
        /// Locked bytes.
        pub bytes: u64,
    }

    /// A cgroup whose working set is protected.
    pub struct Cgroup {
        /// The file that is written: memory.low or memory.min.
        pub knob: String,
        /// Bytes written last.
        pub bytes: u64,
        /// The estimated working set, bytes.
        pub working_set_bytes: u64,
    }

    /// Events since protection began.
    pub struct ProtectionCounts {
        /// Samples of protection.
        pub samples: u64,
        /// Writes of vm.swappiness.
        pub steered: u64,
        /// Kills, a fork storm counted once.
        pub kills: u64,
        /// Kills of a dry run.
        pub kills_dry_run: u64,
        /// Reclaims of anonymous memory.
        pub anon_reclaims: u64,
        /// Kills that nobody was notified of.
        pub kills_unnotified: u64,
    }
}

/// Who keeps the floors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Enforcer {
    /// The kernel, which has the series.
    Kernel,
    /// The daemon, by vm.swappiness.
    Hotsetd,
    /// A value that this version does not know.
    #[default]
    Unknown,
}

/// Which pages reclaim is kept to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Steering {
    /// Both types, balanced by the administrator's vm.swappiness.
    #[default]
    Admin,
    /// Anonymous pages.
    Anon,
    /// File pages.
    File,
}

/// Whether the daemon kills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kills {
    /// The daemon kills nothing.
    #[serde(rename = "never")]
    Never,
    /// The daemon logs which process it would kill.
    #[serde(rename = "says whom")]
    DryRun,
    /// The daemon kills when memory is exhausted.
    #[serde(rename = "when exhausted")]
    WhenExhausted,
    /// A value that this version does not know.
    #[default]
    #[serde(rename = "unknown")]
    Unknown,
}
