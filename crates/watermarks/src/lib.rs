//! The three watermarks between which the kernel keeps free pages (`__setup_per_zone_wmarks` in
//! mm/page_alloc.c): one type for measuring, deciding and recording.
use std::ops::{Add, AddAssign};

/// Watermarks of a zone, or the sums over the zones of a node or of a machine. Pages.
///
/// As JSON they are the fields `min`, `low` and `high`; a missing one is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Watermarks {
    /// With fewer free pages an allocation waits for direct reclaim.
    pub min: u64,
    /// With fewer free pages an allocation wakes kswapd.
    pub low: u64,
    /// kswapd sleeps again once so many pages are free.
    pub high: u64,
}

impl Watermarks {
    /// Pages that kswapd frees once it is awake: `high - low`, 0 where they are the wrong way around.
    #[must_use]
    pub fn gap(&self) -> u64 {
        self.high.saturating_sub(self.low)
    }

    /// All three, lower by so many pages.
    #[must_use]
    pub fn less(&self, pages: u64) -> Watermarks {
        Watermarks {
            min: self.min.saturating_sub(pages),
            low: self.low.saturating_sub(pages),
            high: self.high.saturating_sub(pages),
        }
    }
}

impl Add for Watermarks {
    type Output = Watermarks;

    /// A sum that does not fit into 64 bits is `u64::MAX`.
    fn add(self, other: Watermarks) -> Watermarks {
        Watermarks {
            min: self.min.saturating_add(other.min),
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }
}

impl AddAssign for Watermarks {
    fn add_assign(&mut self, other: Watermarks) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_largest_number() {
        let mut sum = Watermarks {
            min: 1,
            low: 2,
            high: 3,
        };
        sum += Watermarks {
            min: 10,
            low: 20,
            high: u64::MAX,
        };
        assert_eq!((sum.min, sum.low, sum.high), (11, 22, u64::MAX));
    }

    #[test]
    fn watermarks_the_wrong_way_around_have_no_gap() {
        let (low, high) = (7, 5);
        assert_eq!(Watermarks { min: 0, low, high }.gap(), 0);
    }
}
