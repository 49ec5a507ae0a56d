//! How much memory a cgroup needs: what reclaim holds for active, and what it had to read again.
//!
//! The active lists are the kernel's own view of the working set; what was reclaimed and read again
//! since the last look belongs to it and was not there. The largest of the last while counts, for a
//! session that is idle for a minute is still somebody's session.

/// What a cgroup's memory.stat says. Bytes; refaults in pages since the cgroup was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub active: u64,
    /// Kernel memory that cannot be reclaimed.
    pub kernel: u64,
    pub refaults: u64,
    /// All of its memory.
    pub current: u64,
}

/// Forgotten by half in so many seconds.
const HALF_LIFE_S: f64 = 600.0;
/// A boundary is written again when it is off by this share.
const CHANGED: f64 = 0.1;

/// One cgroup's.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkingSet {
    last: Option<(f64, u64)>,
    bytes: f64,
    asked: Option<u64>,
}

impl WorkingSet {
    /// Takes a look; returns the boundary to write in bytes, a multiple of the page size and at most
    /// `most`, where it is worth a write.
    pub fn look(&mut self, now_s: f64, stat: &Stat, most: u64, page_size: u64) -> Option<u64> {
        let (then_s, refaults) = self.last.unwrap_or((now_s, stat.refaults));
        self.last = Some((now_s, stat.refaults));
        let again = stat.refaults.saturating_sub(refaults) * page_size;
        // Pages that are read again and again are counted each time: no more than it has.
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

    /// Bytes that it is taken to need.
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
    fn it_follows_up_at_once_and_down_slowly() {
        let mut set = WorkingSet::default();
        assert_eq!(
            set.look(0.0, &stat(100 << 20, 0), u64::MAX, PAGE),
            Some(100 << 20)
        );
        assert_eq!(set.look(30.0, &stat(105 << 20, 0), u64::MAX, PAGE), None);
        assert_eq!(
            set.look(60.0, &stat(200 << 20, 0), u64::MAX, PAGE),
            Some(200 << 20)
        );
        assert_eq!(set.look(90.0, &stat(10 << 20, 0), u64::MAX, PAGE), None);
        let after = set.look(690.0, &stat(10 << 20, 0), u64::MAX, PAGE).unwrap();
        assert!((80 << 20..120 << 20).contains(&after), "{after}");
    }

    #[test]
    fn what_is_read_again_is_needed_and_the_bound_holds() {
        let mut set = WorkingSet::default();
        set.look(0.0, &stat(100 << 20, 1000), u64::MAX, PAGE);
        // 50 MiB were read again.
        let pages = (50 << 20) / PAGE;
        let more = set.look(30.0, &stat(100 << 20, 1000 + pages), u64::MAX, PAGE);
        assert_eq!(more, Some(150 << 20));
        assert_eq!(
            set.look(60.0, &stat(900 << 20, 1000 + pages), 300 << 20, PAGE),
            Some(300 << 20)
        );
    }
}
