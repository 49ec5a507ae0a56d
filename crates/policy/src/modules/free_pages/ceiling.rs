//! The highest vm.watermark_scale_factor that may be asked for.
//!
//! High stands two gaps above min, and no reclaim frees huge pages. Where pages that cannot become free
//! are asked for, kswapd never sleeps and the OOM killer comes. For each node:
//!
//! ```text
//! ordinary = managed - huge
//! usable   = min(file + free - min, ordinary)
//! gaps     = min(RECLAIMABLE_SHARE_MOST * usable,
//!                max(RECLAIMABLE_SHARE * usable, ORDINARY_SHARE * ordinary))
//! factor   = 10000 * gaps / 2 / managed
//! ```
//!
//! Where the administrator has set the bound of the factor, gaps is `RECLAIMABLE_SHARE_MOST * usable`.
use crate::{Config, Machine, Observation};

/// The share of reclaimable pages that may stand free: as free pages they are no cache. In a guest a
/// share of 0.25 kept twice as many pages free for 0.012 of the stalls instead of 0.02, and a share of
/// 0.07 left 0.05 of them (docs/design/predict.md).
const RECLAIMABLE_SHARE: f64 = 0.08;
/// The share of all pages but huge ones that may stand free even so. Where memory is mostly anonymous,
/// [`RECLAIMABLE_SHARE`] of the few file pages is less than any burst takes.
const ORDINARY_SHARE: f64 = 0.04;
/// The largest share of reclaimable pages in any case.
const RECLAIMABLE_SHARE_MOST: f64 = 0.25;

/// The highest factor by the kernel, the configuration and the pages of each node.
pub fn highest(seen: &Observation, config: &Config, machine: &Machine) -> u32 {
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
        let movable = (node.file + node.free).saturating_sub(node.watermarks.min) as f64;
        let ordinary = node.managed.saturating_sub(node.huge) as f64;
        let usable = movable.min(ordinary);
        let most = usable * RECLAIMABLE_SHARE_MOST;
        let gaps = match configured {
            Some(_) => most,
            None => most.min((usable * RECLAIMABLE_SHARE).max(ordinary * ORDINARY_SHARE)),
        };
        let gap = gaps / 2.0;
        cap = cap.min((gap / node.managed.max(1) as f64 * 10_000.0) as u32);
    }
    cap
}
