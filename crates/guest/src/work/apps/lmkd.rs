//! The rules by which Android's low memory killer decides, as its documentation and source
//! (system/memory/lmkd, `mp_event_psi`) have them; pure.
use raw::apps::Killer;

/// Below or at this, the user sees or hears the app.
const PERCEPTIBLE: i32 = 200;
/// Over so many times the limit in percent even perceptible apps are killed.
const CRITICAL_TIMES: u64 = 3;
const WINDOW_MS: f64 = 1000.0;

/// What the kernel's files say.
#[derive(Clone, Debug, Default)]
pub struct Sight {
    pub now_ms: f64,
    /// Pages.
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
    /// A kill is over since the last look.
    pub after_kill: bool,
}

/// Whom to kill, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    pub reason: &'static str,
    /// Nobody with a lower `oom_score_adj`.
    pub least_adj: i32,
}

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub kill: Option<Kill>,
    pub swap_is_low: bool,
    pub direct_reclaim: bool,
}

/// The state between looks.
pub struct Rules {
    settings: Killer,
    /// At the begin of the window.
    refault: u64,
    file_lru: u64,
    scanned: (u64, u64),
    since_ms: f64,
    /// At the last look that saw reclaim.
    last_refault: u64,
    /// Of earlier windows, decayed.
    before: u64,
    limit: u64,
}

impl Rules {
    pub fn new(settings: &Killer, sight: &Sight) -> Rules {
        Rules {
            limit: settings.thrashing_limit,
            settings: settings.clone(),
            refault: sight.refault_file,
            file_lru: sight.file_lru,
            scanned: (sight.pgscan_kswapd, sight.pgscan_direct),
            since_ms: sight.now_ms,
            last_refault: sight.refault_file,
            before: 0,
        }
    }

    /// Decides. A look that finds neither reclaim nor refaults decides nothing.
    pub fn look(&mut self, sight: &Sight) -> Found {
        let low_swap = sight.swap_total * self.settings.swap_free_low_percentage / 100;
        let swap_is_low = sight.swap_total > 0 && sight.swap_free < low_swap;
        let direct_reclaim = sight.pgscan_direct > self.scanned.1;
        let found = |kill| Found {
            kill,
            swap_is_low,
            direct_reclaim,
        };
        let reclaim = direct_reclaim || sight.pgscan_kswapd > self.scanned.0;
        if !reclaim && sight.refault_file == self.last_refault {
            return found(None);
        }
        self.last_refault = sight.refault_file;
        let thrashing = self.thrashing(sight);
        let limit = self.limit;
        let kill = |reason, spare| {
            Some(Kill {
                reason,
                least_adj: if spare { PERCEPTIBLE + 1 } else { 0 },
            })
        };
        let heavy = self.settings.thrashing_limit * CRITICAL_TIMES;
        // Perceptible apps are spared unless it is very bad.
        let spare = sight.free > sight.min && thrashing < heavy;
        let (kill, cut) = if sight.after_kill && sight.free < sight.low {
            (kill("pressure-after-kill", false), false)
        } else if sight.critical {
            (kill("not-responding", false), false)
        } else if swap_is_low && thrashing > self.settings.thrashing_limit {
            (kill("low-swap-and-thrashing", spare), false)
        } else if swap_is_low && sight.free < sight.high {
            (kill("low-memory-and-swap", spare), false)
        } else if sight.free < sight.high && thrashing > limit {
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

    /// Refaults of file pages in this window as a percentage of the file pages at its begin, and what
    /// is left of earlier windows.
    fn thrashing(&mut self, sight: &Sight) -> u64 {
        let grown = sight.refault_file.saturating_sub(self.refault) * 100 / (self.file_lru + 1);
        let since = sight.now_ms - self.since_ms;
        if since <= WINDOW_MS {
            return grown + self.before;
        }
        let windows = (since / WINDOW_MS) as u32;
        self.before = grown;
        // Over the limit in the window that just ended, nobody could be killed: it stays.
        if windows > 1 || grown < self.limit {
            self.before = grown.checked_shr(windows).unwrap_or(0);
        }
        self.file_lru = sight.file_lru;
        self.refault = sight.refault_file;
        self.scanned = (sight.pgscan_kswapd, sight.pgscan_direct);
        self.since_ms = sight.now_ms;
        self.limit = self.settings.thrashing_limit;
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calm() -> Sight {
        Sight {
            free: 1000,
            min: 100,
            low: 200,
            high: 300,
            file_lru: 999,
            swap_total: 100,
            swap_free: 50,
            ..Sight::default()
        }
    }

    fn reason(rules: &mut Rules, sight: &Sight) -> Option<(&'static str, i32)> {
        let kill = rules.look(sight).kill?;
        Some((kill.reason, kill.least_adj))
    }

    #[test]
    fn each_reason_and_whom_it_spares() {
        let scanned = Sight {
            pgscan_kswapd: 5,
            ..calm()
        };
        let new = || Rules::new(&Killer::default(), &calm());
        assert_eq!(reason(&mut new(), &scanned), None);
        let sight = Sight {
            critical: true,
            ..scanned.clone()
        };
        assert_eq!(reason(&mut new(), &sight), Some(("not-responding", 0)));
        // Nothing was reclaimed and nothing came back: whatever the trigger said.
        let sight = Sight {
            critical: true,
            ..calm()
        };
        assert_eq!(reason(&mut new(), &sight), None);
        let low_swap = Sight {
            swap_free: 9,
            free: 250,
            ..scanned.clone()
        };
        let spared = Some(("low-memory-and-swap", 201));
        assert_eq!(reason(&mut new(), &low_swap), spared);
        let sight = Sight {
            free: 90,
            ..low_swap.clone()
        };
        assert_eq!(reason(&mut new(), &sight), Some(("low-memory-and-swap", 0)));
        let sight = Sight {
            refault_file: 1010,
            free: 500,
            ..low_swap
        };
        let spared = Some(("low-swap-and-thrashing", 201));
        assert_eq!(reason(&mut new(), &sight), spared);
        let sight = Sight {
            after_kill: true,
            free: 150,
            ..scanned
        };
        assert_eq!(reason(&mut new(), &sight), Some(("pressure-after-kill", 0)));
    }

    #[test]
    fn each_kill_for_thrashing_lowers_the_limit_until_the_window_ends() {
        let mut rules = Rules::new(&Killer::default(), &calm());
        let sight = |now_ms, refault_file| Sight {
            now_ms,
            refault_file,
            pgscan_kswapd: 1,
            free: 250,
            ..calm()
        };
        assert_eq!(reason(&mut rules, &sight(10.0, 950)), None);
        let name = Some(("low-memory-and-thrashing", 201));
        assert_eq!(reason(&mut rules, &sight(20.0, 1020)), name);
        assert_eq!(rules.limit, 90);
        // The window ends: 102% is over the limit, stays whole, and the limit is 100 again.
        assert_eq!(reason(&mut rules, &sight(1100.0, 1021)), name);
        assert_eq!(rules.before, 102);
        // Two quiet windows later nothing is left of it.
        assert_eq!(reason(&mut rules, &sight(3200.0, 1022)), None);
        assert_eq!(rules.before, 0);
    }
}
