//! Orders for workers that take anonymous memory.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// Take anonymous memory and touch every page, as `tail /dev/zero` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hog {
    /// Stop growing at this size and hold; 0 for no end.
    #[serde(default)]
    pub size: Size,
    /// Growth a second; 0 for no limit.
    #[serde(default)]
    pub rate: Size,
    #[serde(default)]
    pub fill: Fill,
    /// A second process writes the memory through /proc/PID/mem, and its owner sleeps. On User-Mode
    /// Linux each page that a process touches is a system call of the host, so this is several times
    /// as fast. Observes `<worker>.mb_per_s` for each stretch of 20 ms that is faster than all before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_outside: bool,
}

/// Hold `size` bytes of anonymous memory and touch all of it in a loop, each page every `period_ms`.
///
/// Observes `<worker>.round_ms` and `<worker>.swapped_in`: the pages that the machine swapped in
/// during the round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Touch {
    pub size: Size,
    pub period_ms: u64,
    #[serde(default)]
    pub fill: Fill,
    /// Touch pages drawn at random, as many as there are, instead of each in turn. Touching more pages in
    /// turn than fit is the worst case of every policy, and chaotic.
    #[serde(default)]
    pub random: bool,
}

/// A small task that is to run each `period_ms`, as the part of a desktop does that a person looks at.
///
/// It holds `memory` bytes of anonymous memory and, where `file` names one, maps that file as a program's
/// code is mapped. Nothing is locked. Each beat touches a sixteenth of both, in turn. So a page is used
/// every 1.6 s with the period of 100 ms: often enough to be of the working set, and not so often that
/// no reclaim could ever take it. The 8 MiB are what a terminal or a panel holds.
///
/// Observes `<worker>.late_ms` for each beat that was due: the time from that moment to the end of the
/// task's next round. Beats that were due in a stall count, each with its own delay. Where the first of
/// them came a second late or more, `<worker>.still_s` is its delay in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    #[serde(default = "beat_ms")]
    pub period_ms: u64,
    #[serde(default = "beat_memory")]
    pub memory: Size,
    #[serde(default)]
    pub file: Option<String>,
}

fn beat_ms() -> u64 {
    100
}

fn beat_memory() -> Size {
    Size::Bytes(8 << 20)
}

/// Contents of anonymous pages. zram keeps a page of one repeated word in no memory at all, so zeros
/// (the contents of `tail /dev/zero`) and real contents press differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    #[default]
    Zero,
    /// A third of each page random, the rest zero: compresses about 3:1.
    Mixed,
    /// Incompressible.
    Random,
}
