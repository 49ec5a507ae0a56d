//! The rules of Android's low memory killer, from its documentation and source (system/memory/lmkd,
//! `mp_event_psi`). This module does no I/O.
use protocol::work::apps::Killer;

/// The highest `oom_score_adj` of a perceptible app (Android's PERCEPTIBLE_APP_ADJ).
const PERCEPTIBLE: i32 = 200;
/// Multiple of the limit in percent above which even perceptible apps are killed.
const CRITICAL_TIMES: u64 = 3;
const WINDOW_MS: f64 = 1000.0;

/// A sample of the kernel's counters.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub now_ms: f64,
    /// Free pages.
    pub free: u64,
    pub min: u64,
    pub low: u64,
    pub high: u64,
    pub file_lru: u64,
    pub refault_file: u64,
    pub pgscan_kswapd: u64,
    pub pgscan_direct: u64,
    pub swap_total: u64,
    pub swap_free: u64,
    /// The `full` trigger fired.
    pub critical: bool,
    /// A kill has ended since the last sample.
    pub after_kill: bool,
}

/// A process to kill, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    pub reason: &'static str,
    /// Processes with a lower `oom_score_adj` are spared.
    pub least_adj: i32,
}

/// The decision on a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub kill: Option<Kill>,
    pub swap_is_low: bool,
    pub direct_reclaim: bool,
}

/// The state between samples.
pub struct Rules {
    settings: Killer,
    /// At the beginning of the window.
    refault: u64,
    file_lru: u64,
    scanned: (u64, u64),
    since_ms: f64,
    /// At the last sample with reclaim.
    last_refault: u64,
    /// The share of earlier windows, decayed.
    before: u64,
    limit: u64,
}

impl Rules {
    pub fn new(settings: &Killer, snapshot: &Snapshot) -> Rules {
        Rules {
            limit: settings.thrashing_limit,
            settings: settings.clone(),
            refault: snapshot.refault_file,
            file_lru: snapshot.file_lru,
            scanned: (snapshot.pgscan_kswapd, snapshot.pgscan_direct),
            since_ms: snapshot.now_ms,
            last_refault: snapshot.refault_file,
            before: 0,
        }
    }

    /// Decides on a sample. Without reclaim and refaults since the last sample, nothing is killed.
    pub fn decide(&mut self, snapshot: &Snapshot) -> Decision {
        let low_swap = snapshot.swap_total * self.settings.swap_free_low_percentage / 100;
        let swap_is_low = snapshot.swap_total > 0 && snapshot.swap_free < low_swap;
        let direct_reclaim = snapshot.pgscan_direct > self.scanned.1;
        let found = |kill| Decision {
            kill,
            swap_is_low,
            direct_reclaim,
        };
        let reclaim = direct_reclaim || snapshot.pgscan_kswapd > self.scanned.0;
        if !reclaim && snapshot.refault_file == self.last_refault {
            return found(None);
        }
        self.last_refault = snapshot.refault_file;
        let thrashing = self.thrashing(snapshot);
        let limit = self.limit;
        let kill = |reason, spare| {
            Some(Kill {
                reason,
                least_adj: if spare { PERCEPTIBLE + 1 } else { 0 },
            })
        };
        let heavy = self.settings.thrashing_limit * CRITICAL_TIMES;
        // Perceptible apps are spared unless thrashing is heavy.
        let spare = snapshot.free > snapshot.min && thrashing < heavy;
        let (kill, cut) = if snapshot.after_kill && snapshot.free < snapshot.low {
            (kill("pressure-after-kill", false), false)
        } else if snapshot.critical {
            (kill("not-responding", false), false)
        } else if swap_is_low && thrashing > self.settings.thrashing_limit {
            (kill("low-swap-and-thrashing", spare), false)
        } else if swap_is_low && snapshot.free < snapshot.high {
            (kill("low-memory-and-swap", spare), false)
        } else if snapshot.free < snapshot.high && thrashing > limit {
            (kill("low-memory-and-thrashing", true), true)
        } else if direct_reclaim && thrashing > limit {
            (kill("direct-reclaim-and-thrashing", true), true)
        } else {
            (None, false)
        };
        if cut {
            self.limit = limit * (100 - self.settings.thrashing_limit_decay.min(100)) / 100;
        }
        found(kill)
    }

    /// Refaults of file pages in this window as a percentage of the file pages at its beginning,
    /// plus the decayed share of earlier windows.
    fn thrashing(&mut self, snapshot: &Snapshot) -> u64 {
        let grown = snapshot.refault_file.saturating_sub(self.refault) * 100 / (self.file_lru + 1);
        let since = snapshot.now_ms - self.since_ms;
        if since <= WINDOW_MS {
            return grown + self.before;
        }
        let windows = (since / WINDOW_MS) as u32;
        self.before = grown;
        // No process could be killed in a window over the limit: keep its state.
        if windows > 1 || grown < self.limit {
            self.before = grown.checked_shr(windows).unwrap_or(0);
        }
        self.file_lru = snapshot.file_lru;
        self.refault = snapshot.refault_file;
        self.scanned = (snapshot.pgscan_kswapd, snapshot.pgscan_direct);
        self.since_ms = snapshot.now_ms;
        self.limit = self.settings.thrashing_limit;
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calm() -> Snapshot {
        Snapshot {
            free: 1000,
            min: 100,
            low: 200,
            high: 300,
            file_lru: 999,
            swap_total: 100,
            swap_free: 50,
            ..Snapshot::default()
        }
    }

    fn reason(rules: &mut Rules, snapshot: &Snapshot) -> Option<(&'static str, i32)> {
        let kill = rules.decide(snapshot).kill?;
        Some((kill.reason, kill.least_adj))
    }

    #[test]
    fn each_reason_kills_and_spares_by_its_own_rule() {
        let scanned = Snapshot {
            pgscan_kswapd: 5,
            ..calm()
        };
        let new = || Rules::new(&Killer::default(), &calm());
        assert_eq!(reason(&mut new(), &scanned), None);
        let snapshot = Snapshot {
            critical: true,
            ..scanned.clone()
        };
        assert_eq!(reason(&mut new(), &snapshot), Some(("not-responding", 0)));
        // Without reclaim and refaults nothing is killed, whatever the trigger.
        let snapshot = Snapshot {
            critical: true,
            ..calm()
        };
        assert_eq!(reason(&mut new(), &snapshot), None);
        let low_swap = Snapshot {
            swap_free: 9,
            free: 250,
            ..scanned.clone()
        };
        let spared = Some(("low-memory-and-swap", 201));
        assert_eq!(reason(&mut new(), &low_swap), spared);
        let snapshot = Snapshot {
            free: 90,
            ..low_swap.clone()
        };
        assert_eq!(
            reason(&mut new(), &snapshot),
            Some(("low-memory-and-swap", 0))
        );
        let snapshot = Snapshot {
            refault_file: 1010,
            free: 500,
            ..low_swap
        };
        let spared = Some(("low-swap-and-thrashing", 201));
        assert_eq!(reason(&mut new(), &snapshot), spared);
        let snapshot = Snapshot {
            after_kill: true,
            free: 150,
            ..scanned
        };
        assert_eq!(
            reason(&mut new(), &snapshot),
            Some(("pressure-after-kill", 0))
        );
    }

    #[test]
    fn each_kill_for_thrashing_lowers_the_limit_until_the_window_ends() {
        let mut rules = Rules::new(&Killer::default(), &calm());
        let snapshot = |now_ms, refault_file| Snapshot {
            now_ms,
            refault_file,
            pgscan_kswapd: 1,
            free: 250,
            ..calm()
        };
        assert_eq!(reason(&mut rules, &snapshot(10.0, 950)), None);
        let name = Some(("low-memory-and-thrashing", 201));
        assert_eq!(reason(&mut rules, &snapshot(20.0, 1020)), name);
        assert_eq!(rules.limit, 90);
        // The window ends: 102% is over the limit and is not decayed, and the limit is 100 again.
        assert_eq!(reason(&mut rules, &snapshot(1100.0, 1021)), name);
        assert_eq!(rules.before, 102);
        // After two quiet windows the share has decayed to nothing.
        assert_eq!(reason(&mut rules, &snapshot(3200.0, 1022)), None);
        assert_eq!(rules.before, 0);
    }
}
