//! What kind of shortage a report tells of, and whose.
use super::report::{Constraint, Report, Task};
use crate::growth::Who;
use crate::verdict::{kind_of, Kind};
use serde::Serialize;

/// The judgement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// Who had most; `None`: nobody stands out, or the report does not say.
    pub culprit: Option<Holder>,
    /// Bytes that were shared out: memory and the swap in use, or a cgroup's limit. 0 where the report does not say.
    pub whole: u64,
    /// Most first.
    pub holders: Vec<Holder>,
    /// Swap was there, and all of it was used.
    pub swap_full: bool,
}

/// Who had memory at the kill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    pub who: Who,
    /// Memory and swap, and the part of it in swap.
    pub bytes: u64,
    pub swapped: u64,
}

/// Whoever has this share of the whole brought the shortage about.
const STANDS_OUT: f64 = 0.1;
/// A pool of huge pages whose free part is this share of memory did.
const POOL: f64 = 0.2;

/// Judges a report.
#[must_use]
pub fn judge(report: &Report) -> Finding {
    let holders = holders(report);
    let whole = whole(report);
    let swap = report.swap.unwrap_or_default();
    let (kind, culprit) = match &report.memory {
        _ if report.constraint == Constraint::Cgroup => {
            (Kind::CgroupLimit, holders.first().cloned())
        }
        Some(memory) if is_in_pieces(report) && memory.free > memory.high => {
            (Kind::Fragmentation, None)
        }
        Some(memory) if memory.hugetlb_free as f64 >= POOL * memory.total.max(1) as f64 => {
            (Kind::HugePages, None)
        }
        _ => {
            let first = holders.first();
            let stands = first.filter(|one| one.bytes as f64 >= STANDS_OUT * whole as f64);
            let kind = stands.map_or(Kind::Unknown, |one| kind_of(&one.who));
            (kind, stands.cloned())
        }
    };
    Finding {
        kind,
        culprit,
        whole,
        holders,
        swap_full: swap.total > 0 && swap.free <= swap.total / 50,
    }
}

/// Whether several pages in one piece were asked for, and no piece was as large.
fn is_in_pieces(report: &Report) -> bool {
    let largest = report.memory.map_or(0, |memory| memory.largest_piece);
    report.order > 0 && largest < 4096 << report.order
}

fn whole(report: &Report) -> u64 {
    let swap = report.swap.unwrap_or_default();
    let used = swap.total.saturating_sub(swap.free);
    match (&report.limit, &report.memory) {
        (Some(limit), _) => limit.limit,
        (None, Some(memory)) => memory.total.saturating_add(used),
        (None, None) => 0,
    }
}

fn holders(report: &Report) -> Vec<Holder> {
    let tasks = &report.tasks;
    let crowds = tasks.crowds.iter().filter(|crowd| {
        // Where one of them has most, it is that one.
        let of_name = tasks.largest.iter().find(|task| task.name == crowd.name);
        of_name.is_none_or(|task| task.own() < crowd.bytes / 2)
    });
    let mut holders: Vec<Holder> = crowds
        .map(|crowd| Holder {
            who: Who::Crowd {
                name: crowd.name.clone(),
                uid: crowd.uid,
                count: crowd.count,
            },
            bytes: crowd.bytes,
            swapped: 0,
        })
        .collect();
    let in_crowd = |name: &str| {
        holders
            .iter()
            .any(|one| matches!(&one.who, Who::Crowd { name: own, .. } if own == name))
    };
    let alone = tasks.largest.iter().filter(|task| !in_crowd(&task.name));
    let alone: Vec<Holder> = alone.map(|task| program(report, task)).collect();
    holders.extend(alone);
    holders.extend(kernel(report));
    holders.retain(|one| one.bytes > 0);
    holders.sort_by_key(|one| std::cmp::Reverse(one.bytes));
    holders
}

fn program(report: &Report, task: &Task) -> Holder {
    let victim = report.victims.iter().find(|one| one.pid == task.pid);
    Holder {
        who: Who::Program {
            name: task.name.clone(),
            unit: victim.map(|one| one.cgroup.clone()).unwrap_or_default(),
            uid: task.uid,
            pid: task.pid,
            seen: 1,
        },
        bytes: task.own(),
        swapped: task.swapped,
    }
}

fn kernel(report: &Report) -> Vec<Holder> {
    let shared = report.tasks.largest.iter().map(|task| task.shared);
    // What a process has mapped is the process's, and many may have mapped the same.
    let mapped = shared.max().unwrap_or(0);
    let holder = |(who, bytes)| Holder {
        who,
        bytes,
        swapped: 0,
    };
    if let Some(limit) = &report.limit {
        let parts = [
            (Who::SharedFiles, limit.shmem.saturating_sub(mapped)),
            (Who::Slab, limit.slab),
        ];
        return parts.map(holder).into();
    }
    let Some(memory) = &report.memory else {
        return Vec::new();
    };
    let parts = [
        (Who::SharedFiles, memory.shmem.saturating_sub(mapped)),
        (Who::Slab, memory.slab),
        (Who::PageTables, memory.page_tables),
        (Who::KernelStacks, memory.kernel_stack),
        (Who::HugePages, memory.hugetlb),
        (Who::Elsewhere, memory.elsewhere),
    ];
    parts.map(holder).into()
}
