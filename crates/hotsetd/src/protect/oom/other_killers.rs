//! Other programs that kill when memory is short. Two of them on one machine kill twice for one
//! shortage.
use policy::victim::{Candidate, Eligibility};

/// Names of these programs.
pub const NAMES: [&str; 4] = ["systemd-oomd", "earlyoom", "nohang", "oomd"];

/// Which of [`NAMES`] run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherKillers([bool; NAMES.len()]);

impl OtherKillers {
    /// The killers among `processes`. Anybody can take such a name: only services of the system count, which are
    /// spared for it.
    #[must_use]
    pub fn among(processes: &[Candidate]) -> OtherKillers {
        let spared = |one: &&Candidate| one.eligibility == Eligibility::Never;
        let runs = |name| {
            processes
                .iter()
                .filter(spared)
                .any(|one| one.name() == name)
        };
        OtherKillers(NAMES.map(runs))
    }

    /// The names of those in `self` that are not in `before`.
    pub fn new_since(self, before: OtherKillers) -> impl Iterator<Item = &'static str> {
        let now = self.names();
        now.filter(move |name| !before.names().any(|known| known == *name))
    }

    /// The names of all.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .into_iter()
            .zip(self.0)
            .filter_map(|(name, runs)| runs.then_some(name))
    }
}
