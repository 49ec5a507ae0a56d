//! Scores the policy's forecasts against those of a straight line.
//!
//! The score is measured in the open loop: the policy observes the trace under the kernel's default, and
//! its actions are not carried out. Where the policy acts, the forecast crossing never comes.
use super::constants::{DEFAULT_WSF, STEP_S, WINDOW_S};
use super::demand::Trace;
use super::kernel::Kernel;
use super::observer::{Observer, Settings};
use policy::Decision;
use serde::Serialize;

/// The forecast's score.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// Exhaustions that a straight line forecasts, as [`Forecasts::score`] tests. Free pages are exhausted
    /// when they fall below kswapd's high watermark.
    pub reclaim_episodes: usize,
    /// Those of these exhaustions that the policy forecast.
    pub predicted: usize,
    /// The share of the seconds outside of crossings in which the policy forecast a crossing, in percent.
    pub false_positive_pct: f64,
    /// The median of the seconds between a forecast and its crossing; `null` without a forecast.
    pub lead_s_median: Option<f64>,
    /// The seconds between each forecast and its crossing, sorted.
    pub leads_s: Vec<f64>,
}

/// Free pages and the policy's forecasts, ten times a second, while no controller acts.
pub struct Forecasts {
    free: Vec<f64>,
    /// Whether kswapd woke in this tenth. It may have refilled free pages within the tenth.
    woke: Vec<bool>,
    predicted: Vec<bool>,
    managed: f64,
    high: f64,
}

/// A stay of the free pages below the high watermark.
struct Stay {
    crossing: usize,
    end: usize,
    /// Whether the free pages stood well above before. They did not where the trace begins in the stay.
    ahead: bool,
}

/// Points a second.
const HZ: usize = 10;
/// The share of the managed pages by which free pages must stand above high before a crossing counts.
const RECOVERED: f64 = 0.01;
/// The lengths in seconds of the parts of the fall through which lines are drawn. A line ends a fifth
/// of its length before the crossing. A noisy fall shows only over a longer part.
const LINES_S: [usize; 4] = [10, 30, 60, 120];
/// The factor by which the last second of a burst falls faster than the seconds before.
const BURST: f64 = 5.0;
/// A line must meet the high watermark within this factor of the real time to the crossing.
const FACTOR: f64 = 3.0;
/// The trace's last seconds: a forecast there may be about the time after the trace's end.
const UNKNOWN_S: usize = 60;
/// The seconds before a crossing in which a forecast of it is no false alarm.
const FORETELLING_S: usize = 120;

impl Forecasts {
    /// Runs the trace under the kernel's default while the policy observes.
    pub fn open_loop(trace: &Trace, level: u8, settings: &Settings) -> Self {
        let mut kernel = Kernel::new(
            trace.machine,
            trace.free,
            trace.cache,
            trace.phi,
            DEFAULT_WSF,
        );
        let mut observer = Observer::new(level, settings);
        let mut decision = Decision::default();
        let (mut wake_s, mut stalled_s, mut predicted) = (0.0, 0.0, false);
        let mut forecasts = Forecasts {
            free: Vec::with_capacity(trace.rows.len()),
            woke: Vec::with_capacity(trace.rows.len()),
            predicted: Vec::with_capacity(trace.rows.len()),
            managed: trace.machine.managed,
            high: kernel.high,
        };
        for (index, demand) in trace.rows.iter().enumerate() {
            let wakes = kernel.kswapd_wakes;
            for step in 0..HZ {
                let now_s = (index * HZ + step) as f64 * STEP_S;
                if now_s + 1e-9 >= wake_s || kernel.stall_s - stalled_s >= WINDOW_S {
                    observer.sample(now_s, &kernel, &mut decision);
                    predicted = decision.summary.nodes.iter().any(|node| node.predicted);
                    wake_s = now_s + decision.next_sample_s;
                    stalled_s = kernel.stall_s;
                }
                kernel.step(STEP_S, *demand);
            }
            forecasts.free.push(kernel.free);
            forecasts.woke.push(kernel.kswapd_wakes > wakes);
            forecasts.predicted.push(predicted);
        }
        forecasts
    }

    /// The stays below high: each from its crossing until the free pages have recovered.
    fn stays(&self) -> Vec<Stay> {
        let recovered = self.high + RECOVERED * self.managed;
        let mut stays = Vec::new();
        let mut armed = false;
        let mut index = 0;
        while index < self.free.len() {
            if self.free[index] >= recovered {
                armed = true;
            } else if self.woke[index] || self.free[index] < self.high {
                let end = (index..self.free.len())
                    .find(|&at| self.free[at] >= recovered)
                    .unwrap_or(self.free.len());
                stays.push(Stay {
                    crossing: index,
                    end,
                    ahead: armed,
                });
                armed = false;
                index = end;
                continue;
            }
            index += 1;
        }
        stays
    }

    /// Whether a straight line through the fall, drawn in time, meets high at about the right time. No
    /// line does for a burst that starts in the last seconds.
    fn predictable(&self, crossing: usize, since: usize) -> bool {
        // A burst: the last second takes five times as much as each of the seconds before.
        let at = |seconds: usize| crossing.saturating_sub(seconds * HZ).max(since);
        let (start, last) = (at(10), at(1));
        let each = (self.free[start] - self.free[last]) * HZ as f64 / (last - start).max(1) as f64;
        if self.free[last] - self.free[crossing] > BURST * each {
            return false;
        }
        LINES_S.iter().any(|&line_s| {
            let end = crossing.saturating_sub(line_s * HZ / 5);
            let start = end.saturating_sub(line_s * HZ).max(since);
            if end < start + line_s * HZ / 5 {
                return false;
            }
            let fall = (self.free[start] - self.free[end]) / (end - start) as f64;
            let steps = (self.free[end] - self.high) / fall;
            let real = (crossing - end) as f64;
            fall > 0.0 && steps <= real * FACTOR && steps >= real / FACTOR
        })
    }

    /// Counts the crossings, the forecast crossings, and false alarms.
    pub fn score(&self) -> Score {
        let stays = self.stays();
        let (mut episodes, mut leads) = (0, Vec::new());
        let mut inside = vec![false; self.free.len()];
        let mut since = 0;
        for &Stay {
            crossing,
            end,
            ahead: armed,
        } in &stays
        {
            let ahead = crossing.saturating_sub(FORETELLING_S * HZ).max(since);
            inside[ahead..end].fill(true);
            // The fall starts at the highest point since the last stay.
            let top = (since..crossing)
                .rev()
                .max_by(|&a, &b| self.free[a].total_cmp(&self.free[b]))
                .unwrap_or(since);
            if armed && self.predictable(crossing, top) {
                episodes += 1;
                // The forecast must stand without a break until the crossing.
                let mut first = crossing;
                while first > ahead && self.predicted[first - 1] {
                    first -= 1;
                }
                if first < crossing {
                    leads.push((crossing - first) as f64 / HZ as f64);
                }
            }
            since = end;
        }
        let predicted = leads.len();
        leads.sort_unstable_by(f64::total_cmp);
        Score {
            reclaim_episodes: episodes,
            predicted,
            false_positive_pct: self.false_positive_pct(&inside),
            lead_s_median: (predicted > 0)
                .then(|| (leads[(predicted - 1) / 2] + leads[predicted / 2]) / 2.0),
            leads_s: leads,
        }
    }

    /// The share of seconds outside of crossings in which a crossing was forecast, in percent.
    fn false_positive_pct(&self, inside: &[bool]) -> f64 {
        // Whether the trace's last forecasts are right is unknown.
        let known = self.free.len().saturating_sub(UNKNOWN_S * HZ);
        let seconds = (0..known).step_by(HZ).filter(|&at| !inside[at]);
        let (mut all, mut wrong) = (0u32, 0u32);
        for at in seconds {
            all += 1;
            wrong += u32::from(self.predicted[at]);
        }
        match all {
            0 => 0.0,
            _ => (1e4 * f64::from(wrong) / f64::from(all)).round() / 100.0,
        }
    }
}
