//! Orders for the app-cycle workload: a phone's apps, started in turn, on plain Linux.
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// Many apps, each a process in a cgroup of its own, come to the front one after the other: in each
/// iteration once each, in an order that the seed gives. Beside them runs a system process at
/// `oom_score_adj` -900. Apps are killed above a cap on cached apps (as of Android's activity manager,
/// AMS), by a killer with lmkd's documented rules, and by the kernel's own OOM killer.
///
/// Sizes are medians, the same in all seeds: `apps` quantiles of a lognormal distribution with
/// sigma 0.45, cut at half and 2.5 times the median. The seed assigns them to apps. A share is of
/// the machine's memory.
///
/// A *cold* start has no process: fork, exec, 60% of `code` and of the framework read, all of
/// `memory` filled, the app's own data read. A *warm* start has a process whose interface was
/// discarded (`MADV_DONTNEED` of a fifth of its memory) and is made anew. A *hot* start touches the
/// hot set: 30% of `memory`, of `code` and of the framework. After each start comes a burst: all of
/// the hot set, 30% of the rest, a tenth of `memory` discarded and filled anew, and a sequential
/// read. A quarter of the touched pages are written to.
///
/// Observes of each start `<worker>.launch_ms` and the same by type (`.hot_ms`, `.warm_ms`,
/// `.cold_ms`), and `<worker>.burst_ms`. Observes once a scene, at its end, the counts `.hot`,
/// `.warm`, `.cold`, `.launches`; the ratios `.hot_to_cold`, `.hot_to_warm` and `.warm_to_cold`,
/// unless the divisor is 0; `.kills_ams`, `.kills_lmkd`, `.kills_oom`, `.kills_daemon` (by the
/// arm's daemon), `.kills` (all of these), `.kills_front` (of the app in front); and `.cached`, the
/// mean number of cached apps. Events `app-kill` name the killer, the app and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppCycle {
    pub apps: u32,
    /// Rounds over all apps that are measured.
    pub iterations: u32,
    /// Rounds before these, after which a scene `until = "settled"` ends.
    #[serde(default)]
    pub settle: u32,
    /// Private memory of an app, median.
    pub memory: Size,
    /// Mapped file of an app, median.
    pub code: Size,
    /// Data of an app that it reads with read(2) at a cold start.
    pub data: Size,
    /// Sequential read of each burst.
    pub stream: Size,
    /// Memory of the system process, half of which it touches at each start.
    pub system: Size,
    /// File that all apps' `code` and `data` lie in, one after the other.
    pub files: String,
    /// File that all apps map, executable.
    pub framework: String,
    /// File that bursts read from, one part after the other.
    pub media: String,
    /// Most cached apps before the oldest is killed; 0 for no cap.
    #[serde(default)]
    pub cached_cap: u32,
    /// Share of apps that lose their interface when another comes to the front.
    #[serde(default)]
    pub warm_share: f64,
    /// Rest after each burst, in which kswapd may work, in milliseconds.
    #[serde(default)]
    pub rest_ms: u64,
    /// The killer's rules; none for no killer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killer: Option<Killer>,
}

/// lmkd's settings, by the names of its properties. The defaults are those of a device that is not
/// a low-RAM one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Killer {
    /// Stall (`some`) within a second at which lmkd samples, in milliseconds; 200 on low-RAM
    /// devices.
    pub psi_partial_stall_ms: u64,
    /// Stall (`full`) within a second at which the device counts as not responding, in
    /// milliseconds.
    pub psi_complete_stall_ms: u64,
    /// Share of the file pages refaulted within a second, in percent; 30 on low-RAM devices.
    pub thrashing_limit: u64,
    /// Percent by which the limit falls with each kill for thrashing; 50 on low-RAM devices.
    pub thrashing_limit_decay: u64,
    /// Swap is low below this share of it, in percent.
    pub swap_free_low_percentage: u64,
}

impl Default for Killer {
    fn default() -> Self {
        Killer {
            psi_partial_stall_ms: 70,
            psi_complete_stall_ms: 700,
            thrashing_limit: 100,
            thrashing_limit_decay: 10,
            swap_free_low_percentage: 10,
        }
    }
}

impl AppCycle {
    /// Every size, with the name of its field.
    pub fn sizes(&mut self) -> Vec<(&'static str, &mut Size)> {
        vec![
            ("memory", &mut self.memory),
            ("code", &mut self.code),
            ("data", &mut self.data),
            ("stream", &mut self.stream),
            ("system", &mut self.system),
        ]
    }

    /// Bytes of private memory of each app in rising order, whole pages.
    pub fn memories(&self) -> Vec<u64> {
        quantiles(self.memory.bytes(), self.apps)
    }

    /// Bytes of code of each app, whole pages.
    pub fn codes(&self) -> Vec<u64> {
        quantiles(self.code.bytes(), self.apps)
    }

    /// Bytes that `files` must have.
    pub fn file_bytes(&self) -> u64 {
        let data = pages(self.data.bytes() as f64) * u64::from(self.apps);
        self.codes().iter().sum::<u64>() + data
    }
}

const SIGMA: f64 = 0.45;
const PAGE: u64 = 4096;

/// Rounds to whole pages, at least one. Both are in bytes.
pub fn pages(bytes: f64) -> u64 {
    ((bytes / PAGE as f64).round() as u64).max(1) * PAGE
}

/// The middles of `count` equal parts of the lognormal distribution, cut at half and 2.5 times the
/// median.
fn quantiles(median: u64, count: u32) -> Vec<u64> {
    let part = |i: u32| {
        let share = (f64::from(i) + 0.5) / f64::from(count);
        let times = (SIGMA * normal_quantile(share)).exp().clamp(0.5, 2.5);
        pages(median as f64 * times)
    };
    (0..count).map(part).collect()
}

/// Quantile of the standard normal distribution, right to 5e-4 (Abramowitz and Stegun, 26.2.23).
fn normal_quantile(share: f64) -> f64 {
    let tail = share.min(1.0 - share);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515517 + t * (0.802853 + t * 0.010328);
    let below = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    let z = t - above / below;
    if share < 0.5 {
        -z
    } else {
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_distribution_match_the_table() {
        for (share, known) in [(0.5, 0.0), (0.975, 1.95996), (0.1, -1.28155)] {
            assert!((normal_quantile(share) - known).abs() < 5e-4, "{share}");
        }
    }

    #[test]
    fn sizes_are_pages_around_the_median_within_the_cut() {
        let sizes = quantiles(16 << 20, 30);
        assert_eq!(sizes.len(), 30);
        assert!(sizes.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(sizes.iter().all(|size| size % PAGE == 0));
        let half = sizes.iter().filter(|size| **size < 16 << 20).count();
        assert_eq!(half, 15);
        assert_eq!((sizes[0], sizes[29]), (8 << 20, 40 << 20));
    }
}
