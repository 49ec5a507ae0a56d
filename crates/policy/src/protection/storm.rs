//! A fork storm: many processes, none of which alone is worth a kill.
//!
//! A storm is eight or more processes that are young or growing and belong together. Who has just been killed counts
//! among the eight: a parent may replace each child that is killed, so that there are never eight at once. Together
//! they are at least as large as any other process, unless the same storm was killed a moment ago. They are larger than
//! [`CULPRIT`] times the growth of any other.
//!
//! What belongs together is looked for in three ways, the narrowest first: a user's processes of one session and name,
//! those of one cgroup, and all of the user's. setsid(2), another name or another cgroup for each child only lead from
//! one way to the next. Who belongs to eight in one way is not looked at in the next: it hides nothing.
pub use crate::protection::candidate::Bond;
use crate::protection::candidate::{Candidate, Eligibility};

/// So many processes make a storm.
const STORM: usize = 8;
/// A storm is chosen only if it is so many times as large as the growth of any other process. Many
/// processes that have just been started resemble a storm, and one that grows as fast is the likelier
/// culprit. A real storm is chosen next.
pub(crate) const CULPRIT: u64 = 4;
/// The narrowest first.
const BONDS: [Bond; 3] = [Bond::Name, Bond::Cgroup, Bond::User];

impl Bond {
    pub(crate) fn key(self, one: &Candidate) -> (u32, u64, [u8; 16]) {
        match self {
            Bond::Name => (one.uid, one.session as u64, one.name),
            Bond::Cgroup => (one.uid, one.cgroup, [0; 16]),
            Bond::User => (one.uid, 0, [0; 16]),
        }
    }
}

/// A storm, known by one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// A member.
    pub head: Candidate,
    bond: Bond,
    /// The process that starts the members, if it is one itself.
    parent: Option<i32>,
}

impl Storm {
    /// Whether `one` is a member. The parent is one even if it does not grow. So are those of its children that have
    /// its name and grow no longer.
    #[must_use]
    pub fn has(&self, one: &Candidate) -> bool {
        if one.dying || one.is_spared() {
            return false;
        }
        if self.parent == Some(one.pid) {
            return true;
        }
        let alike = self.bond.key(one) == self.bond.key(&self.head);
        match self.bond {
            Bond::Name => alike && (grows(one) || self.parent == Some(one.parent)),
            bond => alike && one.bond == Some(bond),
        }
    }

    /// Whether hotsetd has just killed `one` with a storm, which is now back.
    fn is_back_with(&self, one: &Candidate) -> bool {
        let alike = self.bond.key(one) == self.bond.key(&self.head);
        one.fell_in_storm && alike && one.bond == Some(self.bond)
    }

    /// Whether `one` starts the others.
    #[must_use]
    pub fn is_parent(&self, one: &Candidate) -> bool {
        self.parent == Some(one.pid)
    }
}

/// Whether a process is young or growing: a quarter of it was not there at the last sample.
fn grows(one: &Candidate) -> bool {
    one.growth > 0 && one.growth >= one.memory / 4
}

/// The storm that is to be killed rather than `largest`. Sorts `candidates`. A storm below `least` pages is none.
pub(crate) fn find(
    candidates: &mut [Candidate],
    largest: Option<&Candidate>,
    least: u64,
) -> Option<Storm> {
    find_bonds(candidates);
    for bond in BONDS {
        let Some((storm, pages)) = largest_of(bond, candidates) else {
            continue;
        };
        let Some(largest) = largest else {
            return Some(storm).filter(|_| pages >= least);
        };
        let others = candidates.iter().filter(|one| !storm.has(one));
        let fastest = others.map(|one| one.growth).max().unwrap_or(0);
        let large =
            pages >= largest.worth() || candidates.iter().any(|one| storm.is_back_with(one));
        if pages >= least && large && pages > CULPRIT * fastest {
            return Some(storm);
        }
    }
    None
}

/// Finds the bond of each candidate. Sorts `candidates`. To be called for a new sample before [`Storm::has`].
pub fn find_bonds(candidates: &mut [Candidate]) {
    candidates.iter_mut().for_each(|one| one.bond = None);
    for bond in BONDS {
        sort(bond, candidates);
        for group in candidates.chunk_by_mut(|a, b| bond.key(a) == bond.key(b)) {
            let counts = |one: &&mut Candidate| one.bond.is_none() && counts(one);
            if group.iter_mut().filter(counts).count() >= STORM {
                let members = group.iter_mut().filter(counts);
                members.for_each(|one| one.bond = Some(bond));
            }
        }
    }
}

pub(crate) fn sort(bond: Bond, candidates: &mut [Candidate]) {
    candidates.sort_unstable_by_key(|one| (bond.key(one), one.parent, one.pid));
}

/// Whether a process may be one of a storm.
fn counts(one: &Candidate) -> bool {
    one.fallen || grows(one) && !one.dying && !one.is_spared()
}

/// The largest storm, and its pages.
fn largest_of(bond: Bond, candidates: &mut [Candidate]) -> Option<(Storm, u64)> {
    let member = |one: &&Candidate| one.bond == Some(bond);
    let alive = |one: &&Candidate| member(one) && !one.dying;
    candidates.iter().find(alive)?;
    sort(bond, candidates);
    let mut largest: Option<(&[Candidate], u64)> = None;
    for group in candidates.chunk_by(|a, b| bond.key(a) == bond.key(b)) {
        let pages = group.iter().filter(alive).map(Candidate::worth).sum();
        if pages > largest.map_or(0, |(_, most)| most) {
            largest = Some((group, pages));
        }
    }
    let (group, pages) = largest?;
    let head = *group.iter().find(alive)?;
    // Members lie in the order of their parents. One that has started a storm of its own is a member.
    let families = group.chunk_by(|a, b| a.parent == b.parent);
    let family = families.max_by_key(|family| family.iter().filter(member).count())?;
    let children = family.iter().filter(member).count();
    let parent = candidates.iter().find(|one| one.pid == family[0].parent);
    let spared = |one: &Candidate| {
        one.uid != head.uid || one.is_spared() || one.eligibility == Eligibility::Last
    };
    let parent = parent.filter(|one| children >= STORM && !spared(one));
    let parent = parent.map(|one| one.pid);
    Some((Storm { head, bond, parent }, pages))
}
