//! Floors under clean file pages and anonymous ones, and where reclaim is steered so that it keeps
//! to them.
//!
//! A stock kernel has one lever that tells the two types apart: vm.swappiness. At 200 reclaim leaves
//! file pages alone as long as there is swap (`get_scan_count` and `get_type_to_scan` in
//! mm/vmscan.c), at 0 it leaves anonymous ones alone.
use crate::sight::{NodeSight, Sight};

/// One floor, as the administrator gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Of the memory that a node's buddy allocator manages; 0 to 100.
    Percent(f64),
    /// Of the whole machine; each node gets its share.
    Bytes(u64),
    /// Sized from refaults and stalls; see [`crate::auto_floor`].
    Auto,
}

/// The floors; the names are those of the kernel series' sysctls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    pub anon_min: Size,
    pub clean_min: Size,
    /// Soft: reclaim is steered away from it, but it never leads to a kill.
    pub clean_low: Size,
}

impl Default for Floors {
    fn default() -> Self {
        Floors {
            anon_min: Size::Percent(15.0),
            clean_min: Size::Percent(15.0),
            clean_low: Size::Percent(0.0),
        }
    }
}

/// What stands for [`Size::Auto`], percent of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Auto {
    pub anon: f64,
    pub clean: f64,
}

/// Hard floors that together take more than this share of memory leave too little to work with.
pub const MOST: f64 = 90.0;

/// Floors of one node or of all, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    pub anon_min: u64,
    pub clean_min: u64,
    pub clean_low: u64,
}

impl Floors {
    /// In pages of a node that manages `managed` of the machine's `total` pages.
    #[must_use]
    pub fn pages(&self, managed: u64, total: u64, page_size: u64, auto: Auto) -> Pages {
        let pages = |size: Size, auto: f64| {
            let percent = percent(size, total, page_size, auto);
            (managed as f64 * percent / 100.0) as u64
        };
        let mut pages = Pages {
            anon_min: pages(self.anon_min, auto.anon),
            clean_min: pages(self.clean_min, auto.clean),
            clean_low: pages(self.clean_low, auto.clean),
        };
        // In bytes they may be more than a machine has.
        let most = (managed as f64 * MOST / 100.0) as u64;
        let both = pages.anon_min + pages.clean_min;
        if both > most {
            pages.anon_min = (pages.anon_min as f64 * most as f64 / both as f64) as u64;
            pages.clean_min = (pages.clean_min as f64 * most as f64 / both as f64) as u64;
        }
        pages
    }

    /// Is any of them to be found out?
    #[must_use]
    pub fn any_auto(&self) -> bool {
        [self.anon_min, self.clean_min, self.clean_low].contains(&Size::Auto)
    }
}

/// A floor in percent of the machine's `total` pages.
#[must_use]
pub fn percent(size: Size, total: u64, page_size: u64, auto: f64) -> f64 {
    match size {
        Size::Percent(percent) => percent.clamp(0.0, 100.0),
        Size::Bytes(bytes) => {
            let pages = bytes as f64 / page_size.max(1) as f64;
            (pages / total.max(1) as f64 * 100.0).clamp(0.0, 100.0)
        }
        Size::Auto => auto,
    }
}

/// Which pages reclaim is to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Steer {
    /// As the administrator's vm.swappiness says.
    #[default]
    Admin,
    /// Anonymous ones only.
    Anon,
    /// File pages only.
    File,
}

/// Clean pages below so many times their floor are steered away from at most: a floor that is only
/// defended when it is reached is broken by whatever comes between two looks, ...
const LINE: f64 = 1.25;
/// ... at least, for what is above its floor is nobody's due, and one and a half times what kswapd
/// takes at once, high - low, ...
const LEAST_LINE: f64 = 1.02;
/// ... and in between by what they fell by in so many seconds at their fastest of late.
const AHEAD_S: f64 = 0.1;
const HALF_LIFE_S: f64 = 2.0;
/// Given back only so many times as far above the floor as the line is, ...
const CLEAR: f64 = 1.6;
/// ... or when memory has not been short for so long, and in no case sooner.
const CALM_S: f64 = 2.0;
const HOLD_S: f64 = 0.25;

/// The clean pages below which reclaim is steered to anonymous ones, at most.
#[must_use]
pub fn clean_line(floors: Pages) -> u64 {
    (floors.clean_min.max(floors.clean_low) as f64 * LINE) as u64
}

/// Is reclaim so near that where it goes must be settled before it begins? A step above high, or a
/// 64th of the node.
fn near(node: &NodeSight) -> bool {
    let step = (node.high.saturating_sub(node.low)).max(node.managed / 64);
    node.free < node.high + step
}

/// Remembers where reclaim is steered to, so that it does not flutter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steering {
    now: Steer,
    /// When it was last changed, and when there was last a reason for it.
    since_s: f64,
    reason_s: f64,
    /// Pages a second by which clean pages fell, and time and clean pages of the last look.
    fall: f64,
    before: Option<(f64, u64)>,
}

/// What a look at the floors gave.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steered {
    pub to: Steer,
    /// Both hard floors bind on a node: nothing that is protected can be kept but by a kill.
    pub both: bool,
    /// Pages until steering or a kill may be called for; 0: now.
    pub distance: u64,
}

impl Steering {
    /// Looks at all nodes; `floors` gives a node's.
    pub fn look(&mut self, seen: &Sight, floors: impl Fn(&NodeSight) -> Pages) -> Steered {
        let total: u64 = seen.nodes.iter().map(|node| node.managed).sum();
        let (mut anon, mut file, mut both) = (false, false, false);
        self.follow(seen);
        // What must be so for the steering that is in force to be given back.
        let mut clear = true;
        let mut short = false;
        let mut distance = u64::MAX;
        for node in seen.nodes.iter().filter(|node| node.managed > 0) {
            let floors = floors(node);
            let locked = (seen.locked as f64 * node.managed as f64 / total.max(1) as f64) as u64;
            let clean = node.clean() + locked;
            let (floor, near) = (floors.clean_min.max(floors.clean_low), near(node));
            let margin = self.margin(node, floors);
            let line = floor + margin;
            let spare = node.free.saturating_sub(node.high);
            let above = clean.saturating_sub(line);
            distance = distance.min(spare + above.min(node.anon.saturating_sub(floors.anon_min)));
            short |= near;
            let anon_low = node.anon < floors.anon_min;
            if near && clean < line && line > 0 {
                anon = true;
            }
            if near && anon_low {
                file = true;
            }
            both |= node.free < node.high && clean <= floors.clean_min && anon_low;
            let far_above = floor + (margin as f64 * CLEAR) as u64;
            clear &= match self.now {
                Steer::Anon => clean >= far_above,
                Steer::File => node.anon as f64 >= floors.anon_min as f64 * 1.05,
                Steer::Admin => true,
            };
        }
        let wanted = match (anon, file) {
            // Neither may be spared: the kernel's own balance is the least wrong.
            (true, true) => Steer::Admin,
            // Without swap there is nothing that it could be steered to.
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

    /// How fast clean pages fall.
    fn follow(&mut self, seen: &Sight) {
        let clean = seen.nodes.iter().map(NodeSight::clean).sum::<u64>() + seen.locked;
        if let Some((then_s, then)) = self.before.replace((seen.now_s, clean)) {
            let elapsed_s = (seen.now_s - then_s).max(1e-3);
            let fell = then.saturating_sub(clean) as f64 / elapsed_s;
            self.fall = (self.fall * (-elapsed_s / HALF_LIFE_S).exp2()).max(fell);
        }
    }

    /// Pages above its floor at which a node's clean pages are steered away from.
    fn margin(&self, node: &NodeSight, floors: Pages) -> u64 {
        let floor = floors.clean_min.max(floors.clean_low) as f64;
        let gap = node.high.saturating_sub(node.low) as f64;
        let least = (floor * (LEAST_LINE - 1.0)).max(gap * 1.5);
        (self.fall * AHEAD_S).max(least).min(floor * (LINE - 1.0)) as u64
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
