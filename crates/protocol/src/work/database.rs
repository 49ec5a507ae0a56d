//! Orders for workers that make a real database, and look records up in one.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// The database engine. The guest's program contains no engine: the lab adds the program
/// `hotset-database` to the guests of an experiment with one of these workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// One file, with a table of records in the order of their numbers and an index of keys. SQLite
    /// lists the pages by owner (`dbstat`). All pages of the index, and the inner pages of the table,
    /// count as the index.
    Sqlite,
    /// **redb does not list the pages of an index.** Keys therefore have a file of their own, which counts
    /// as the index. The inner pages of the records' tree, some tens, count as records. redb reads by
    /// pread(2) alone.
    Redb,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Redb => "redb",
        }
    }
}

/// Make a database on the scratch disk, sync it and exit: `size` bytes of incompressible records of
/// 1000 bytes, and an index of keys of 80 bytes in another order than the records. Observes
/// `<worker>.records` (their number), `<worker>.records_mb` and `<worker>.index_mb` (MiB of the
/// pages of each), and `<worker>.done_ms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeDatabase {
    pub engine: Engine,
    pub size: Size,
}

/// Look up records of a database that a [`MakeDatabase`] has made, and exit after `look_ups`. Keys
/// are drawn at random with the same probability, and are the same in every arm and for every
/// engine of the same size. Each record is compared with the stored one. Read-ahead of engine and kernel
/// is on.
///
/// Observes once, at the end, of the look-ups after `settle`: `<worker>.look_ups`,
/// `<worker>.done_ms`, `<worker>.majflt` (its own), `<worker>.index_resident` and
/// `<worker>.records_resident`: the share of the pages of each in memory (mincore(2)), as the mean
/// of 50 samples. Since all records are equally likely, these are the expected hits. Observes of
/// the whole cgroup: `<worker>.refaults` (file pages) and `<worker>.read_mb` (MiB from all disks).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookUp {
    pub engine: Engine,
    pub look_ups: u64,
    /// Look-ups before the measured ones, in which memory fills.
    #[serde(default)]
    pub settle: u64,
    /// Map the file (`PRAGMA mmap_size`), where the engine can. Otherwise pread(2) reads it.
    #[serde(default)]
    pub mapped: bool,
    /// Lock the index's pages in memory (mlock(2)) beforehand, as an oracle that knows the hot
    /// pages. Observes `<worker>.locked_mb`.
    #[serde(default)]
    pub lock_index: bool,
    /// Cache of the engine itself; 256 KiB by default, so that keeping pages is up to the kernel.
    #[serde(default = "cache")]
    pub cache: Size,
}

fn cache() -> Size {
    Size::Bytes(256 << 10)
}
