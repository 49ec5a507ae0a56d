//! Who took the memory: what each had in the calm before, and at its peak.
use crate::episode::Episode;
use crate::points::{Memory, Point};
use flight::Record;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Memory taken from the calm before to the worst moment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Growth {
    /// The moment with most memory left, seconds since 1970, and the one with least.
    pub calm_s: f64,
    pub worst_s: f64,
    /// What programs could still take at these moments: available memory and free swap. Bytes.
    pub calm_left: u64,
    pub worst_left: u64,
    /// By growth, most first; then by size.
    pub takers: Vec<Taker>,
}

/// Who took memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Taker {
    pub who: Who,
    /// Bytes in the calm before, and at the peak.
    pub had: u64,
    pub has: u64,
    /// When the growth began, and when the peak was. Seconds since 1970.
    pub since_s: f64,
    pub peak_s: f64,
    /// When most of the growth, [`MOST`], was over. Seconds since 1970.
    pub grown_s: f64,
}

/// A program, or a part of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Processes of one name in one unit. `pid`: of the largest. `seen`: pids over time.
    Program {
        name: String,
        unit: String,
        uid: u32,
        pid: i32,
        seen: u64,
    },
    /// Many processes of one name and user: the most at once.
    Crowd {
        name: String,
        uid: u32,
        count: u64,
    },
    /// Files in tmpfs, memfd and System V segments that no process has mapped.
    SharedFiles,
    /// Kernel objects that cannot be reclaimed.
    Slab,
    PageTables,
    KernelStacks,
    HugePages,
    /// Memory that no counter names: zram, or a driver's.
    Elsewhere,
}

impl Taker {
    /// Bytes.
    #[must_use]
    pub fn grew(&self) -> u64 {
        self.has.saturating_sub(self.had)
    }

    /// Whether the machine had lived with the growth before an episode began: for as long as it took, and 15 seconds at
    /// least. A leak that goes on for hours is most of the way there a few minutes before; a program that took its memory
    /// and stays as it is has not brought the shortage about.
    #[must_use]
    pub fn is_lived_with(&self, episode: &Episode) -> bool {
        episode.begin_s - self.grown_s > (self.grown_s - self.since_s).max(LIVED_S)
    }

    /// Bytes a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.grew() as f64 / (self.peak_s - self.since_s).max(1.0)
    }
}

impl Growth {
    /// Bytes that were taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.calm_left.saturating_sub(self.worst_left)
    }
}

/// What grows by little more has grown.
const MOST: f64 = 0.95;
/// A machine that lives with a growth for so long does not freeze by it. Seconds.
const LIVED_S: f64 = 15.0;

/// Share of memory by which what is left may differ in a calm machine.
const SLACK: f64 = 0.03;

/// A part of the kernel, and its bytes.
type Part = (Who, fn(&Memory) -> u64);
/// Values over time. Bytes.
type Series = Vec<(f64, u64)>;

/// Finds who took memory before and in the episode. `points` are those of `records`.
#[must_use]
pub fn find(records: &[Record], points: &[Point], episode: &Episode) -> Growth {
    let until = |end_s: f64| points.iter().filter(move |point| point.unix_s <= end_s);
    let most = until(episode.begin_s)
        .map(|point| point.memory.left())
        .max();
    // The last moment with about as much: what grew long before has not brought the shortage about.
    let nearly = |point: &&Point| {
        let slack = (point.memory.total as f64 * SLACK) as u64;
        point.memory.left() + slack >= most.unwrap_or(0)
    };
    let last = until(episode.begin_s).rfind(nearly);
    let Some(calm) = last.or(points.first()) else {
        return Growth::default();
    };
    let in_it = until(episode.end_s).filter(|point| point.unix_s >= calm.unix_s);
    let worst = in_it
        .min_by_key(|point| point.memory.left())
        .unwrap_or(calm);
    let mut takers = programs(records, calm.unix_s, episode.end_s);
    takers.extend(crowds(records, calm.unix_s, episode.end_s, &takers));
    takers.extend(parts_of_the_kernel(
        points,
        calm.unix_s,
        episode.end_s,
        &takers,
    ));
    takers.retain(|taker| taker.has > 0);
    takers.sort_by_key(|taker| std::cmp::Reverse((taker.grew(), taker.has)));
    Growth {
        calm_s: calm.unix_s,
        worst_s: worst.unix_s,
        calm_left: calm.memory.left(),
        worst_left: worst.memory.left(),
        takers,
    }
}

#[derive(Default)]
struct Program {
    series: Series,
    pids: BTreeSet<i32>,
    uid: u32,
    largest: (u64, i32),
    /// Seconds since 1970 at the start of its first process.
    started_s: f64,
}

fn programs(records: &[Record], calm_s: f64, end_s: f64) -> Vec<Taker> {
    let mut programs: BTreeMap<(String, String), Program> = BTreeMap::new();
    for record in records.iter().filter(|record| record.unix_s <= end_s) {
        // Records show the last count again until the next.
        let booted_s = record.unix_s - record.sample.t;
        let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
        for one in &record.processes {
            let key = (one.name.clone(), one.unit.clone());
            let bytes = one.kib << 10;
            *sums.entry(key.clone()).or_default() += bytes;
            let program = programs.entry(key).or_default();
            if program.pids.is_empty() {
                program.started_s = booted_s + one.start_s;
            }
            program.pids.insert(one.pid);
            program.uid = one.uid;
            program.largest = program.largest.max((bytes, one.pid));
        }
        for (key, program) in &mut programs {
            let bytes = sums.get(key).copied().unwrap_or(0);
            program.series.push((record.unix_s, bytes));
        }
    }
    let taker = |((name, unit), program): ((String, String), Program)| {
        let who = Who::Program {
            name,
            unit,
            uid: program.uid,
            pid: program.largest.1,
            seen: program.pids.len() as u64,
        };
        taker(who, &program.series, calm_s, program.started_s <= calm_s)
    };
    programs.into_iter().filter_map(taker).collect()
}

/// Groups count only where the processes that are listed one by one do not tell of them.
fn crowds(records: &[Record], calm_s: f64, end_s: f64, programs: &[Taker]) -> Vec<Taker> {
    let mut crowds: BTreeMap<(String, u32), (Series, u64)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.unix_s <= end_s) {
        for group in &record.groups {
            let crowd = crowds.entry((group.name.clone(), group.uid)).or_default();
            crowd.0.push((record.unix_s, group.kib << 10));
            crowd.1 = crowd.1.max(group.count);
        }
    }
    let told = |name: &str| {
        let of_name = programs
            .iter()
            .filter(|taker| matches!(&taker.who, Who::Program { name: own, .. } if own == name));
        of_name.map(Taker::grew).sum::<u64>()
    };
    let crowd = |((name, uid), (series, count)): ((String, u32), (Series, u64))| {
        let known = told(&name);
        let who = Who::Crowd { name, uid, count };
        // Only what was first seen after the calm has grown for sure.
        taker(who, &series, calm_s, false).filter(|taker| taker.grew() > known / 4 * 5)
    };
    crowds.into_iter().filter_map(crowd).collect()
}

fn parts_of_the_kernel(
    points: &[Point],
    calm_s: f64,
    end_s: f64,
    programs: &[Taker],
) -> Vec<Taker> {
    let parts: [Part; 5] = [
        (Who::SharedFiles, |memory| memory.shmem),
        (Who::Slab, |memory| memory.slab),
        (Who::PageTables, |memory| memory.page_tables),
        (Who::KernelStacks, |memory| memory.kernel_stack),
        (Who::HugePages, |memory| memory.hugetlb),
    ];
    let by_programs: u64 = programs.iter().map(Taker::grew).sum();
    let mut found = Vec::new();
    for (who, of) in parts {
        let near = points.iter().filter(|point| point.unix_s <= end_s);
        let series: Series = near
            .map(|point| (point.unix_s, of(&point.memory)))
            .collect();
        let Some(mut taker) = taker(who, &series, calm_s, true) else {
            continue;
        };
        if taker.who == Who::SharedFiles {
            // What a process has mapped is the process's.
            taker.has -= taker.grew().min(by_programs);
        }
        found.push(taker);
    }
    found
}

/// `None`: nothing was seen. `there`: whoever is not seen in the calm may have had as much as when first seen.
fn taker(who: Who, series: &[(f64, u64)], calm_s: f64, there: bool) -> Option<Taker> {
    let before = series.iter().rev().find(|(at_s, _)| *at_s <= calm_s);
    let first = series
        .iter()
        .find(|(at_s, bytes)| *at_s > calm_s && *bytes > 0);
    let had = match (before, first) {
        (Some((_, bytes)), _) if *bytes > 0 => *bytes,
        (_, Some((_, bytes))) if there => *bytes,
        _ => 0,
    };
    let after = series.iter().filter(|(at_s, _)| *at_s >= calm_s);
    let &(peak_s, has) = after.clone().max_by_key(|(_, bytes)| *bytes)?;
    let begun = had + has.saturating_sub(had) / 10;
    let since = after.clone().find(|(_, bytes)| *bytes > begun);
    let since_s = since.map_or(calm_s, |(at_s, _)| *at_s).min(peak_s);
    let most = had + (has.saturating_sub(had) as f64 * MOST) as u64;
    let grown = after.clone().find(|(_, bytes)| *bytes >= most);
    let grown_s = grown.map_or(peak_s, |(at_s, _)| *at_s);
    Some(Taker {
        who,
        had,
        has,
        since_s,
        peak_s,
        grown_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grows from second 2 for `seconds`, then stays; the episode begins in second 100.
    fn lived_with(seconds: u64) -> bool {
        let value = |at: u64| at.saturating_sub(2).min(seconds) << 20;
        let series: Series = (0..140).map(|at| (at as f64, value(at))).collect();
        let taker = taker(Who::Slab, &series, 0.0, false).unwrap();
        assert_eq!(taker.grew(), seconds << 20);
        let episode = Episode {
            begin_s: 100.0,
            end_s: 140.0,
            ..Episode::default()
        };
        taker.is_lived_with(&episode)
    }

    #[test]
    fn what_grew_long_before_has_not_brought_the_shortage_about() {
        assert!(lived_with(10));
        assert!(lived_with(40));
        // As long as it took, the machine did not live with it.
        assert!(!lived_with(60));
        assert!(!lived_with(97), "up to the episode");
        assert!(!lived_with(120), "and through it");
    }
}
