//! Scores forecasts of exhaustion by the definition in docs/design/predict.md, which is frozen.
//!
//! The score is measured in the open loop: the policy observes, and its actions are not carried out.
//! Where the policy acts, the forecast crossing never comes.
use serde::Serialize;

/// The forecast's score.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Score {
    /// Falls below kswapd's high watermark from well above it.
    pub exhaustions: usize,
    /// The foreseeable ones among them.
    pub reclaim_episodes: usize,
    /// Those of the foreseeable ones that the policy forecast.
    pub predicted: usize,
    /// The share of the seconds outside of crossings in which the policy forecast a crossing, in percent.
    pub false_positive_pct: f64,
    /// The median of the seconds between a forecast and its crossing; `null` without a forecast.
    pub lead_s_median: Option<f64>,
    /// The seconds between each forecast and its crossing, sorted.
    pub leads_s: Vec<f64>,
}

/// A node's free pages and the policy's forecasts, [`HZ`] times a second, while no controller acts.
pub struct Course {
    /// Free pages above the high watermark.
    above: Vec<f64>,
    /// Whether kswapd woke since the last point. It may have refilled free pages meanwhile.
    woke: Vec<bool>,
    predicted: Vec<bool>,
    managed: f64,
}

/// A stay of the free pages below the high watermark.
struct Stay {
    crossing: usize,
    end: usize,
    /// Whether the free pages stood well above before. They did not where the course begins in the stay.
    ahead: bool,
}

/// Points a second.
pub const HZ: usize = 10;
/// The share of the managed pages by which free pages must stand above high before a crossing counts.
pub const RECOVERED: f64 = 0.01;
/// The lengths in seconds of the parts of the fall through which lines are drawn.
pub const LINES_S: [usize; 4] = [10, 30, 60, 120];
/// A line ends so large a part of its length before the crossing, and is at least as long.
pub const LINE_END: usize = 5;
/// A line must meet the high watermark within this factor of the real time to the crossing.
pub const FACTOR: f64 = 3.0;
/// The factor by which the last second of a burst falls faster than the seconds before.
pub const BURST: f64 = 5.0;
/// The seconds before the last one that a burst is compared with, and the last one.
pub const BURST_S: usize = 10;
/// The seconds before a crossing in which a forecast of it is no false alarm.
pub const FORETELLING_S: usize = 120;
/// The course's last seconds: a forecast there may be about the time after its end.
pub const UNKNOWN_S: usize = 60;

impl Course {
    /// A course without points of a node with so many managed pages.
    pub fn new(managed: f64) -> Self {
        Course {
            above: Vec::new(),
            woke: Vec::new(),
            predicted: Vec::new(),
            managed,
        }
    }

    /// Adds a point. `above`: free pages less the high watermark.
    pub fn push(&mut self, above: f64, woke: bool, predicted: bool) {
        self.above.push(above);
        self.woke.push(woke);
        self.predicted.push(predicted);
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.above.len()
    }

    /// The stays below high: each from its crossing until the free pages have recovered.
    fn stays(&self) -> Vec<Stay> {
        let recovered = RECOVERED * self.managed;
        let mut stays = Vec::new();
        let mut armed = false;
        let mut index = 0;
        while index < self.above.len() {
            if self.above[index] >= recovered {
                armed = true;
            } else if self.woke[index] || self.above[index] < 0.0 {
                let end = (index..self.above.len())
                    .find(|&at| self.above[at] >= recovered)
                    .unwrap_or(self.above.len());
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
        let (start, last) = (at(BURST_S), at(1));
        let each =
            (self.above[start] - self.above[last]) * HZ as f64 / (last - start).max(1) as f64;
        if self.above[last] - self.above[crossing] > BURST * each {
            return false;
        }
        LINES_S.iter().any(|&line_s| {
            let end = crossing.saturating_sub(line_s * HZ / LINE_END);
            let start = end.saturating_sub(line_s * HZ).max(since);
            if end < start + line_s * HZ / LINE_END {
                return false;
            }
            let fall = (self.above[start] - self.above[end]) / (end - start) as f64;
            let steps = self.above[end] / fall;
            let real = (crossing - end) as f64;
            fall > 0.0 && steps <= real * FACTOR && steps >= real / FACTOR
        })
    }

    /// Counts the crossings, the forecast crossings, and false alarms.
    pub fn score(&self) -> Score {
        let stays = self.stays();
        let (mut exhaustions, mut episodes, mut leads) = (0, 0, Vec::new());
        let mut inside = vec![false; self.above.len()];
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
                .max_by(|&a, &b| self.above[a].total_cmp(&self.above[b]))
                .unwrap_or(since);
            exhaustions += usize::from(armed);
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
            exhaustions,
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
        let known = self.above.len().saturating_sub(UNKNOWN_S * HZ);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition is frozen. Where a number has to change, all earlier counts are void.
    #[test]
    fn the_numbers_are_those_of_the_document() {
        let document = include_str!("../../../../docs/design/predict.md");
        let lines = LINES_S.map(|line_s| line_s.to_string()).join(", ");
        let rows = [
            ("HZ", HZ.to_string()),
            ("RECOVERED", RECOVERED.to_string()),
            ("LINES_S", lines),
            ("LINE_END", LINE_END.to_string()),
            ("FACTOR", FACTOR.to_string()),
            ("BURST", BURST.to_string()),
            ("BURST_S", BURST_S.to_string()),
            ("FORETELLING_S", FORETELLING_S.to_string()),
            ("UNKNOWN_S", UNKNOWN_S.to_string()),
        ];
        for (name, value) in rows {
            let row = format!("| `{name}` | {value} | ");
            assert_eq!(document.matches(&row).count(), 1, "{row}");
        }
    }

    /// A node of 10,000 pages that falls by `each` pages a second, from 2000 above high, after a minute.
    /// `burst`: pages that the last second before the crossing takes.
    fn course(each: f64, burst: f64, foretold_s: usize) -> Course {
        let mut course = Course::new(10_000.0);
        let mut fall: Vec<f64> = (0..)
            .map(|point| 2000.0 - each * f64::from(point) / HZ as f64)
            .take_while(|above| *above >= burst)
            .collect();
        fall.extend((1..=HZ).map(|point| burst - (burst + 1.0) * point as f64 / HZ as f64));
        let crossing = 60 * HZ + fall.iter().position(|above| *above < 0.0).unwrap();
        for point in 0..crossing + 200 * HZ {
            let above = match point.checked_sub(60 * HZ) {
                None => 2000.0,
                Some(at) => fall.get(at).copied().unwrap_or(-1.0),
            };
            let predicted = (crossing - foretold_s * HZ..crossing).contains(&point);
            course.push(above, false, predicted);
        }
        course
    }

    #[test]
    fn a_steady_fall_is_foreseeable_and_a_burst_is_not() {
        let steady = course(40.0, 0.0, 20).score();
        let counts = |score: &Score| (score.exhaustions, score.reclaim_episodes, score.predicted);
        assert_eq!(counts(&steady), (1, 1, 1));
        assert_eq!(steady.leads_s, [20.0]);
        assert_eq!(steady.false_positive_pct, 0.0);
        assert_eq!(counts(&course(40.0, 0.0, 0).score()), (1, 1, 0));
        assert_eq!(counts(&course(40.0, 1000.0, 0).score()), (1, 0, 0));
    }
}
