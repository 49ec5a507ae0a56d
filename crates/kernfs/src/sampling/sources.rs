//! The files that a sampler can read, and the choice of them.
use crate::files::knobs::Knob;
use std::ops::BitOr;
use std::path::PathBuf;

/// A set of things to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources(u16);

impl Sources {
    /// /proc/vmstat.
    pub const VMSTAT: Self = Self(1);
    /// /proc/zoneinfo.
    pub const ZONEINFO: Self = Self(1 << 1);
    /// /proc/buddyinfo.
    pub const BUDDYINFO: Self = Self(1 << 2);
    /// /proc/meminfo.
    pub const MEMINFO: Self = Self(1 << 3);
    /// /proc/pressure/memory.
    pub const PSI_MEMORY: Self = Self(1 << 4);
    /// /proc/pressure/cpu.
    pub const PSI_CPU: Self = Self(1 << 5);
    /// /proc/pressure/io.
    pub const PSI_IO: Self = Self(1 << 6);
    /// dentry-state and inode-nr.
    pub const DENTRY: Self = Self(1 << 7);
    /// The sysctls of [`Options::knobs`].
    pub const KNOBS: Self = Self(1 << 8);
    /// The huge page pools of each node.
    pub const HUGE: Self = Self(1 << 9);
    /// meminfo, vmstat and numastat of each node.
    pub const NODE_FILES: Self = Self(1 << 10);
    /// The memory files of [`Options::cgroups`].
    pub const CGROUPS: Self = Self(1 << 11);
    /// /sys/kernel/mm/lru_gen.
    pub const LRU_GEN: Self = Self(1 << 12);
    /// debugfs' list of all generations: long on a machine with many cgroups.
    pub const GENERATIONS: Self = Self(1 << 13);

    /// The files that the policy needs with every sample.
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
    /// All files but those that may be long.
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

/// The choice of files of a [`crate::Sampler`].
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
