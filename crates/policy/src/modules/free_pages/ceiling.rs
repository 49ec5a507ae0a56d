//! The highest vm.watermark_scale_factor that may be asked for.
//!
//! High stands two gaps above min, and no reclaim frees huge pages. Where pages that cannot become free
//! are asked for, kswapd never sleeps and the OOM killer comes. For each node:
//!
//! ```text
//! ordinary = managed - huge
//! usable   = min(file + free - min, ordinary), averaged over 5 s
//! gaps     = min(USABLE_SHARE * usable, max(ORDINARY_SHARE * ordinary, SMALL))
//! factor   = 10000 * gaps / 2 / managed
//! ```
//!
//! Where the administrator has set the bound of the factor, gaps is `USABLE_SHARE_MOST * usable`.
use crate::{Config, Machine, NodeObservation, Observation};

/// The share of all pages but huge ones that may stand free: as free pages they are no cache. It is the share that
/// vm.watermark_scale_factor = 200 keeps free.
const ORDINARY_SHARE: f64 = 0.04;
/// The share of the pages that can become free that may stand free. In a guest of 256 MiB 7% left twice as many stalls,
/// and 9% cost the page cache 3% of its hits (docs/design/predict.md).
const USABLE_SHARE: f64 = 0.08;
/// Bytes that may stand free on a small machine, where bursts are no smaller: [`USABLE_SHARE`] of that guest.
const SMALL: f64 = (16 << 20) as f64;
/// The share of the pages that can become free where the administrator has set a bound: the rest is other programs' cache.
const USABLE_SHARE_MOST: f64 = 0.25;

/// Seconds over which the pages that can become free are averaged. A program that starts, or ends, takes or leaves many
/// for a moment.
const USABLE_S: f64 = 5.0;

/// The pages of a node that can become free.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usable {
    /// Time and pages at the last sample.
    last: Option<(f64, f64)>,
}

impl Usable {
    /// Takes a sample.
    pub fn observe(&mut self, now_s: f64, node: &NodeObservation) {
        let movable = (node.file + node.free).saturating_sub(node.watermarks.min) as f64;
        let ordinary = node.managed.saturating_sub(node.huge) as f64;
        let now = movable.min(ordinary);
        let (then_s, before) = self.last.unwrap_or((now_s, now));
        let weight = ((then_s - now_s).min(0.0) / USABLE_S).exp();
        self.last = Some((now_s, before * weight + now * (1.0 - weight)));
    }

    fn pages(&self) -> f64 {
        self.last.map_or(0.0, |(_, pages)| pages)
    }
}

/// The highest factor by the kernel, the configuration and the pages of each node.
pub(crate) fn highest<'s>(
    seen: &'s Observation,
    config: &Config,
    machine: &Machine,
    usable: impl Fn(&'s NodeObservation) -> Usable,
) -> u32 {
    let configured = config.watermark_scale_factor_max;
    let mut cap = machine
        .watermark_scale_factor_max
        .min(configured.unwrap_or(u32::MAX));
    let managed: u64 = seen.nodes.iter().map(|node| node.managed).sum();
    if let Some(bytes) = config.max_gap_bytes {
        let pages = bytes as f64 / machine.page_size as f64;
        cap = cap.min((pages / managed.max(1) as f64 * 10_000.0) as u32);
    }
    for node in seen.nodes {
        let usable = usable(node).pages();
        let gaps = match configured {
            Some(_) => usable * USABLE_SHARE_MOST,
            None => {
                let ordinary = node.managed.saturating_sub(node.huge) as f64;
                let of_machine = node.managed as f64 / managed.max(1) as f64;
                let small = SMALL / machine.page_size as f64 * of_machine;
                (usable * USABLE_SHARE).min((ordinary * ORDINARY_SHARE).max(small))
            }
        };
        let gap = gaps / 2.0;
        cap = cap.min((gap / node.managed.max(1) as f64 * 10_000.0) as u32);
    }
    cap
}
