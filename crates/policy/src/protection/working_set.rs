//! The memory that a cgroup needs: its active pages, and pages that it had to read again.
//!
//! The active lists are the kernel's own view of the working set. Pages that were reclaimed and read
//! again since the last sample belong to it and were not there. The largest size of late counts, because
//! a session that is idle for a minute still needs its memory.

/// The figures of a cgroup's memory.stat and memory.current.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Bytes on the active lists.
    pub active: u64,
    /// Bytes of kernel memory that cannot be reclaimed.
    pub kernel: u64,
    /// Refaulted pages since the cgroup was made.
    pub refaults: u64,
    /// Bytes of all of its memory.
    pub current: u64,
}

/// A size that was measured counts half after so many seconds.
const HALF_LIFE_S: f64 = 600.0;
/// A boundary is written again when it is off by this share.
const CHANGED: f64 = 0.1;

/// One cgroup's working set.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkingSet {
    /// Time and refaults of the last sample.
    last: Option<(f64, u64)>,
    bytes: f64,
    /// The boundary that was asked for last, bytes.
    asked: Option<u64>,
}

impl WorkingSet {
    /// Takes a sample. Returns the boundary to write where it has changed enough: bytes, a multiple of the
    /// page size and at most `most`.
    pub fn observe(&mut self, now_s: f64, stat: &Stat, most: u64, page_size: u64) -> Option<u64> {
        let (then_s, refaults) = self.last.unwrap_or((now_s, stat.refaults));
        self.last = Some((now_s, stat.refaults));
        let again = stat.refaults.saturating_sub(refaults) * page_size;
        // Pages that are read again and again are counted each time, so a quarter of the cgroup's
        // memory is the most.
        let missing = again.min(stat.current / 4);
        let now = (stat.active + stat.kernel + missing) as f64;
        let faded = self.bytes * (-(now_s - then_s) / HALF_LIFE_S).exp2();
        self.bytes = faded.max(now);
        let page = page_size.max(1);
        let wanted = (self.bytes as u64).min(most) / page * page;
        let same = self
            .asked
            .is_some_and(|asked| wanted.abs_diff(asked) as f64 <= asked as f64 * CHANGED);
        if same {
            return None;
        }
        self.asked = Some(wanted);
        Some(wanted)
    }

    /// The size of the working set, bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    fn stat(active: u64, refaults: u64) -> Stat {
        Stat {
            active,
            kernel: 0,
            refaults,
            current: 1 << 30,
        }
    }

    #[test]
    fn the_size_goes_up_at_once_and_down_by_half_in_ten_minutes() {
        let mut set = WorkingSet::default();
        assert_eq!(
            set.observe(0.0, &stat(100 << 20, 0), u64::MAX, PAGE),
            Some(100 << 20)
        );
        assert_eq!(set.observe(30.0, &stat(105 << 20, 0), u64::MAX, PAGE), None);
        assert_eq!(
            set.observe(60.0, &stat(200 << 20, 0), u64::MAX, PAGE),
            Some(200 << 20)
        );
        assert_eq!(set.observe(90.0, &stat(10 << 20, 0), u64::MAX, PAGE), None);
        let after = set
            .observe(690.0, &stat(10 << 20, 0), u64::MAX, PAGE)
            .unwrap();
        assert!((80 << 20..120 << 20).contains(&after), "{after}");
    }

    #[test]
    fn refaulted_pages_count_and_the_boundary_stays_below_the_most() {
        let mut set = WorkingSet::default();
        set.observe(0.0, &stat(100 << 20, 1000), u64::MAX, PAGE);
        // 50 MiB are read again.
        let pages = (50 << 20) / PAGE;
        let more = set.observe(30.0, &stat(100 << 20, 1000 + pages), u64::MAX, PAGE);
        assert_eq!(more, Some(150 << 20));
        assert_eq!(
            set.observe(60.0, &stat(900 << 20, 1000 + pages), 300 << 20, PAGE),
            Some(300 << 20)
        );
    }
}
