//! The kinds of swap that a machine of the league has.
use serde::Deserialize;
use std::fmt;

/// The kinds of swap. Each but zram is a preset of every scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Swap {
    Zram,
    Disk,
    None,
}

impl Swap {
    pub const ALL: [Swap; 3] = [Swap::Zram, Swap::Disk, Swap::None];

    pub fn name(self) -> &'static str {
        match self {
            Swap::Zram => "zram",
            Swap::Disk => "disk",
            Swap::None => "none",
        }
    }
}

impl fmt::Display for Swap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
