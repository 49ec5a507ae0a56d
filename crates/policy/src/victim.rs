//! Whom to kill when memory is exhausted.
//!
//! The score, in pages: anonymous memory in RAM and in swap, plus what it has grown by since the
//! last look (at most once more its size), plus `oom_score_adj` thousandths of all memory and swap,
//! as the kernel's own `oom_badness` has it. The highest is killed, but
//!
//! * never: who is marked [`Mark::Never`] (pid 1, kernel threads, the daemon, session managers,
//!   the protect list) or has an `oom_score_adj` of -1000;
//! * first: the preferred, if one of them holds a twentieth of what the largest candidate does;
//! * together: many that belong together (user, session and name), each young or growing, and
//!   together larger than anybody and than four times what any other has grown by: a fork storm.
//!   None of them alone would be worth a kill.
//!
//! While somebody who holds memory is dying already, nobody else is chosen.

/// May a process be chosen?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    #[default]
    Ordinary,
    Never,
    Preferred,
}

/// One process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    pub pid: i32,
    pub parent: i32,
    pub session: i32,
    pub uid: u32,
    /// Clock ticks since boot: with the pid, the process's identity.
    pub start: u64,
    /// The kernel's name of it, filled up with zeros.
    pub name: [u8; 16],
    /// Anonymous pages, in memory and in swap: what a kill frees.
    pub memory: u64,
    /// By how many of them it has grown since the last look; all, where there was none.
    pub growth: u64,
    /// oom_score_adj, -1000 to 1000.
    pub adj: i32,
    pub mark: Mark,
    /// It has been killed already, and is on its way out.
    pub dying: bool,
}

impl Candidate {
    /// The name as text.
    #[must_use]
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|&byte| byte == 0);
        std::str::from_utf8(&self.name[..end.unwrap_or(16)]).unwrap_or("?")
    }

    /// The score; `None`: it is never killed.
    #[must_use]
    pub fn score(&self, total: u64) -> Option<i64> {
        if self.mark == Mark::Never || self.adj <= -1000 || self.pid <= 1 {
            return None;
        }
        let bonus = self.growth.min(self.memory) as i64;
        let adjusted = i64::from(self.adj) * (total / 1000) as i64;
        Some(self.memory as i64 + bonus + adjusted)
    }
}

/// What was chosen: indices into the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Nobody,
    /// Somebody is dying: wait.
    Wait(usize),
    One(usize),
    /// All that belong together with this one: [`Storm::of`] it.
    Storm(usize),
}

/// So many make a storm.
const STORM: usize = 8;
/// And only if a single grower has grown by less than this part of it: many who have just been
/// started look like a storm, and one who grows like that is the likelier culprit. Were it a storm
/// after all, it is the next.
const CULPRIT: u64 = 4;
/// A candidate below this share of all memory and swap is not worth its death; nor is one below a
/// MiB.
const LEAST_SHARE: u64 = 400;

/// Chooses. `total`: pages of memory and swap. Quadratic only in those that are young or growing and
/// head a group of their own.
#[must_use]
pub fn choose(candidates: &[Candidate], total: u64, page_size: u64) -> Choice {
    let least = ((1 << 20) / page_size.max(1)).max(total / LEAST_SHARE);
    let dying = |one: &Candidate| one.dying && one.memory >= least;
    if let Some(at) = candidates.iter().position(dying) {
        return Choice::Wait(at);
    }
    let best = |wanted: Option<Mark>| {
        let all = candidates.iter().enumerate();
        all.filter(|(_, one)| !one.dying && one.memory >= least)
            .filter(|(_, one)| wanted.is_none_or(|mark| mark == one.mark))
            .filter_map(|(at, one)| Some((one.score(total)?, at)))
            .max()
    };
    let Some((_, largest)) = best(None) else {
        return storm(candidates, total, least).map_or(Choice::Nobody, |(at, _)| Choice::Storm(at));
    };
    if let Some((_, at)) = best(Some(Mark::Preferred)) {
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

/// What the fastest grower that is not of the storm has grown by.
fn grower(candidates: &[Candidate], head: &Candidate, total: u64) -> u64 {
    let storm = Storm::of(head, candidates);
    let others = candidates.iter().filter(|one| !storm.has(one, total));
    others.map(|one| one.growth).max().unwrap_or(0)
}

fn worth(one: &Candidate) -> u64 {
    one.memory + one.growth.min(one.memory)
}

/// Young or growing: a quarter of it was not there at the last look.
fn grows(one: &Candidate) -> bool {
    one.growth > 0 && one.growth >= one.memory / 4
}

/// Do these two belong together?
#[must_use]
pub fn together(a: &Candidate, b: &Candidate) -> bool {
    (a.uid, a.session, a.name) == (b.uid, b.session, b.name)
}

/// A storm by one of its members.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    head: Candidate,
    /// The parent is one of them: then all of its children are, those that grow no longer as well.
    family: bool,
}

impl Storm {
    /// The storm of `candidates` that `head` is of.
    #[must_use]
    pub fn of(head: &Candidate, candidates: &[Candidate]) -> Storm {
        let parent = candidates.iter().find(|one| one.pid == head.parent);
        Storm {
            head: *head,
            family: parent.is_some_and(|parent| together(head, parent)),
        }
    }

    /// Is `one` a member? Its parent may be, even if it does not grow.
    #[must_use]
    pub fn has(&self, one: &Candidate, total: u64) -> bool {
        let spared = one.dying || one.score(total).is_none();
        let kin = one.pid == self.head.parent || one.parent == self.head.parent;
        !spared && together(&self.head, one) && (grows(one) || (self.family && kin))
    }
}

/// The largest storm: its first member, and its pages.
fn storm(candidates: &[Candidate], total: u64, least: u64) -> Option<(usize, u64)> {
    let counts = |one: &Candidate| grows(one) && !one.dying && one.score(total).is_some();
    let mut largest: Option<(usize, u64)> = None;
    for (at, head) in candidates.iter().enumerate() {
        // Only the first of a group counts it.
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
