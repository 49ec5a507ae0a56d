//! What kind of shortage it was, and whose.
use crate::episode::Episode;
use crate::growth::{Growth, Taker, Who};
use crate::points::Point;
use flight::{Cgroup, Record};
use serde::Serialize;

/// The kinds of shortage, each with its own cure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A cgroup reached its limit; the machine had memory left.
    CgroupLimit,
    /// Memory lies in the pool of huge pages.
    HugePages,
    /// There was free memory, in pieces.
    Fragmentation,
    /// The kernel's own objects took it.
    Kernel,
    /// Files in tmpfs or shared memory that nobody has mapped.
    SharedFiles,
    /// Many small processes.
    Crowd,
    /// A program grew.
    Program,
    /// Nobody grew much: the page cache had too little room for what is read again and again.
    CacheThrash,
    /// Nobody grew much: programs together use more memory than there is.
    SwapThrash,
    /// The record does not tell.
    Unknown,
}

/// The judgement.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    pub kind: Kind,
    /// Who took the memory; `None`: nobody that the record names.
    pub culprit: Option<Taker>,
    /// The cgroup that waited most, and seconds for which some of its tasks did.
    pub waited: Option<Waited>,
    /// Swap was there, and all of it was used.
    pub swap_full: bool,
    /// Means over the episode.
    pub in_it: Means,
}

/// A cgroup that waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waited {
    pub name: String,
    pub seconds: f64,
    /// Its limit, bytes; 0 for none.
    pub limit: u64,
    /// Processes of it that the kernel killed in the episode.
    pub kills: u64,
}

/// Means over an episode, weighted by time. Bytes, or per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Means {
    pub total: f64,
    pub free: f64,
    pub high: f64,
    pub available: f64,
    pub anon: f64,
    pub file: f64,
    pub hugetlb_free: f64,
    pub refault_file: f64,
    pub refault_anon: f64,
    pub swap_in: f64,
    pub alloc_stalls: f64,
    pub compact_stalls: f64,
    pub least_swap_free: f64,
    pub swap: f64,
}

/// A growth that explains the shortage is at least this share of what was taken.
const EXPLAINS: f64 = 0.25;
/// And at least this share of memory: less is no cause.
const MATTERS: f64 = 0.04;
/// A cgroup is at its limit from this share of it on.
const AT_LIMIT: f64 = 0.9;
/// A machine with this share of memory available is not short.
const PLENTY: f64 = 0.08;

/// Judges an episode. `points` are those of `records`.
#[must_use]
pub fn judge(records: &[Record], points: &[Point], episode: &Episode, growth: &Growth) -> Verdict {
    let in_it = means(points, episode);
    let waiting = waiting(records, episode);
    let waited = waiting.first().cloned();
    let matters = |taker: &&Taker| {
        let grew = taker.grew() as f64;
        let enough = grew >= MATTERS * in_it.total && grew >= EXPLAINS * growth.taken() as f64;
        enough && !taker.is_lived_with(episode)
    };
    let culprit = growth.takers.iter().find(matters);
    let limited = waiting.iter().find(|one| one.limit > 0);
    let plenty = in_it.available >= PLENTY * in_it.total;
    let (kind, culprit) = match (culprit, limited) {
        (_, Some(one)) if plenty && is_most(one, episode) => {
            (Kind::CgroupLimit, of_unit(growth, &one.name))
        }
        _ if in_it.hugetlb_free >= 0.2 * in_it.total => (Kind::HugePages, pool(growth)),
        (Some(taker), _) => (kind_of(&taker.who), Some(taker)),
        // A request for a huge page that compaction could not serve is counted as a wait in reclaim, too.
        _ if in_it.compact_stalls >= 0.5 && in_it.free > 2.0 * in_it.high => {
            (Kind::Fragmentation, None)
        }
        _ if in_it.swap_in + in_it.refault_anon > in_it.refault_file.max(10.0) => {
            (Kind::SwapThrash, largest(growth))
        }
        _ if in_it.refault_file >= 10.0 => (Kind::CacheThrash, largest(growth)),
        _ => (Kind::Unknown, None),
    };
    Verdict {
        kind,
        culprit: culprit.cloned(),
        waited,
        swap_full: in_it.swap > 0.0 && in_it.least_swap_free <= 0.02 * in_it.swap,
        in_it,
    }
}

/// The kind of a shortage that this one brought about.
pub(crate) fn kind_of(who: &Who) -> Kind {
    match who {
        Who::Program { .. } => Kind::Program,
        Who::Crowd { .. } => Kind::Crowd,
        Who::SharedFiles => Kind::SharedFiles,
        Who::HugePages => Kind::HugePages,
        Who::Slab | Who::PageTables | Who::KernelStacks | Who::Elsewhere => Kind::Kernel,
    }
}

/// The taker that is the pool of huge pages.
fn pool(growth: &Growth) -> Option<&Taker> {
    growth
        .takers
        .iter()
        .find(|taker| taker.who == Who::HugePages)
}

/// The program that has most at its peak.
fn largest(growth: &Growth) -> Option<&Taker> {
    let programs = growth
        .takers
        .iter()
        .filter(|taker| matches!(taker.who, Who::Program { .. } | Who::Crowd { .. }));
    programs.max_by_key(|taker| taker.has)
}

/// The program of a cgroup, or below it, that grew most.
fn of_unit<'a>(growth: &'a Growth, cgroup: &str) -> Option<&'a Taker> {
    let programs = growth.takers.iter().filter(|taker| match &taker.who {
        // A record shows the end of a long path.
        Who::Program { unit, .. } => {
            let unit = unit.trim_start_matches('/');
            unit.contains(cgroup) || cgroup.ends_with(unit) && !unit.is_empty()
        }
        _ => false,
    });
    programs.max_by_key(|taker| taker.has)
}

/// Whether most of the waiting of the episode was this cgroup's.
fn is_most(one: &Waited, episode: &Episode) -> bool {
    one.seconds >= episode.some_s / 2.0 || one.kills > 0
}

/// Cgroups by the time for which their tasks waited in the episode, most first.
#[must_use]
pub fn waiting(records: &[Record], episode: &Episode) -> Vec<Waited> {
    let seen = records
        .iter()
        .filter(|record| (episode.begin_s - 5.0..=episode.end_s + 5.0).contains(&record.unix_s));
    let mut found: Vec<(Cgroup, Cgroup, bool)> = Vec::new();
    for cgroup in seen.flat_map(|record| &record.cgroups) {
        let full = cgroup.max > 0 && cgroup.kib as f64 >= AT_LIMIT * cgroup.max as f64;
        match found
            .iter_mut()
            .find(|(first, _, _)| first.name == cgroup.name)
        {
            Some((_, last, limited)) => {
                *last = cgroup.clone();
                *limited |= full;
            }
            None => found.push((cgroup.clone(), cgroup.clone(), full)),
        }
    }
    let mut waited: Vec<Waited> = found
        .into_iter()
        .map(|(first, last, limited)| Waited {
            seconds: last.some.saturating_sub(first.some) as f64 / 1e6,
            limit: if limited { last.max << 10 } else { 0 },
            kills: last.oom.saturating_sub(first.oom),
            name: last.name,
        })
        .collect();
    waited.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    waited
}

fn means(points: &[Point], episode: &Episode) -> Means {
    let inside: Vec<&Point> = points
        .iter()
        .filter(|point| {
            (episode.begin_s..=episode.end_s).contains(&point.unix_s) && point.dt_s > 0.0
        })
        .collect();
    let time_s: f64 = inside.iter().map(|point| point.dt_s).sum();
    let mean = |of: &dyn Fn(&Point) -> f64| {
        let sum: f64 = inside.iter().map(|point| of(point) * point.dt_s).sum();
        sum / time_s.max(1e-9)
    };
    let swap_free = inside.iter().map(|point| point.memory.swap_free as f64);
    Means {
        total: mean(&|point| point.memory.total as f64),
        free: mean(&|point| point.memory.free as f64),
        high: mean(&|point| point.memory.high as f64),
        available: mean(&|point| point.memory.available as f64),
        anon: mean(&|point| point.memory.anon as f64),
        file: mean(&|point| point.memory.file as f64),
        hugetlb_free: mean(&|point| point.memory.hugetlb_free as f64),
        refault_file: mean(&|point| point.rates.refault_file),
        refault_anon: mean(&|point| point.rates.refault_anon),
        swap_in: mean(&|point| point.rates.swap_in),
        alloc_stalls: mean(&|point| point.rates.alloc_stalls),
        compact_stalls: mean(&|point| point.rates.compact_stalls),
        least_swap_free: swap_free.fold(f64::INFINITY, f64::min),
        swap: mean(&|point| point.memory.swap as f64),
    }
}
