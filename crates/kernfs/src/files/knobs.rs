//! Sysctls that bear on reclaim, and their values.
use crate::parse::text;
use crate::ErrorKind;

macro_rules! knobs {
    ($($(#[$doc:meta])* $knob:ident = $name:literal,)*) => {
        /// A sysctl that holds one number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Knob {
            $($(#[$doc])* $knob,)*
        }

        impl Knob {
            pub const ALL: &'static [Self] = &[$(Self::$knob),*];

            /// Knobs that the policy needs with every sample, and those that watermarks depend on.
            pub const LOOP: &'static [Self] = &[
                Self::WatermarkScaleFactor,
                Self::MinFreeKbytes,
                Self::CompactionProactiveness,
                Self::VfsCachePressure,
                Self::NegativeDentryLimit,
            ];

            /// The sysctl's dotted name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$knob => $name,)*
                }
            }
        }
    };
}

knobs! {
    /// Ten-thousandths of a zone between its watermarks; 1 to 3000 (1000 before 5.18).
    WatermarkScaleFactor = "vm.watermark_scale_factor",
    /// Ten-thousandths of the high watermark; from 5.0 on.
    WatermarkBoostFactor = "vm.watermark_boost_factor",
    MinFreeKbytes = "vm.min_free_kbytes",
    /// 0 to 100, 200 from 5.8 on.
    Swappiness = "vm.swappiness",
    VfsCachePressure = "vm.vfs_cache_pressure",
    VfsCachePressureDenom = "vm.vfs_cache_pressure_denom",
    /// 0 to 100, from 5.9 on.
    CompactionProactiveness = "vm.compaction_proactiveness",
    ExtfragThreshold = "vm.extfrag_threshold",
    /// From 6.15 on.
    DefragMode = "vm.defrag_mode",
    ZoneReclaimMode = "vm.zone_reclaim_mode",
    NrHugepages = "vm.nr_hugepages",
    NrOvercommitHugepages = "vm.nr_overcommit_hugepages",
    DirtyRatio = "vm.dirty_ratio",
    DirtyBackgroundRatio = "vm.dirty_background_ratio",
    DirtyBytes = "vm.dirty_bytes",
    DirtyBackgroundBytes = "vm.dirty_background_bytes",
    PageCluster = "vm.page-cluster",
    OvercommitMemory = "vm.overcommit_memory",
    /// Per mille of memory, in a vendor's kernels.
    NegativeDentryLimit = "fs.negative-dentry-limit",
    /// Of this project's series of kernel patches.
    WorkingsetProtection = "vm.workingset_protection",
    AnonMinRatio = "vm.anon_min_ratio",
    CleanMinRatio = "vm.clean_min_ratio",
    CleanLowRatio = "vm.clean_low_ratio",
}

/// Number of knobs.
pub const COUNT: usize = Knob::ALL.len();

/// The value of each knob; `None` where this kernel lacks it or its file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs([Option<i64>; COUNT]);

impl Default for Knobs {
    fn default() -> Self {
        Self([None; COUNT])
    }
}

impl Knobs {
    #[must_use]
    pub fn get(&self, knob: Knob) -> Option<i64> {
        self.0[knob as usize]
    }

    pub fn set(&mut self, knob: Knob, value: Option<i64>) {
        self.0[knob as usize] = value;
    }

    /// The knobs that the kernel has, by dotted name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, i64)> + '_ {
        let knobs = Knob::ALL.iter();
        knobs.filter_map(|&knob| Some((knob.name(), self.get(knob)?)))
    }
}

/// Reads a file that holds one number.
///
/// # Errors
/// The text is not one number.
pub fn parse(bytes: &[u8]) -> Result<i64, ErrorKind> {
    let bytes = text::trim(bytes);
    if bytes.is_empty() {
        let missing = "its number";
        return Err(ErrorKind::Truncated { missing });
    }
    text::signed(bytes).ok_or(ErrorKind::Malformed {
        line: 1,
        problem: "not one number",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_number_is_read() {
        assert_eq!(parse(b"10\n"), Ok(10));
        assert_eq!(parse(b"-1\n"), Ok(-1));
        for text in [
            &b"\n"[..],
            b"",
            b"10 20\n",
            b"ten\n",
            b"99999999999999999999\n",
        ] {
            assert!(parse(text).is_err());
        }
    }

    #[test]
    fn names_are_those_of_the_kernel() {
        let mut knobs = Knobs::default();
        knobs.set(Knob::PageCluster, Some(3));
        assert_eq!(knobs.iter().collect::<Vec<_>>(), [("vm.page-cluster", 3)]);
        for (at, knob) in Knob::ALL.iter().enumerate() {
            assert_eq!(*knob as usize, at);
        }
    }
}
