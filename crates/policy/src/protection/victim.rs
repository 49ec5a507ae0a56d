//! The choice of the process to kill when memory is exhausted.
//!
//! The score, in pages, follows the kernel's `oom_badness` (mm/oom_kill.c) and adds growth:
//!
//! ```text
//! score = memory + min(growth, memory) + oom_score_adj / 1000 * (memory and swap of the machine)
//! ```
//!
//! The process with the highest score is killed, with three exceptions:
//!
//! * [`Eligibility::Never`] (pid 1, kernel threads, the daemon, session managers, the protect list) and an
//!   `oom_score_adj` of -1000 spare a process.
//! * A preferred process goes first if it holds a twentieth of the largest candidate's memory.
//! * A fork storm goes together: many processes of one user, session and name, each young or growing.
//!   Together they are larger than any other process, and than [`CULPRIT`] times the growth of any
//!   other. None of them alone is worth a kill.
//!
//! While a process that holds memory is dying already, no other is chosen.

/// Whether a process may be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eligibility {
    #[default]
    Ordinary,
    Never,
    Preferred,
}

/// One process. Pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    pub pid: i32,
    pub parent: i32,
    pub session: i32,
    pub uid: u32,
    /// Start time, clock ticks since boot. Pid and start time identify a process.
    pub start: u64,
    /// The kernel's name of the process (`comm`), filled up with zeros.
    pub name: [u8; 16],
    /// Anonymous pages in memory and in swap: a kill frees them.
    pub memory: u64,
    /// Pages by which `memory` has grown since the last sample; all of it at the first.
    pub growth: u64,
    /// oom_score_adj, -1000 to 1000.
    pub adj: i32,
    pub eligibility: Eligibility,
    /// The process has been killed already and is still there.
    pub dying: bool,
}

impl Candidate {
    /// The name as text.
    #[must_use]
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|&byte| byte == 0);
        std::str::from_utf8(&self.name[..end.unwrap_or(16)]).unwrap_or("?")
    }

    /// The score, pages; `None`: the process is never killed. `total`: pages of memory and swap.
    #[must_use]
    pub fn score(&self, total: u64) -> Option<i64> {
        if self.eligibility == Eligibility::Never || self.adj <= -1000 || self.pid <= 1 {
            return None;
        }
        let bonus = self.growth.min(self.memory) as i64;
        let adjusted = i64::from(self.adj) * (total / 1000) as i64;
        Some(self.memory as i64 + bonus + adjusted)
    }
}

/// The choice: indices into the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Nobody,
    /// This process is dying: the daemon waits for its memory.
    Wait(usize),
    One(usize),
    /// All members of the storm of this process ([`Storm::of`]).
    Storm(usize),
}

/// So many processes make a storm.
const STORM: usize = 8;
/// A storm is chosen only if it is so many times as large as the growth of any other process. Many
/// processes that have just been started resemble a storm, and one that grows as fast is the likelier
/// culprit. A real storm is chosen next.
const CULPRIT: u64 = 4;
/// A candidate below one part in so many of all memory and swap is not worth its death; nor is one
/// below a MiB.
const LEAST_SHARE: u64 = 400;

/// Chooses among `candidates`. `total`: pages of memory and swap.
///
/// Quadratic only in processes that are young or growing and head a group of their own.
#[must_use]
pub fn choose(candidates: &[Candidate], total: u64, page_size: u64) -> Choice {
    let least = ((1 << 20) / page_size.max(1)).max(total / LEAST_SHARE);
    let dying = |one: &Candidate| one.dying && one.memory >= least;
    if let Some(at) = candidates.iter().position(dying) {
        return Choice::Wait(at);
    }
    let best = |wanted: Option<Eligibility>| {
        let all = candidates.iter().enumerate();
        all.filter(|(_, one)| !one.dying && one.memory >= least)
            .filter(|(_, one)| wanted.is_none_or(|eligibility| eligibility == one.eligibility))
            .filter_map(|(at, one)| Some((one.score(total)?, at)))
            .max()
    };
    let Some((_, largest)) = best(None) else {
        return storm(candidates, total, least).map_or(Choice::Nobody, |(at, _)| Choice::Storm(at));
    };
    if let Some((_, at)) = best(Some(Eligibility::Preferred)) {
        if candidates[at].memory >= candidates[largest].memory / 20 {
            return Choice::One(at);
        }
    }
    match storm(candidates, total, least) {
        Some((at, pages))
            if pages > worth(&candidates[largest])
                && pages > CULPRIT * grower(candidates, &candidates[at], total) =>
        {
            Choice::Storm(at)
        }
        _ => Choice::One(largest),
    }
}

/// Pages by which the fastest grower outside of the storm has grown.
fn grower(candidates: &[Candidate], head: &Candidate, total: u64) -> u64 {
    let storm = Storm::of(head, candidates);
    let others = candidates.iter().filter(|one| !storm.has(one, total));
    others.map(|one| one.growth).max().unwrap_or(0)
}

/// Pages that a kill frees, and those that it keeps from being taken.
fn worth(one: &Candidate) -> u64 {
    one.memory + one.growth.min(one.memory)
}

/// Whether a process is young or growing: a quarter of it was not there at the last sample.
fn grows(one: &Candidate) -> bool {
    one.growth > 0 && one.growth >= one.memory / 4
}

/// Whether two processes belong together: the same user, session and name.
#[must_use]
pub fn together(a: &Candidate, b: &Candidate) -> bool {
    (a.uid, a.session, a.name) == (b.uid, b.session, b.name)
}

/// A storm, known by one of its members.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    head: Candidate,
    /// The parent is a member. Then all of its children are, also those that grow no longer.
    family: bool,
}

impl Storm {
    /// The storm of `candidates` that `head` belongs to.
    #[must_use]
    pub fn of(head: &Candidate, candidates: &[Candidate]) -> Storm {
        let parent = candidates.iter().find(|one| one.pid == head.parent);
        Storm {
            head: *head,
            family: parent.is_some_and(|parent| together(head, parent)),
        }
    }

    /// Whether `one` is a member. The parent may be one even if it does not grow.
    #[must_use]
    pub fn has(&self, one: &Candidate, total: u64) -> bool {
        let spared = one.dying || one.score(total).is_none();
        let kin = one.pid == self.head.parent || one.parent == self.head.parent;
        !spared && together(&self.head, one) && (grows(one) || (self.family && kin))
    }
}

/// The largest storm: the index of its first member, and its pages.
fn storm(candidates: &[Candidate], total: u64, least: u64) -> Option<(usize, u64)> {
    let counts = |one: &Candidate| grows(one) && !one.dying && one.score(total).is_some();
    let mut largest: Option<(usize, u64)> = None;
    for (at, head) in candidates.iter().enumerate() {
        // Only the first of a group counts the group.
        let earlier = |other: &Candidate| together(head, other) && counts(other);
        if !counts(head) || candidates[..at].iter().any(earlier) {
            continue;
        }
        let (mut count, mut pages) = (0, 0);
        for one in &candidates[at..] {
            if together(head, one) && counts(one) {
                count += 1;
                pages += worth(one);
            }
        }
        if count >= STORM && pages >= least && largest.is_none_or(|(_, most)| pages > most) {
            largest = Some((at, pages));
        }
    }
    largest
}
