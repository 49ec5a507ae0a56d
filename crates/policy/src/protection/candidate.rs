//! A process that may be killed, and its score.

/// Whether a process may be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eligibility {
    #[default]
    Ordinary,
    Never,
    /// Only once no process of the same user is larger. Anybody can take a name; nobody gains by it so.
    Last,
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
    /// A number for the path of the process's cgroup.
    pub cgroup: u64,
    /// Anonymous and shared pages in memory, anonymous pages in swap, and page tables: a kill frees them.
    /// [`share_out`] adds shared pages in swap.
    pub memory: u64,
    /// Shared pages in memory (`RssShmem`).
    pub shared: u64,
    /// Anonymous pages in swap (`VmSwap`).
    pub swapped: u64,
    /// Pages that the process has had in memory at its peak (`VmHWM`) and has neither there nor in swap now.
    pub missing: u64,
    /// Pages by which `memory` has grown since the last sample; all of it at the first.
    pub growth: u64,
    /// oom_score_adj, -1000 to 1000.
    pub adj: i32,
    pub eligibility: Eligibility,
    /// What it shares with seven others that grow; see [`crate::storm::find_bonds`].
    pub bond: Option<Bond>,
    /// The process has been killed already and is still there.
    pub dying: bool,
    /// hotsetd has just killed the process, be it still there or not.
    pub fallen: bool,
    /// The same, and a storm with it.
    pub fell_in_storm: bool,
}

impl Candidate {
    /// The name as text.
    #[must_use]
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|&byte| byte == 0);
        std::str::from_utf8(&self.name[..end.unwrap_or(16)]).unwrap_or("?")
    }

    /// Whether the process is never killed, be it as one of a storm.
    #[must_use]
    pub fn is_spared(&self) -> bool {
        self.eligibility == Eligibility::Never || self.adj <= -1000 || self.pid <= 1
    }

    /// The score, pages; `None`: the process is not killed by itself. `total`: pages of memory and swap.
    #[must_use]
    pub fn score(&self, total: u64) -> Option<i64> {
        if self.is_spared() || self.eligibility == Eligibility::Last {
            return None;
        }
        let bonus = self.growth.min(self.memory) as i64;
        let adjusted = i64::from(self.adj) * (total / 1000) as i64;
        Some(self.memory as i64 + bonus + adjusted)
    }

    /// Pages that a kill frees, and those that it keeps from being taken.
    pub(crate) fn worth(&self) -> u64 {
        self.memory + self.growth.min(self.memory)
    }
}

/// Shares out the swap in use, `pages`, as far as no process says that it is its own: the kernel counts the shared pages of
/// tmpfs, memfd and System V there, and names no owner. Each process gets a part by its shared pages in memory, at most
/// what it is missing.
pub fn share_out(pages: u64, candidates: &mut [Candidate]) {
    let sum = |of: fn(&Candidate) -> u64| candidates.iter().map(of).sum::<u64>();
    let (swapped, shared) = (sum(|one| one.swapped), sum(|one| one.shared));
    let ownerless = pages.saturating_sub(swapped) as f64;
    for one in candidates.iter_mut().filter(|one| one.shared > 0) {
        let part = ownerless * one.shared as f64 / shared as f64;
        one.memory += one.missing.min(part as u64);
    }
}

/// What eight or more growing processes share, besides their user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bond {
    Name,
    Cgroup,
    User,
}
