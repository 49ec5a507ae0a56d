//! The choice of the process to kill when memory is exhausted.
//!
//! The score, in pages, follows the kernel's `oom_badness` (mm/oom_kill.c) and adds growth:
//!
//! ```text
//! score = memory + min(growth, memory) + oom_score_adj / 1000 * (memory and swap of the machine)
//! ```
//!
//! The process with the highest score is killed, with these exceptions:
//!
//! * [`Eligibility::Never`] (pid 1, kernel threads, the daemon, services of the protect list) and an
//!   `oom_score_adj` of -1000 spare a process. [`Eligibility::Last`] spares it while a larger process of the same
//!   user is there.
//! * A preferred process goes first if it holds a twentieth of the largest candidate's memory.
//! * A fork [`storm`](crate::storm) goes together.
//! * Of a family of processes that grows, such as the compilers of make, the largest goes before a larger process that
//!   does not grow.
//!
//! While processes that hold half as much as the victim would are dying already, no other is chosen.
pub use crate::protection::candidate::{share_out, Candidate, Eligibility};
use crate::protection::storm::{self, Storm};

/// The choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Nobody,
    /// This process, and perhaps others, are dying: the daemon waits for their memory.
    Wait(Candidate),
    One(Candidate),
    Storm(Storm),
}

/// A candidate below one part in so many of all memory and swap is not worth its death; nor is one
/// below a MiB.
const LEAST_SHARE: u64 = 400;

/// The dying are waited for if they hold at least one part in so many of what a kill would free. A user may kill small
/// processes of his own without end.
const ENOUGH: u64 = 2;

/// A preferred process, or a family that grows, goes in place of the largest if it holds or has grown by one part in so
/// many of it.
const GUILT: u64 = 20;

/// Pages that a process holds at least whose death is worth it. `total`: pages of memory and swap.
#[must_use]
pub fn least(total: u64, page_size: u64) -> u64 {
    ((1 << 20) / page_size.max(1)).max(total / LEAST_SHARE)
}

/// Chooses among `candidates`, and sorts them. `total`: pages of memory and swap.
#[must_use]
pub fn choose(candidates: &mut [Candidate], total: u64, page_size: u64) -> Choice {
    let least = least(total, page_size);
    expose_the_largest(candidates);
    let choice = among_the_living(candidates, total, least);
    let frees: u64 = match choice {
        Choice::One(one) => one.memory,
        Choice::Storm(storm) => {
            let members = candidates.iter().filter(|one| storm.has(one));
            members.map(|one| one.memory).sum()
        }
        Choice::Nobody | Choice::Wait(_) => 0,
    };
    let dying = candidates.iter().filter(|one| one.dying);
    let coming: u64 = dying.clone().map(|one| one.memory).sum();
    match dying.max_by_key(|one| (one.memory, one.pid)) {
        Some(most) if coming >= (frees / ENOUGH).max(least) => Choice::Wait(*most),
        _ => choice,
    }
}

fn among_the_living(candidates: &mut [Candidate], total: u64, least: u64) -> Choice {
    let best = |wanted: Option<Eligibility>| {
        let all = candidates.iter();
        let fit = all
            .filter(|one| !one.dying && one.memory >= least)
            .filter(|one| wanted.is_none_or(|eligibility| eligibility == one.eligibility));
        let scored = fit.filter_map(|one| Some((one.score(total)?, one.pid, *one)));
        scored
            .max_by_key(|&(score, pid, _)| (score, pid))
            .map(|(_, _, one)| one)
    };
    let largest = best(None);
    if let (Some(largest), Some(preferred)) = (largest, best(Some(Eligibility::Preferred))) {
        if preferred.memory >= largest.memory / GUILT {
            return Choice::One(preferred);
        }
    }
    match (storm::find(candidates, largest.as_ref(), least), largest) {
        (Some(storm), _) => Choice::Storm(storm),
        (None, Some(largest)) => {
            Choice::One(of_a_growing_family(candidates, &largest, least).unwrap_or(largest))
        }
        (None, None) => Choice::Nobody,
    }
}

/// The largest of the family that grows most, where it is the family that exhausts memory and not `largest`: together
/// its processes are larger, have grown [`storm::CULPRIT`] times as much, and by a [`GUILT`]th of `largest`. A family
/// is a user's processes of one session and name, such as the compilers of make.
fn of_a_growing_family(
    candidates: &mut [Candidate],
    largest: &Candidate,
    least: u64,
) -> Option<Candidate> {
    let fit = |one: &&Candidate| {
        !one.dying && one.eligibility == Eligibility::Ordinary && one.adj >= largest.adj
    };
    let growth =
        |family: &&[Candidate]| -> u64 { family.iter().filter(fit).map(|one| one.growth).sum() };
    storm::sort(storm::Bond::Name, candidates);
    let families = candidates.chunk_by(|a, b| storm::Bond::Name.key(a) == storm::Bond::Name.key(b));
    let family = families.max_by_key(growth)?;
    let memory: u64 = family.iter().filter(fit).map(|one| one.memory).sum();
    let grown = growth(&family);
    let guilty = memory > largest.memory
        && grown > storm::CULPRIT * largest.growth
        && grown >= largest.memory / GUILT;
    let members = family
        .iter()
        .filter(fit)
        .filter(|one| guilty && one.memory >= least);
    members.max_by_key(|one| (one.worth(), one.pid)).copied()
}

/// Makes each user's largest process an ordinary one, where it was to go last. Sorts by user and memory.
fn expose_the_largest(candidates: &mut [Candidate]) {
    candidates.sort_unstable_by_key(|one| (one.uid, u64::MAX - one.memory, one.pid));
    for of_user in candidates.chunk_by_mut(|a, b| a.uid == b.uid) {
        let alive = of_user
            .iter_mut()
            .find(|one| !one.dying && !one.is_spared());
        if let Some(largest) = alive.filter(|one| one.eligibility == Eligibility::Last) {
            largest.eligibility = Eligibility::Ordinary;
        }
    }
}
