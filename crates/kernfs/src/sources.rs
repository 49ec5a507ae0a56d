//! What a sampler can read, and what it is told to.
use crate::knobs::Knob;
use std::ops::BitOr;
use std::path::PathBuf;

/// A set of things to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources(u16);

impl Sources {
    pub const VMSTAT: Self = Self(1);
    pub const ZONEINFO: Self = Self(1 << 1);
    pub const BUDDYINFO: Self = Self(1 << 2);
    pub const MEMINFO: Self = Self(1 << 3);
    pub const PSI_MEMORY: Self = Self(1 << 4);
    pub const PSI_CPU: Self = Self(1 << 5);
    pub const PSI_IO: Self = Self(1 << 6);
    /// dentry-state and inode-nr.
    pub const DENTRY: Self = Self(1 << 7);
    pub const KNOBS: Self = Self(1 << 8);
    /// The huge page pools of each node.
    pub const HUGE: Self = Self(1 << 9);
    /// meminfo, vmstat and numastat of each node.
    pub const NODE_FILES: Self = Self(1 << 10);
    pub const CGROUPS: Self = Self(1 << 11);
    pub const LRU_GEN: Self = Self(1 << 12);
    /// debugfs' list of all generations: long on a machine with many cgroups.
    pub const GENERATIONS: Self = Self(1 << 13);

    /// What the policy needs of every sample.
    pub const LOOP: Self = Self(
        Self::VMSTAT.0
            | Self::ZONEINFO.0
            | Self::BUDDYINFO.0
            | Self::MEMINFO.0
            | Self::PSI_MEMORY.0
            | Self::DENTRY.0
            | Self::KNOBS.0
            | Self::HUGE.0,
    );
    /// All but what may be long.
    pub const ALL: Self = Self(((1 << 14) - 1) & !Self::GENERATIONS.0);

    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Sources {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a [`crate::Sampler`] reads.
#[derive(Clone, Debug)]
pub struct Options {
    /// Read by [`crate::Sampler::sample`].
    pub sources: Sources,
    /// Knobs to read with [`Sources::KNOBS`]; [`Knob::LOOP`] by default.
    pub knobs: Vec<Knob>,
    /// Directories of cgroups, as on a machine (`/sys/fs/cgroup/user.slice`).
    pub cgroups: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sources: Sources::LOOP,
            knobs: Knob::LOOP.to_vec(),
            cgroups: Vec::new(),
        }
    }
}
