//! Orders for workers that read and write files.
use super::memory::Fill;
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// Read a file from end to end `times` times in 128 KiB reads, with a rest after each read, and exit.
/// With rests, kswapd has the time to do all of the reclaim. Without rests, direct reclaim does a part.
/// Observes `<worker>.done_ms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    pub file: String,
    pub times: u64,
    #[serde(default)]
    pub rest_ms: u64,
}

/// A fixed sequence of accesses by one process, the same in every run with the same seed, for
/// comparing the counters of two kernels. Each of the `rounds` reads `read` bytes from `file` at a seeded
/// random place, and writes one page of `size` bytes of anonymous memory. Then exits. Observes
/// `<worker>.done_ms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    pub file: String,
    pub size: Size,
    pub rounds: u64,
    /// Rounds before these, in which memory comes to rest: a scene `until = "settled"` ends with them.
    #[serde(default)]
    pub settle: u64,
    /// Bytes of one read, whole pages; 64 KiB by default.
    #[serde(default = "read_size")]
    pub read: Size,
    #[serde(default = "mixed")]
    pub fill: Fill,
}

/// Write files of `size` bytes to the scratch disk in writes of 1 MiB, as `dd` does, for ever. The last
/// `keep` files of each process stay; older ones are deleted. Observes `<worker>.file_ms`, the time of
/// each file's writing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Churn {
    pub size: Size,
    #[serde(default)]
    pub keep: u32,
    /// A pause after each file, in milliseconds.
    #[serde(default)]
    pub rest_ms: u64,
}

/// A compile's demand on memory management, without a compiler.
///
/// `units` processes run, `jobs` at once. Each reads its own source and `headers` other files of the
/// tree: some are read by nearly all units, most by few. Each fills about `memory` bytes of anonymous
/// memory, computes over them, writes an object of about `object` bytes and exits. When all are done,
/// the objects are read and written as one, as by a linker. Sizes differ by unit, from half to three
/// times, and are the same in every run with the same seed.
///
/// The worker is a model: nothing is parsed, `rounds` sets the share of time spent computing, and a unit
/// has one process, not three.
///
/// Observes `<worker>.done_ms`, and of each unit `<worker>.unit_ms` and `<worker>.hit`: the share of the
/// pages that it read that were in the page cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compile {
    /// Files of the tree.
    pub files: u32,
    pub units: u32,
    pub jobs: u32,
    pub headers: u32,
    pub memory: Size,
    pub object: Size,
    /// Passes over the memory.
    #[serde(default = "rounds")]
    pub rounds: u32,
}

fn read_size() -> Size {
    Size::Bytes(64 << 10)
}

fn mixed() -> Fill {
    Fill::Mixed
}

fn rounds() -> u32 {
    4
}
