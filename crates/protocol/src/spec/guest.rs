//! The machine of a guest, and the guest's task.
use super::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The orders of a guest, in `/hotset/spec.json` of its initramfs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestSpec {
    /// Seed of every random choice in the guest; the same for all arms of one repetition.
    pub seed: u64,
    /// Kernel files to write before the first scene, in this order.
    #[serde(default)]
    pub knobs: Vec<Knob>,
    /// Size of the zram swap device in MiB; 0 for none.
    #[serde(default)]
    pub zram_mb: u64,
    /// Block device that carries the data file system, such as `/dev/ubda`.
    pub disk: Disk,
    /// An empty disk that only this trial writes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Scratch>,
    /// The disk with the root of workers that are programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
    /// The arm's daemon, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<Daemon>,
    /// Period of the gauges' samples, in milliseconds.
    pub sample_ms: u64,
    /// Tracepoints that are on over all scenes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Trace>,
    pub task: Task,
}

/// Tracepoints that the guest records. Tracing costs time and some memory, so it is off by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// The time of each direct reclaim of a thread (`mm_vmscan_direct_reclaim_begin` to `_end`; a
    /// cgroup's own reclaim is left out). Observes, once a scene and of the reclaims that began in
    /// it: `direct_reclaim.count`, `.total_ms`, `.p50_ms`, `.p90_ms`, `.p99_ms` (to 5%), `.max_ms`,
    /// the counts `.under_5_ms`, `.from_5_ms`, `.from_50_ms` and `.from_500_ms`, `.over_50_ms` (the
    /// last two together), `.unfinished`, and `.lost`, the events that the kernel dropped.
    DirectReclaim,
    /// Each page that comes into the page cache and leaves it (`mm_filemap_add_to_page_cache` and
    /// `mm_filemap_delete_from_page_cache`). The lab writes a trace of the pages that came and one
    /// of those that left, for `hotset trace` and `hotset sim`. Observes, once a scene:
    /// `page_cache.inserted` and `.evicted`, in pages, `.lost`, the events that the kernel dropped,
    /// and `.unread`, those that the guest cannot parse. The kernel's buffer takes 4 MiB a CPU.
    PageCache,
}

/// One kernel file, and the value to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Absolute path in the guest, `/proc/sys/vm/swappiness` for instance.
    pub path: String,
    pub value: String,
}

/// The data disk. Its throttle gives a refault the cost of a real device. Without the throttle, a test
/// bed's disk is the host's page cache, as fast as memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// The block device; empty without files.
    pub device: String,
    /// Bytes read a second, for cgroup v2 `io.max`; 0 for no limit.
    #[serde(default)]
    pub read_bps: u64,
    /// Read operations a second; 0 for no limit.
    #[serde(default)]
    pub read_iops: u64,
}

/// A formatted disk to write to, mounted at `/scratch`. Its contents end with the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scratch {
    pub device: String,
    /// Bytes written a second, for cgroup v2 `io.max`; 0 for no limit. Reads have the data disk's
    /// throttle.
    #[serde(default)]
    pub write_bps: u64,
    /// Size in MiB of a swap file on it; 0 for none.
    #[serde(default, skip_serializing_if = "no_swap")]
    pub swap_mb: u64,
}

/// A disk with a whole root file system. What is written to it ends with the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    pub device: String,
    /// Bytes written a second, for cgroup v2 `io.max`; 0 for no limit. Reads have the data disk's
    /// throttle.
    #[serde(default)]
    pub write_bps: u64,
}

fn no_swap(mb: &u64) -> bool {
    *mb == 0
}

/// The arm's daemon. Each line of its log is an event `daemon-log`. A daemon that ends by itself
/// fails the trial. At the end there are events `daemon-exit` and `daemon-cost`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daemon {
    /// The program's path in the guest, and its arguments.
    pub command: Vec<String>,
    /// True: the daemon starts before the first scene and gets SIGTERM after the last. False:
    /// workers start it themselves.
    pub start: bool,
    /// True for a program other than hotsetd: any exit status is good after SIGTERM.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// The task of a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// Fill the data disk's files, name to size in bytes, with seeded, incompressible content. The
    /// lab has formatted the disk.
    Prepare { files: BTreeMap<String, u64> },
    /// Mount the data disk read-only and run the scenes.
    Scenes { workload: Workload },
    /// Run the kernel's selftests `/hotset/selftests/NAME`, one after the other. Each line of
    /// output is an event `selftest`. The task fails when a line begins with `not ok` or a selftest
    /// fails.
    Selftest {
        programs: Vec<String>,
        /// A file of the data disk, whose path the tests get as `WSPROT_FILE`. Without it there is
        /// no disk.
        #[serde(default)]
        file: Option<String>,
    },
    /// Report that the kernel booted, then power off (`hotset kernel check`).
    Boot,
    /// Fail on purpose, for the lab's own tests.
    Fail { how: Failure },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Kernel panic by sysrq.
    Panic,
    /// Send nothing more, for ever.
    Hang,
    /// End with an error message.
    Error,
}
