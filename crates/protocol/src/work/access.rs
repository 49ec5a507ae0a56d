//! Orders for a worker that accesses pages by rule, and counts the misses.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// One process that accesses one page after the other, drawn by `rule` and the seed, and ends after
/// `requests`. The sequence is the one that `hotset trace generate` makes with the same rule, seed and
/// number of requests, or a recorded one. The simulator can therefore run the same sequence. Before each
/// access, mincore(2) reports whether the page is in memory.
///
/// The sequence is drawn, and locked in memory, before the process joins its cgroup, so that the cgroup is
/// not charged for the sequence. Nothing is read ahead unless `ahead`: the disk's `read_ahead_kb` is 0
/// while the file is opened.
///
/// Observes once, at the end: `<worker>.requests`, `<worker>.misses` (cold ones too),
/// `<worker>.hit` (share of the requests), `<worker>.hit_first` and `<worker>.hit_rest` where the
/// rule has two pools, `<worker>.majflt`, `<worker>.done_ms`, and the number of the sequence's
/// pages in memory: `<worker>.resident_mean` over the second half, and `<worker>.resident_max`. An
/// event `access` has the worker's name and these orders as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    pub rule: Rule,
    pub requests: u64,
    pub by: By,
    /// Lock the first pool in memory (mlock(2)), as an oracle that knows the hot pages.
    #[serde(default)]
    pub lock_first: bool,
    /// Let the kernel read ahead.
    #[serde(default)]
    pub ahead: bool,
    /// Have the kernel bring the cgroup's statistics up to date every few accesses, by reading its
    /// memory.stat. The classic LRU balances by these statistics. By itself the kernel updates them
    /// every two seconds, in which a small cgroup's memory may turn over several times.
    #[serde(default)]
    pub fresh_statistics: bool,
}

/// The way in which a page is accessed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum By {
    /// Private anonymous memory. The first access fills a page (3:1 compressible); later ones read
    /// it.
    Anon {},
    /// A mapped file.
    Mapped { file: String },
    /// pread(2) of a file, a page at a time.
    Pread { file: String },
}

/// The rule that draws the next page. Sizes are in whole pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// A loop: all pages in order, repeated.
    Loop { size: Size },
    /// Rank k with probability in proportion to 1 / k^alpha, ranks in random order.
    Zipf { size: Size, alpha: f64 },
    /// All pages with the same probability.
    Uniform { size: Size },
    /// By turns a page of a small and of a large pool, such as an index and its records.
    TwoPool { first: Size, second: Size },
    /// A uniform hot set, and a repeated scan in order, in bursts of 64. The hot set gets `share` of the
    /// requests. With few requests, the scan does not come round.
    HotAndScan { hot: Size, scan: Size, share: f64 },
    /// A recorded sequence (`hotset trace record`): the first `requests` of a trace, with pages
    /// numbered in order of first appearance, whatever the seed. The file lies beside the
    /// experiment's. `pages` is the greatest number of distinct pages, which the lab checks.
    Recorded { trace: String, pages: u64 },
}

impl Rule {
    /// Every size, with the name of its field.
    pub fn sizes(&mut self) -> Vec<(&'static str, &mut Size)> {
        match self {
            Rule::Loop { size } | Rule::Zipf { size, .. } | Rule::Uniform { size } => {
                vec![("size", size)]
            }
            Rule::TwoPool { first, second } => vec![("first", first), ("second", second)],
            Rule::HotAndScan { hot, scan, .. } => vec![("hot", hot), ("scan", scan)],
            Rule::Recorded { .. } => vec![],
        }
    }

    /// Pages of the first pool, if there are two pools; and of all.
    pub fn pages(&self) -> (Option<u64>, u64) {
        let pages = |size: &Size| size.bytes() / 4096;
        match self {
            Rule::Loop { size } | Rule::Zipf { size, .. } | Rule::Uniform { size } => {
                (None, pages(size))
            }
            Rule::TwoPool { first, second } => (Some(pages(first)), pages(first) + pages(second)),
            Rule::HotAndScan { hot, scan, .. } => (Some(pages(hot)), pages(hot) + pages(scan)),
            Rule::Recorded { pages, .. } => (None, *pages),
        }
    }
}
