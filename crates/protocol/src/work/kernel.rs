//! Orders for workers that change the kernel's settings, ask it for memory, or kill the daemon.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// Write kernel files in turn, `count` writes in all, and read each back. Then exit.
///
/// Observes `<worker>.written`, `<worker>.wrong` (writes that read back another number) and
/// `<worker>.longest_ms`, the longest write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnobLoop {
    /// Sysctls or absolute paths, and the values to write.
    pub writes: Vec<(String, String)>,
    pub count: u64,
    /// Pause after each write, in milliseconds.
    #[serde(default = "one")]
    pub period_ms: u64,
}

/// Start the daemon, kill it with SIGKILL at a random moment from `least_ms` to `most_ms`, start it
/// again and stop it with SIGTERM, `times` times. Then exit. After each time the `knobs` are compared
/// with their first values.
///
/// Observes `<worker>.killed`, `<worker>.wrong` (knobs that were not restored), `<worker>.changed` (kills
/// at which a knob had another value) and `<worker>.bad_exit` (stops that did not end well).
///
/// With `stopped_ms`, the daemon is first stopped with SIGSTOP for that long. Every other time it is
/// then continued and ended with SIGTERM. The other times it is killed, and `--restore` gives the knobs
/// back, as a unit with a watchdog does. Observes `<worker>.stopped`, `<worker>.changed_while_stopped`
/// (times), `<worker>.locked_mb` (the most memory locked while stopped) and `<worker>.swapped_kb` (the
/// most of the daemon's own memory in swap).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KillDaemon {
    pub times: u32,
    pub least_ms: u64,
    pub most_ms: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped_ms: u64,
    /// Sysctls or absolute paths.
    pub knobs: Vec<String>,
}

/// Each period: read the file, have the kernel take memory back, and measure how much of the file
/// stays in memory.
///
/// Observes `<worker>.left` (the share of the file that stays in memory) and, where `by` requests memory
/// itself, `<worker>.given` (the share of the request that was granted).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    pub file: String,
    pub by: AskBy,
    /// Bytes to request of `memory.reclaim`.
    #[serde(default)]
    pub amount: Size,
    pub period_ms: u64,
}

/// The interface by which a program requests reclaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskBy {
    /// `memory.reclaim` of the workers' cgroup.
    CgroupReclaim,
    /// `memory.reclaim` of the root.
    RootReclaim,
    /// `MADV_PAGEOUT` of a mapped file.
    Pageout,
    /// `vm.drop_caches` = 1.
    DropCaches,
    /// Hibernation up to its test of the freezer, for the smallest image. `shrink_all_memory()` runs and
    /// the image's memory is allocated; nothing is written. `given`: 1 if there was memory for the image.
    Hibernation,
    /// Each CMA area (`cma=` on the command line) is allocated whole and given back. `given`: share of
    /// the areas.
    Cma,
    /// Each movable memory block (`movablecore=`) goes offline, and online again. `given`: share of
    /// these blocks.
    Offline,
}

fn one() -> u64 {
    1
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
