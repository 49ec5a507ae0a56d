//! Other programs that kill when memory is short. Two of them on one machine kill twice for one
//! shortage; see docs/protect.md.
use policy::victim::Candidate;

/// Their names, as the kernel cuts them.
const RIVALS: [&str; 5] = [
    "systemd-oomd",
    "earlyoom",
    "nohang",
    "oomd",
    "low-memory-moni",
];

/// Which of them run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rivals(u8);

impl Rivals {
    #[must_use]
    pub fn among(processes: &[Candidate]) -> Rivals {
        let mut found = 0;
        for one in processes {
            if let Some(at) = RIVALS.iter().position(|name| *name == one.name()) {
                found |= 1 << at;
            }
        }
        Rivals(found)
    }

    /// Those in `self` that are not in `before`, and all by name.
    pub fn new_since(self, before: Rivals) -> impl Iterator<Item = &'static str> {
        Rivals(self.0 & !before.0).names()
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = RIVALS.iter().enumerate();
        all.filter(move |(at, _)| self.0 & (1 << at) != 0)
            .map(|(_, name)| *name)
    }
}
