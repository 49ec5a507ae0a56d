//! Floors under clean file pages and under anonymous pages: their sizes, given or learned.

/// A clean floor's line lies so many times as high as the floor ([`clean_line`]). A floor that is defended only
/// once it is reached is broken by whatever happens between two samples.
pub const LINE: f64 = 1.25;

/// Hard floors that together take more than this percentage of memory leave too little to work with.
pub const MOST_PERCENT: f64 = 90.0;

/// One floor, as the administrator gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Percent of the memory that a node's buddy allocator manages; 0 to 100.
    Percent(f64),
    /// Bytes of the whole machine. Each node gets its share.
    Bytes(u64),
}

/// The floors. Their names are those of the kernel series' sysctls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    /// Hard floor under anonymous pages.
    pub anon_min: Size,
    /// Hard floor under clean file pages.
    pub clean_min: Size,
    /// Soft floor under clean file pages: reclaim is steered away from it. `None`: it follows what is read
    /// again ([`Learned`]).
    pub clean_low: Option<Size>,
}

impl Default for Floors {
    fn default() -> Self {
        Floors {
            anon_min: Size::Percent(0.0),
            clean_min: Size::Percent(0.0),
            clean_low: None,
        }
    }
}

/// Floors of one node or of the whole machine. Pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    pub anon_min: u64,
    pub clean_min: u64,
    pub clean_low: u64,
}

impl Floors {
    /// Whether a kill keeps one of the floors.
    #[must_use]
    pub fn any_hard(&self) -> bool {
        [self.anon_min, self.clean_min]
            .into_iter()
            .any(|size| size != Size::Percent(0.0) && size != Size::Bytes(0))
    }

    /// The floors of a node that manages `managed` of the machine's `total` pages. `learned`: the machine's soft
    /// floor where none is given, pages.
    #[must_use]
    pub fn pages(&self, managed: u64, total: u64, learned: u64, page_size: u64) -> Pages {
        let pages = |size: Size| {
            let percent = percent(size, total, page_size);
            (managed as f64 * percent / 100.0) as u64
        };
        let mut pages = Pages {
            anon_min: pages(self.anon_min),
            clean_min: pages(self.clean_min),
            clean_low: pages(self.clean_low.unwrap_or(Size::Bytes(learned * page_size))),
        };
        // Floors in bytes may add up to more than the machine has.
        let most = (managed as f64 * MOST_PERCENT / 100.0) as u64;
        let both = pages.anon_min + pages.clean_min;
        if both > most {
            pages.anon_min = (pages.anon_min as f64 * most as f64 / both as f64) as u64;
            pages.clean_min = (pages.clean_min as f64 * most as f64 / both as f64) as u64;
        }
        pages
    }

    /// Both hard floors in percent of the machine's `total` pages, where they are more than [`MOST_PERCENT`] and
    /// [`Floors::pages`] scales them down. Floors in bytes may be meant for another machine.
    #[must_use]
    pub fn excess(&self, total: u64, page_size: u64) -> Option<f64> {
        let percent = |size: Size| match size {
            Size::Percent(percent) => percent,
            Size::Bytes(bytes) => {
                bytes as f64 / (total.max(1) as f64 * page_size.max(1) as f64) * 100.0
            }
        };
        let both = percent(self.anon_min) + percent(self.clean_min);
        (both > MOST_PERCENT).then_some(both)
    }
}

/// A floor in percent of the machine's `total` pages.
#[must_use]
pub fn percent(size: Size, total: u64, page_size: u64) -> f64 {
    match size {
        Size::Percent(percent) => percent.clamp(0.0, 100.0),
        Size::Bytes(bytes) => {
            let pages = bytes as f64 / page_size.max(1) as f64;
            (pages / total.max(1) as f64 * 100.0).clamp(0.0, 100.0)
        }
    }
}

/// The line of clean pages, below which reclaim is steered to anonymous pages:
/// `LINE * max(clean_min, clean_low)` pages.
#[must_use]
pub fn clean_line(floors: Pages) -> u64 {
    (floors.clean_min.max(floors.clean_low) as f64 * LINE) as u64
}

/// What was learned counts half after so many seconds: an idle session still needs its files, as in
/// [`crate::working_set`].
const HALF_LIFE_S: f64 = 600.0;
/// The floor is at most this share of memory. Pages that come back twice are counted twice.
const MOST: f64 = 0.25;

/// The soft floor under clean file pages that follows what is read again, and the counters that it follows.
///
/// ```text
/// floor = file pages of the working set that were read again - anonymous pages that came back from swap
/// ```
///
/// Both counts fade. A machine whose files come back keeps them by this floor. Where anonymous pages come back
/// instead, steering has taken the wrong kind, and the floor goes down by as many. So it stands where both cost
/// the same. A machine that reads nothing again has no floor. Nor has one that copies: a page that was in use once
/// is no part of the working set (PG_workingset, mm/workingset.c), however often it comes back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned {
    pages: f64,
    /// Time, and file and anonymous pages that have come back, at the last snapshot.
    last: Option<(f64, u64, u64)>,
}

impl Learned {
    /// Takes the `file` and `anon` pages that have come back since boot, on a machine that manages `total`.
    pub fn observe(&mut self, now_s: f64, (file, anon): (u64, u64), total: u64) {
        let (then_s, file_then, anon_then) = self
            .last
            .replace((now_s, file, anon))
            .unwrap_or((now_s, file, anon));
        let faded = fade(self.pages, now_s - then_s);
        let came_back =
            file.saturating_sub(file_then) as f64 - anon.saturating_sub(anon_then) as f64;
        self.pages = (faded + came_back).clamp(0.0, total as f64 * MOST);
    }

    /// Pages of the whole machine.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages as u64
    }

    /// Begins with a floor of `pages` that was learned `age_s` seconds ago.
    pub fn set(&mut self, pages: f64, age_s: f64) {
        self.pages = fade(pages, age_s);
    }
}

fn fade(pages: f64, age_s: f64) -> f64 {
    pages * (-age_s.max(0.0) / HALF_LIFE_S).exp2()
}
