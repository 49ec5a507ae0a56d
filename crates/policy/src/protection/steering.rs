//! Steering: which type of pages reclaim takes.
//!
//! A stock kernel has one knob that separates the two types: vm.swappiness. At 200 reclaim takes
//! anonymous pages only, as long as there is swap. At 0 it takes file pages only (`get_scan_count` and
//! `get_type_to_scan` in mm/vmscan.c).
//!
//! Reclaim is steered to anonymous pages while clean pages are below their line, [`LINE`] times the floor.
//! Steering ends once clean pages are above [`CLEAR`] times the floor, or once memory has not been short for
//! [`CALM_S`]. Steering never ends within [`HOLD_S`].
use crate::protection::floors::{clean_line, Pages, LINE};
use crate::protection::snapshot::{NodeSnapshot, Snapshot};

/// Steering ends at so many times the floor: far enough above the line ([`LINE`]) that kswapd's next run does not
/// begin it anew.
const CLEAR: f64 = 1.4;
/// Steering ends once memory has not been short for so many seconds.
const CALM_S: f64 = 2.0;
/// Steering lasts at least so many seconds.
const HOLD_S: f64 = 0.25;
/// Anonymous pages so many times as high as their floor need no steering any more.
const ANON_CLEAR: f64 = 1.05;

/// The type of pages that reclaim is to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steer {
    /// Both types, balanced by the administrator's vm.swappiness.
    #[default]
    Admin,
    /// Anonymous pages only.
    Anon,
    /// File pages only.
    File,
}

/// Remembers where reclaim is steered to, so that steering does not flutter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steering {
    now: Steer,
    /// When steering changed last.
    since_s: f64,
    /// When there was last a reason for the steering that is in force.
    reason_s: f64,
}

/// A decision on steering.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steered {
    pub to: Steer,
    /// Both hard floors bind on a node. Nothing that is protected can be kept but by a kill.
    pub both: bool,
    /// Pages until steering or a kill may be due; 0: now.
    pub distance: u64,
}

impl Steering {
    /// Decides for all nodes; `floors` gives a node's floors.
    pub fn decide(&mut self, seen: &Snapshot, floors: impl Fn(&NodeSnapshot) -> Pages) -> Steered {
        let (mut anon, mut file, mut both) = (false, false, false);
        // Whether the steering that is in force may end.
        let mut clear = true;
        let mut short = false;
        let mut distance = u64::MAX;
        for node in seen.nodes.iter().filter(|node| node.managed > 0) {
            let floors = floors(node);
            let clean = node.clean();
            let (line, near) = (clean_line(floors), near(node));
            let spare = node.free.saturating_sub(node.watermarks.high);
            let above = clean.saturating_sub(line);
            distance = distance.min(spare + above.min(node.anon.saturating_sub(floors.anon_min)));
            short |= near;
            let anon_low = node.anon < floors.anon_min;
            anon |= near && clean < line && line > 0;
            file |= near && anon_low;
            both |= node.free < node.watermarks.high && clean <= floors.clean_min && anon_low;
            let far_above = (line as f64 * (CLEAR / LINE)) as u64;
            clear &= match self.now {
                Steer::Anon => clean >= far_above,
                Steer::File => node.anon as f64 >= floors.anon_min as f64 * ANON_CLEAR,
                Steer::Admin => true,
            };
        }
        let wanted = match (anon, file) {
            // Neither type may be spared: the kernel's own balance is the least wrong.
            (true, true) => Steer::Admin,
            // Without swap reclaim can take no anonymous pages.
            (true, false) if seen.swap_total > 0 => Steer::Anon,
            (false, true) => Steer::File,
            _ => Steer::Admin,
        };
        self.settle(seen.now_s, wanted, clear, short, anon && file);
        Steered {
            to: self.now,
            both,
            distance: if distance == u64::MAX { 0 } else { distance },
        }
    }

    fn settle(&mut self, now_s: f64, wanted: Steer, clear: bool, short: bool, at_once: bool) {
        if wanted == self.now {
            self.reason_s = now_s;
            return;
        }
        let held = now_s - self.since_s >= HOLD_S;
        let calm = !short && now_s - self.reason_s >= CALM_S;
        let change = match (self.now, wanted) {
            (Steer::Admin, _) => true,
            _ if at_once => held,
            (_, Steer::Admin) => held && (clear || calm),
            _ => held,
        };
        if change {
            (self.now, self.since_s, self.reason_s) = (wanted, now_s, now_s);
        }
    }
}

/// Whether reclaim is so near that its type must be settled: free pages are at most a step above the
/// high watermark. The step is high - low, or a 64th of the node if that is more.
fn near(node: &NodeSnapshot) -> bool {
    let step = node.watermarks.gap().max(node.managed / 64);
    node.free < node.watermarks.high + step
}
