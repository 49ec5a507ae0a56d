//! The output of the policy: actions, each with its reason, and the forecasts that `hotset status` shows.
use std::fmt;
use watermarks::Watermarks;

/// One action. Only the daemon takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// vm.watermark_scale_factor, in 1/10000 of a zone.
    SetWatermarkScaleFactor(u32),
    /// Reclaim so many bytes on the node now. The write lasts as long as the reclaim, so the event loop
    /// must not wait for the write.
    ReclaimNode { node: u32, bytes: u64 },
    /// The nice value of the node's kswapd, unless kswapd has a better one.
    SetKswapdNice { node: u32, nice: i32 },
    /// Write the node's `compact` file. The event loop must not wait for this write either.
    CompactNode { node: u32 },
    /// vm.compaction_proactiveness, 0 to 100.
    SetCompactionProactiveness(u32),
    /// vm.vfs_cache_pressure, percent.
    SetVfsCachePressure(u32),
    /// fs.negative-dentry-limit, per mille.
    SetNegativeDentryLimit(u32),
    /// The knob at this index of [`crate::Config::tunables`].
    SetTunable(usize),
    /// A warning for the log. Nothing is written.
    Warn(Warning),
}

/// The subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Memory that nothing accounts for doubled between two checks.
    SuddenLeak,
    /// Memory that nothing accounts for grew at ten checks in a row.
    SlowLeak,
    /// The administrator wrote a knob that the policy had set. The policy leaves it alone from now on.
    Yielded,
}

/// The decision on one observation. The value is made once and reused. It allocates nothing after
/// [`Decision::default`] unless it needs more than its room.
#[derive(Clone, Debug)]
pub struct Decision {
    actions: Vec<(Action, usize)>,
    /// The reasons, one after the other. Each action has the end of its own.
    reasons: String,
    /// Seconds from this observation's `now_s` to the next sample.
    pub next_sample_s: f64,
    pub summary: Summary,
}

impl Default for Decision {
    fn default() -> Self {
        Decision {
            actions: Vec::with_capacity(32),
            reasons: String::with_capacity(8192),
            next_sample_s: 1.0,
            summary: Summary::default(),
        }
    }
}

impl Decision {
    /// Each action with its reason.
    pub fn actions(&self) -> impl Iterator<Item = (Action, &str)> {
        let mut start = 0;
        self.actions.iter().map(move |&(action, end)| {
            let reason = &self.reasons[start..end];
            start = end;
            (action, reason)
        })
    }

    /// Empties the decision for the next observation and keeps its room.
    pub fn clear(&mut self) {
        self.actions.clear();
        self.reasons.clear();
        self.summary.clear();
    }

    /// Adds an action and its reason.
    pub fn push(&mut self, action: Action, reason: fmt::Arguments) {
        // Writing to a String cannot fail.
        let _ = fmt::Write::write_fmt(&mut self.reasons, reason);
        self.actions.push((action, self.reasons.len()));
    }
}

/// The forecasts, for status, metrics and the log at verbosity 5.
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

/// Rates since the last observation, pages a second where no unit is given.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Taken by allocations, net of freed pages: stolen pages minus the growth of free pages.
    pub demand: f64,
    /// Reclaimed by kswapd.
    pub kswapd: f64,
    /// Reclaimed by allocations.
    pub direct: f64,
    /// Reclaimed on request.
    pub proactive: f64,
    /// The highest rate at which kswapd was measured to free pages.
    pub kswapd_capacity: f64,
    /// Read again after they had been reclaimed.
    pub refaults: f64,
    /// Allocations that had to reclaim, a second.
    pub allocstall: f64,
}

/// The size of the gap between min and low.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreePagesForecast {
    /// Pages that allocations take, net, while kswapd reacts: the decaying quantile.
    pub drawdown_pages: f64,
    /// The vm.watermark_scale_factor that fits.
    pub wanted: u32,
    /// The administrator's value: `wanted` is never less.
    pub floor: u32,
    /// The highest value that may be asked for.
    pub cap: u32,
}

/// One node's forecast. Pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeForecast {
    pub id: u32,
    pub free: u64,
    pub watermarks: Watermarks,
    /// The robust slope of gross demand, pages a second.
    pub demand: f64,
    /// Half the width of the slope's 90% interval.
    pub demand_error: f64,
    /// Expected seconds until the free pages are down at low; `None`: they do not fall.
    pub time_to_low_s: Option<f64>,
    /// [`NodeForecast::time_to_low_s`] at the upper bound of the slope's interval.
    pub earliest_low_s: Option<f64>,
    /// Whether exhaustion is predicted.
    pub predicted: bool,
    /// The forecast of the huge order.
    pub order: OrderForecast,
}

/// One order's forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrderForecast {
    pub order: usize,
    /// Free pages in blocks of this order and above.
    pub available: u64,
    /// The change of `available`, pages a second.
    pub slope: f64,
    /// Seconds until hardly a free page is in blocks of this order; `None`: these blocks do not become fewer.
    pub time_to_exhaustion_s: Option<f64>,
    pub predicted: bool,
}
