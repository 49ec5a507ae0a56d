//! Workers, and the scenes in which they run.
use crate::size::Size;
use crate::work::Work;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Workers and the order in which they run. A guest reads sizes in bytes: the lab resolves shares
/// of the machine's memory beforehand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// By name.
    pub workers: BTreeMap<String, Worker>,
    pub scenes: Vec<Scene>,
    /// Clean file pages, in bytes. Memory counts as exhausted at or under this size once swap is
    /// full and free pages are short (the guest's `watch` decides).
    #[serde(default)]
    pub exhausted_below: Size,
}

/// A stretch of time with a fixed set of workers. Workers that consecutive scenes name go on running
/// across the boundary. Workers that a scene no longer names are stopped; new ones are started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    pub name: String,
    /// Names of the workers that run.
    #[serde(default)]
    pub run: Vec<String>,
    /// Length in seconds. For a scene with `until`: its limit.
    pub seconds: f64,
    /// The event that ends the scene early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The number of processes that must have been killed, with `until = "killed"`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub kills: u32,
    /// Drop the page cache before the scene starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_caches: bool,
}

/// The events that end a scene before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The first OOM kill (of any kind) in the scene.
    OomKill,
    /// Memory is exhausted ([`Workload::exhausted_below`]), so that the next scene's clock starts there.
    Exhausted,
    /// `kills` of the workers' processes were ended by SIGKILL or SIGTERM, by the kernel or by a daemon.
    Killed,
    /// All of the scene's workers that end by themselves have ended ([`Work::ends_by_itself`]).
    Done,
    /// All of the scene's workers that settle have settled ([`Work::settles`]).
    Settled,
}

/// One kind of work, run as `count` processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Externally tagged, so that an error in an experiment file keeps its line: `does.hog = {}`.
    pub does: Work,
    /// Processes started.
    #[serde(default = "one")]
    pub count: u32,
    /// Start a process again when it ends or is killed. `<worker>.deaths` is observed for each scene:
    /// how many of the worker's processes were killed.
    #[serde(default)]
    pub restart: bool,
    /// Put the processes into a cgroup with this `memory.max` (0 for none).
    #[serde(default)]
    pub memory_max: Size,
    /// Put the processes into a cgroup of their own, as a desktop has one for each application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_cgroup: bool,
    /// Put the processes into the cgroup of this name. Workers that give the same name share it, and
    /// must have the same `memory_max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// `oom_score_adj` of the processes.
    #[serde(default)]
    pub oom_score_adj: i32,
    /// The memory node that the processes are bound to, with its CPUs if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}
