//! What comes out of the policy: actions, each with its reason, and what `hotset status` shows.
use std::fmt;

/// One thing to do. Only the daemon does it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// vm.watermark_scale_factor, in 1/10000 of a zone.
    SetWatermarkScaleFactor(u32),
    /// Free so many bytes on the node now. In the background: the loop must not wait for it.
    ReclaimNode { node: u32, bytes: u64 },
    /// The nice value of the node's kswapd, unless it has a better one.
    SetKswapdNice { node: u32, nice: i32 },
    /// Write the node's `compact` file. In the background too.
    CompactNode { node: u32 },
    /// vm.compaction_proactiveness, 0 to 100.
    SetCompactionProactiveness(u32),
    /// vm.vfs_cache_pressure, percent.
    SetVfsCachePressure(u32),
    /// fs.negative-dentry-limit, per mille.
    SetNegativeDentryLimit(u32),
    /// [`crate::Config::tunables`] at this index.
    SetTunable(usize),
    /// Nothing to write: words for the log.
    Warn(Warning),
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Memory that nothing accounts for doubled between two looks.
    SuddenLeak,
    /// It grew at ten looks in a row.
    SlowLeak,
    /// The administrator wrote a knob that the policy had set: it is theirs now.
    Yielded,
    /// Exhaustion is ahead, and nothing is left to reclaim.
    NothingToReclaim,
}

/// What one observation led to. Made once and reused: it allocates nothing after
/// [`Decision::default`] unless more than its room is needed.
#[derive(Clone, Debug)]
pub struct Decision {
    actions: Vec<(Action, usize)>,
    /// The reasons, one after the other; each action has the end of its own.
    words: String,
    /// When to look again, in seconds from this observation's `now_s`.
    pub next_sample_s: f64,
    pub summary: Summary,
}

impl Default for Decision {
    fn default() -> Self {
        Decision {
            actions: Vec::with_capacity(32),
            words: String::with_capacity(8192),
            next_sample_s: 1.0,
            summary: Summary::default(),
        }
    }
}

impl Decision {
    /// Each action with its reason in words.
    pub fn actions(&self) -> impl Iterator<Item = (Action, &str)> {
        let mut start = 0;
        self.actions.iter().map(move |&(action, end)| {
            let words = &self.words[start..end];
            start = end;
            (action, words)
        })
    }

    /// Empties it for the next observation; the room stays.
    pub fn clear(&mut self) {
        self.actions.clear();
        self.words.clear();
        self.summary.clear();
    }

    /// Adds an action and its reason.
    pub fn push(&mut self, action: Action, reason: fmt::Arguments) {
        // Writing to a String cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.words, reason);
        self.actions.push((action, self.words.len()));
    }
}

/// What is forecast, for status, metrics and the log at verbosity 5.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub nodes: Vec<NodeForecast>,
    pub free_pages: FreePagesForecast,
    pub rates: Rates,
}

impl Summary {
    fn clear(&mut self) {
        self.nodes.clear();
        self.free_pages = FreePagesForecast::default();
        self.rates = Rates::default();
    }
}

/// Rates since the last observation, pages a second (of the machine's page size).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Taken by allocations, net of what was freed: -d(free) + d(steal).
    pub demand: f64,
    pub kswapd: f64,
    pub direct: f64,
    pub proactive: f64,
    /// What kswapd was seen to free in its best second, as learned so far. 0: never seen.
    pub kswapd_capacity: f64,
    pub refaults: f64,
    /// Allocations that had to reclaim, a second.
    pub allocstall: f64,
    /// Free pages that came to stand in blocks of the huge order or above by compaction, a second.
    pub compacted: f64,
}

/// The sizing of the low-min gap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreePagesForecast {
    /// Pages that the machine's allocations take, net, while kswapd reacts: the decaying quantile.
    pub drawdown_pages: f64,
    /// vm.watermark_scale_factor as it would have it now, and the bounds that it keeps.
    pub wanted: u32,
    pub floor: u32,
    pub cap: u32,
    /// Learned correction from stalls (up) and refaults (down); 1 is none.
    pub correction: f64,
}

/// One node's forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeForecast {
    pub id: u32,
    pub free: u64,
    pub min: u64,
    pub low: u64,
    pub high: u64,
    /// Gross demand's robust slope and its standard error, pages a second.
    pub demand: f64,
    pub demand_error: f64,
    /// Seconds until the free pages are at the low watermark: expected, and at the earliest (the
    /// slope's 90% bound). `None`: they are not falling towards it.
    pub time_to_low_s: Option<f64>,
    pub earliest_low_s: Option<f64>,
    /// Is exhaustion predicted right now?
    pub predicted: bool,
    /// Of the huge order.
    pub order: OrderForecast,
}

/// One order's forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrderForecast {
    pub order: usize,
    /// Free pages in blocks of this order and above.
    pub available: u64,
    /// Slope, pages a second.
    pub slope: f64,
    /// Seconds until there are none.
    pub time_to_exhaustion_s: Option<f64>,
    pub predicted: bool,
}
