//! Orders for workers that make a real database, and look records up in one.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// Whose files they are. The engines are no part of the guest's program: the lab puts a program of
/// its own, `hotset-database`, into the guests of an experiment that has one of these workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// One file, with a table of records in the order of their numbers and an index of keys. Which
    /// pages are the index's SQLite says itself (`dbstat`): these are all pages of the index, and the
    /// inner ones of the table.
    Sqlite,
    /// **redb does not tell whose a page is.** Keys therefore have a database file of their own, as
    /// they have in the seed's miniDB, and what counts as index is that file: the inner pages of the
    /// records' tree, some tens, count as records. It reads by pread(2) alone.
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

/// Make a database on the scratch disk: records of 1000 bytes, incompressible, `size` bytes of them,
/// and an index of keys of 80 bytes in another order than the records. Syncs it and exits.
/// Observes `<worker>.records` (how many), `<worker>.records_mb` and `<worker>.index_mb` (MiB of the
/// pages of each), and `<worker>.done_ms`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeDatabase {
    pub engine: Engine,
    pub size: Size,
}

/// Look up records of a database that a [`MakeDatabase`] has made: keys drawn at random, all alike,
/// the same in every arm and for every engine of the same size. Each record found is compared with
/// what was put in. Read ahead is what the engine and the kernel make of it. Exits after `look_ups`.
///
/// Observes once, at the end and of what came after `settle`: `<worker>.look_ups`,
/// `<worker>.done_ms`, `<worker>.majflt` (its own), `<worker>.index_resident` and
/// `<worker>.records_resident`: the share of the pages of each that were in memory (mincore(2)), the
/// mean of 50 looks. As every record is as likely as any other, these are the hits to be expected.
/// And of its cgroup, so with what else runs in it: `<worker>.refaults` (file pages) and
/// `<worker>.read_mb` (MiB from all disks).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookUp {
    pub engine: Engine,
    pub look_ups: u64,
    /// Look-ups before these, in which memory fills.
    #[serde(default)]
    pub settle: u64,
    /// Map the file (`PRAGMA mmap_size`), where the engine can; else it is read by pread(2).
    #[serde(default)]
    pub mapped: bool,
    /// Lock the index's pages in memory (mlock(2)) beforehand: the oracle who knows what is hot.
    /// Observes `<worker>.locked_mb`.
    #[serde(default)]
    pub lock_index: bool,
    /// What the engine itself keeps in memory; 256 KiB unless said otherwise, so that it is the
    /// kernel that keeps pages or does not.
    #[serde(default = "cache")]
    pub cache: Size,
}

fn cache() -> Size {
    Size::Bytes(256 << 10)
}
