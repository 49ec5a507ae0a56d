//! What was foretold, and what could have been.
//!
//! Measured in the open loop: the policy watches the trace under the kernel's default and none of
//! its actions is done, for where it acts the crossing that it foretold does not come.
use super::closed::{DEFAULT_WSF, STEP_S, WINDOW_S};
use super::demand::Trace;
use super::kernel::Kernel;
use super::sight::{Settings, Sight};
use policy::Decision;
use serde::Serialize;

/// The forecast's score.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// Exhaustions (free pages fall to kswapd's watermarks, below high) that a straight line foretells: see [`Forecasts::score`].
    pub reclaim_episodes: usize,
    /// Those that the policy foretold before they came.
    pub predicted: usize,
    /// Of the seconds outside of crossings, the percent at which one was foretold.
    pub false_positive_pct: f64,
    /// Between the first word and the crossing, of those foretold. `null`: none was.
    pub lead_s_median: Option<f64>,
    pub leads_s: Vec<f64>,
}

/// Free pages and the policy's word, ten times a second, with nobody acting.
pub struct Forecasts {
    free: Vec<f64>,
    /// Did kswapd wake in this tenth? Within a step it may have refilled already.
    woke: Vec<bool>,
    predicted: Vec<bool>,
    managed: f64,
    high: f64,
}

/// A stay below high.
struct Stay {
    crossing: usize,
    end: usize,
    /// The free pages had stood well above before: not the one that the trace starts in.
    ahead: bool,
}

/// Points a second.
const HZ: usize = 10;
/// A crossing is one when the free pages stood so much of the managed pages above high since the
/// last one.
const RECOVERED: f64 = 0.01;
/// Lines are drawn through so many seconds of the fall, or what there is of it, and end a fifth of
/// that before the crossing: a noisy fall shows itself only from further away.
const LINES_S: [usize; 4] = [10, 30, 60, 120];
/// How much faster than before a burst falls.
const BURST: f64 = 5.0;
/// It must meet high between a third of the time that was left and three times that.
const FACTOR: f64 = 3.0;
/// The trace's last seconds, in which a word may be about what comes after its end.
const UNKNOWN_S: usize = 60;
/// Seconds before a crossing in which a word about it is no false alarm.
const FORETELLING_S: usize = 120;

impl Forecasts {
    /// Runs the trace under the default with the policy looking on.
    pub fn open_loop(trace: &Trace, level: u8, settings: &Settings) -> Self {
        let mut kernel = Kernel::new(
            trace.machine,
            trace.free,
            trace.cache,
            trace.phi,
            DEFAULT_WSF,
        );
        let mut sight = Sight::new(trace, level, settings);
        let mut decision = Decision::default();
        let (mut wake_s, mut stalled_s, mut word) = (0.0, 0.0, false);
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
                    sight.look(now_s, &kernel, &mut decision);
                    word = decision.summary.nodes.iter().any(|node| node.predicted);
                    wake_s = now_s + decision.next_sample_s;
                    stalled_s = kernel.stall_s;
                }
                kernel.step(STEP_S, *demand);
            }
            forecasts.free.push(kernel.free);
            forecasts.woke.push(kernel.kswapd_wakes > wakes);
            forecasts.predicted.push(word);
        }
        forecasts
    }

    /// Stays below high: from the crossing until the free pages have recovered.
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

    /// Would a straight line through the fall, drawn in time, have met high at about the right time?
    /// Of a burst that starts in the last seconds none would.
    fn predictable(&self, crossing: usize, since: usize) -> bool {
        // A burst: the last second took five times what the seconds before it took each.
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

    /// The crossings, those foretold, and false alarms.
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
                // The word must stand without a break until the crossing, or be the last one.
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
        // Nobody knows whether the last words were right.
        let known = self.free.len().saturating_sub(UNKNOWN_S * HZ);
        let seconds = (0..known).step_by(HZ).filter(|&at| !inside[at]);
        let (mut all, mut wrong) = (0u32, 0u32);
        for at in seconds {
            all += 1;
            wrong += u32::from(self.predicted[at]);
        }
        let predicted = leads.len();
        leads.sort_unstable_by(f64::total_cmp);
        Score {
            reclaim_episodes: episodes,
            predicted,
            false_positive_pct: match all {
                0 => 0.0,
                _ => (1e4 * f64::from(wrong) / f64::from(all)).round() / 100.0,
            },
            lead_s_median: (predicted > 0)
                .then(|| (leads[(predicted - 1) / 2] + leads[predicted / 2]) / 2.0),
            leads_s: leads,
        }
    }
}
