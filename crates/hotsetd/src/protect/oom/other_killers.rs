//! Other programs that kill when memory is short. Two of them on one machine kill twice for one
//! shortage.
use policy::victim::{Candidate, Eligibility};

/// Names of these programs.
const NAMES: [&str; 4] = ["systemd-oomd", "earlyoom", "nohang", "oomd"];

/// The set of these programs that run, a bit for each of [`NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherKillers(u8);

impl OtherKillers {
    /// The killers among `processes`. Anybody can take such a name: only services of the system count, which are
    /// spared for it.
    #[must_use]
    pub fn among(processes: &[Candidate]) -> OtherKillers {
        let mut found = 0;
        for process in processes
            .iter()
            .filter(|one| one.eligibility == Eligibility::Never)
        {
            if let Some(at) = NAMES.iter().position(|name| *name == process.name()) {
                found |= 1 << at;
            }
        }
        OtherKillers(found)
    }

    /// The names of those in `self` that are not in `before`.
    pub fn new_since(self, before: OtherKillers) -> impl Iterator<Item = &'static str> {
        OtherKillers(self.0 & !before.0).names()
    }

    /// The names of all.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = NAMES.iter().enumerate();
        all.filter(move |(at, _)| self.0 & (1 << at) != 0)
            .map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(name: &str) -> Candidate {
        let mut process = Candidate {
            eligibility: Eligibility::Never,
            ..Candidate::default()
        };
        process.name[..name.len()].copy_from_slice(name.as_bytes());
        process
    }

    #[test]
    fn a_killer_is_new_only_once() {
        let none = OtherKillers::default();
        let found = OtherKillers::among(&[process("bash"), process("earlyoom")]);
        assert_eq!(found.new_since(none).collect::<Vec<_>>(), ["earlyoom"]);
        assert_eq!(found.new_since(found).count(), 0);
        let somebody = Candidate {
            eligibility: Eligibility::Last,
            ..process("earlyoom")
        };
        assert_eq!(OtherKillers::among(&[somebody]), none);
    }
}
