//! Orders for a worker that accesses pages by rule, and counts which of them were not in memory.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// One process that accesses one page after the other, as `rule` says and the seed draws: the very
/// sequence that `hotset trace generate` makes with that rule, seed and number of requests (or one that
/// was recorded), so that the simulator can be asked what it would make of it. Before each access mincore(2) says whether
/// the page is in memory. Ends after `requests`.
///
/// The sequence is drawn, and locked in memory, before the process joins its cgroup: it is not
/// charged to it. Nothing is read ahead (the disk's `read_ahead_kb` is 0 while the file
/// is opened) unless `ahead`.
///
/// Observes once, at the end: `<worker>.requests`, `<worker>.misses` (cold ones too),
/// `<worker>.hit` (share of the requests), `<worker>.hit_first` and `<worker>.hit_rest` where the
/// rule has two pools, `<worker>.majflt`, `<worker>.done_ms`, and `<worker>.resident_mean` and
/// `.resident_max`, the number of the sequence's pages that were in memory: the mean over the second
/// half, and the most. An event `access` has the worker's name and these orders, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    pub rule: Rule,
    pub requests: u64,
    pub by: By,
    /// Lock the first pool in memory (mlock(2)): the oracle who knows what is hot.
    #[serde(default)]
    pub lock_first: bool,
    /// Let the kernel read ahead.
    #[serde(default)]
    pub ahead: bool,
    /// Have the kernel bring the cgroup's statistics up to date every few accesses, by reading its
    /// memory.stat. The classic LRU balances by them; by itself the kernel does it every two seconds,
    /// in which a small cgroup's memory may be turned over several times.
    #[serde(default)]
    pub fresh_statistics: bool,
}

/// How a page is accessed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum By {
    /// Private anonymous memory, filled (3:1 compressible) at the first access, read afterwards.
    Anon {},
    /// A mapped file.
    Mapped { file: String },
    /// pread(2) of a file, a page at a time.
    Pread { file: String },
}

/// Which page is next; sizes are in whole pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// All in order, again and again.
    Loop { size: Size },
    /// Rank k with probability in proportion to 1 / k^alpha, ranks in random order.
    Zipf { size: Size, alpha: f64 },
    /// All alike.
    Uniform { size: Size },
    /// By turns a page of a small and of a large pool: an index and its records.
    TwoPool { first: Size, second: Size },
    /// A hot set, uniform, and beside it a scan in order, again and again, in bursts of 64; the hot set
    /// has `share` of the requests. Used once if there are fewer requests than it has pages.
    HotAndScan { hot: Size, scan: Size, share: f64 },
    /// What was recorded (`hotset trace record`): the first `requests` of a trace, its pages numbered
    /// as they first appear, whatever the seed. The file lies beside the experiment's. `pages` is how
    /// many different ones there are at most, which the lab checks.
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

    /// Pages of the first pool, where there are two; and of all.
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
