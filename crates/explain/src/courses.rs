//! The memory of those who took it, over time.
use crate::growth::{Growth, Who};
use crate::points::Point;
use flight::Record;

/// Those who are followed.
const FOLLOWED: usize = 6;
/// Less than this is no taker. Bytes.
const LEAST: u64 = 1 << 20;

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    pub who: Who,
    /// Seconds since 1970, and bytes. It has moments in which it was seen, and the first in which it was gone.
    pub points: Vec<(f64, u64)>,
}

/// The courses of those who grew most. `points` are those of `records`.
#[must_use]
pub fn of(records: &[Record], points: &[Point], growth: &Growth) -> Vec<Course> {
    let grew = growth.takers.iter().filter(|taker| taker.grew() >= LEAST);
    grew.take(FOLLOWED)
        .map(|taker| Course {
            who: taker.who.clone(),
            points: course(records, points, &taker.who),
        })
        .collect()
}

fn course(records: &[Record], points: &[Point], who: &Who) -> Vec<(f64, u64)> {
    let part = |of: fn(&Point) -> u64| points.iter().map(|one| (one.unix_s, of(one))).collect();
    match who {
        Who::Program { name, unit, .. } => seen(records, |record| {
            let own = record.processes.iter();
            let own = own.filter(|one| one.name == *name && one.unit == *unit);
            let least = record.processes.iter().map(|one| one.kib).min();
            (own.map(|one| one.kib).sum(), least)
        }),
        Who::Crowd { name, uid, .. } => seen(records, |record| {
            let own = record.groups.iter();
            let own = own.filter(|one| one.name == *name && one.uid == *uid);
            let least = record.groups.iter().map(|one| one.kib).min();
            (own.map(|one| one.kib).sum(), least)
        }),
        Who::SharedFiles => part(|one| one.memory.shmem),
        Who::Slab => part(|one| one.memory.slab),
        Who::PageTables => part(|one| one.memory.page_tables),
        Who::KernelStacks => part(|one| one.memory.kernel_stack),
        Who::HugePages => part(|one| one.memory.hugetlb),
        // Only a kernel's log leaves it over.
        Who::Elsewhere => Vec::new(),
    }
}

/// `of` gives what one has, and the least of any that the record lists. KiB.
fn seen(records: &[Record], of: impl Fn(&Record) -> (u64, Option<u64>)) -> Vec<(f64, u64)> {
    let mut course: Vec<(f64, u64)> = Vec::new();
    for record in records {
        let (kib, least) = of(record);
        let had = course.last().map_or(0, |(_, bytes)| *bytes);
        // A record lists the largest. Whoever is not among them is gone if it had more than the least of them.
        let gone = had > 0 && least.is_none_or(|least| had > least << 10);
        if kib > 0 || gone {
            course.push((record.unix_s, kib << 10));
        }
    }
    course
}
