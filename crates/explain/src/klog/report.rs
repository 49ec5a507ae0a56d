//! What the kernel's log says about one kill for want of memory. Memory is in bytes.
use super::stamp::At;
use serde::Serialize;

/// One report of the OOM killer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    pub at: At,
    /// The program that asked for memory; empty where the log does not say.
    pub asked: String,
    /// It asked for 2 to the power of this pages in one piece.
    pub order: u32,
    /// Release of the kernel; empty where the log does not say.
    pub kernel: String,
    pub constraint: Constraint,
    /// Of a cgroup that used all of its limit.
    pub limit: Option<Limit>,
    pub memory: Option<Memory>,
    pub swap: Option<Swap>,
    /// Kinds of kernel objects that cannot be reclaimed, most first; where the kernel lists them.
    pub slabs: Vec<Slab>,
    pub tasks: Tasks,
    pub victims: Vec<Victim>,
    /// Nobody could be killed, and the kernel stopped.
    pub panicked: bool,
    pub missing: Vec<Missing>,
    /// Lines of the report that could not be read.
    pub strange: u64,
}

/// Where memory was short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    #[default]
    Machine,
    Cgroup,
    /// Some nodes alone: by a cpuset, or by the program's own policy.
    Nodes,
}

/// A part that a report lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    Begin,
    End,
    Memory,
    Tasks,
    /// All but the line of the kill: the kernel writes few reports in a row.
    Report,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    pub name: String,
    pub usage: u64,
    pub limit: u64,
    /// In the cgroup: anonymous memory, tmpfs and shared memory, kernel objects that cannot be reclaimed.
    pub anon: u64,
    pub shmem: u64,
    pub slab: u64,
}

/// Where the machine's memory was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Without what is reserved.
    pub total: u64,
    pub free: u64,
    /// The sum of the zones' high watermarks, and the largest free piece.
    pub high: u64,
    pub largest_piece: u64,
    pub anon: u64,
    pub file: u64,
    pub unevictable: u64,
    pub shmem: u64,
    pub slab: u64,
    pub slab_reclaimable: u64,
    pub page_tables: u64,
    pub kernel_stack: u64,
    pub hugetlb: u64,
    pub hugetlb_free: u64,
    /// What no counter of the report names.
    pub elsewhere: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swap {
    pub total: u64,
    pub free: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Slab {
    pub name: String,
    pub bytes: u64,
}

/// The table of tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tasks {
    /// Processes in the table, and their memory and swap together. Shared memory counts once for each where `split` is
    /// false.
    pub count: u64,
    pub bytes: u64,
    /// Whether the kernel tells anonymous, file and shared memory apart.
    pub split: bool,
    /// Most first.
    pub largest: Vec<Task>,
    /// Names that three processes or more have, by their memory together, most first.
    pub crowds: Vec<Crowd>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Task {
    pub pid: i32,
    pub uid: u32,
    pub name: String,
    /// Anonymous memory (all that is resident, where the kernel does not tell them apart), and what is in swap.
    pub resident: u64,
    pub swapped: u64,
    pub shared: u64,
    /// oom_score_adj.
    pub adjust: i64,
}

impl Task {
    /// Bytes that end with it.
    #[must_use]
    pub fn own(&self) -> u64 {
        self.resident.saturating_add(self.swapped)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Crowd {
    pub name: String,
    pub uid: u32,
    pub count: u64,
    pub bytes: u64,
}

/// A process that was killed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Victim {
    pub pid: i32,
    pub name: String,
    /// Resident memory.
    pub bytes: u64,
    /// Empty where the log does not say.
    pub cgroup: String,
}
