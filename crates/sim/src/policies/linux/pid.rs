//! MGLRU's controller: refault rates by type and tier decide which pages are evicted.
use super::reclaim::{ANON, FILE, MAX_SWAPPINESS};

/// MAX_NR_TIERS
pub const TIERS: usize = 4;

/// MIN_LRU_BATCH
pub const MIN_LRU_BATCH: u64 = 64;

/// The kernel version whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Linux 6.12
    V6_12,
    /// Linux 7.3
    V7,
}

/// struct ctrl_pos
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub refaulted: u64,
    pub total: u64,
    pub gain: u64,
}

/// positive_ctrl_err(): `pv` refaults little, or at most as much as `sp`.
pub fn positive_ctrl_err(sp: &Position, pv: &Position) -> bool {
    pv.refaulted < MIN_LRU_BATCH
        || u128::from(pv.refaulted) * u128::from(sp.total + MIN_LRU_BATCH) * u128::from(sp.gain)
            <= u128::from(sp.refaulted + 1) * u128::from(pv.total) * u128::from(pv.gain)
}

/// Counts of one type, by tier.
#[derive(Clone, Debug, Default)]
pub struct Tiers {
    pub refaulted: [u64; TIERS],
    pub evicted: [u64; TIERS],
    pub protected: [u64; TIERS],
    avg_refaulted: [u64; TIERS],
    avg_total: [u64; TIERS],
}

impl Tiers {
    /// read_ctrl_pos(): of one tier.
    pub fn read(&self, tier: usize, gain: u64) -> Position {
        Position {
            refaulted: self.avg_refaulted[tier] + self.refaulted[tier],
            total: self.avg_total[tier] + self.evicted[tier] + self.protected[tier],
            gain,
        }
    }

    /// read_ctrl_pos(MAX_NR_TIERS) of 7.x: of all tiers.
    fn read_all(&self, gain: u64) -> Position {
        let all = (0..TIERS).map(|tier| self.read(tier, 1));
        all.fold(
            Position {
                gain,
                ..Position::default()
            },
            |sum, one| Position {
                refaulted: sum.refaulted + one.refaulted,
                total: sum.total + one.total,
                gain,
            },
        )
    }

    /// reset_ctrl_pos(carryover): a generation ended, and its counts go into the average.
    pub fn carry_over(&mut self) {
        for tier in 0..TIERS {
            let now = self.read(tier, 1);
            self.avg_refaulted[tier] = now.refaulted / 2;
            self.avg_total[tier] = now.total / 2;
        }
        self.refaulted = [0; TIERS];
        self.evicted = [0; TIERS];
        self.protected = [0; TIERS];
    }

    /// get_tier_idx(): the highest tier that is evicted.
    pub fn highest_evicted(&self, rules: Rules) -> usize {
        let (first, other) = match rules {
            Rules::V6_12 => (1, 2),
            Rules::V7 => (2, 3),
        };
        let sp = self.read(0, first);
        let within = |&tier: &usize| positive_ctrl_err(&sp, &self.read(tier, other));
        (1..TIERS).take_while(within).count()
    }
}

/// get_type_to_scan(): anon or file, and in 6.12 the highest tier of it that is evicted.
pub fn type_to_scan(tiers: &[Tiers; 2], swappiness: u64, rules: Rules) -> (usize, Option<usize>) {
    let gain = [swappiness, MAX_SWAPPINESS - swappiness];
    if rules == Rules::V7 {
        let kind = match swappiness {
            0..=1 => FILE,
            MAX_SWAPPINESS.. => ANON,
            _ => {
                let sp = tiers[ANON].read_all(gain[ANON]);
                let pv = tiers[FILE].read_all(gain[FILE]);
                usize::from(positive_ctrl_err(&sp, &pv))
            }
        };
        return (kind, None);
    }
    let sp = tiers[ANON].read(0, gain[ANON]);
    let pv = tiers[FILE].read(0, gain[FILE]);
    let kind = usize::from(positive_ctrl_err(&sp, &pv));
    let sp = tiers[1 - kind].read(0, gain[1 - kind]);
    let within = |&tier: &usize| positive_ctrl_err(&sp, &tiers[kind].read(tier, gain[kind]));
    (kind, Some((1..TIERS).take_while(within).count()))
}

/// lru_tier_from_refs(): order_base_2() of so few accesses is a table.
#[inline(always)]
pub fn tier_of(refs: u8, workingset: bool, rules: Rules) -> usize {
    const ORDER: [u8; 9] = [0, 0, 1, 2, 2, 3, 3, 3, 3];
    let refs = usize::from(refs & 7);
    usize::from(match rules {
        Rules::V6_12 => ORDER[refs + 1],
        Rules::V7 if workingset => TIERS as u8 - 1,
        Rules::V7 => ORDER[refs],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(refaulted: u64, total: u64, gain: u64) -> Position {
        Position {
            refaulted,
            total,
            gain,
        }
    }

    #[test]
    fn positive_ctrl_err_lets_few_refaults_pass() {
        let sp = position(0, 1000, 1);
        assert!(positive_ctrl_err(&sp, &position(63, 64, 1)));
        assert!(!positive_ctrl_err(&sp, &position(64, 64, 1)));
        // The same rate on both sides, with the set point's head start.
        let sp = position(99, 1000 - 64, 1);
        assert!(positive_ctrl_err(&sp, &position(100, 1000, 1)));
        assert!(!positive_ctrl_err(&sp, &position(101, 1000, 1)));
        // Twice the gain allows twice the rate.
        assert!(positive_ctrl_err(&sp, &position(200, 1000, 2)));
        assert!(!positive_ctrl_err(&sp, &position(201, 1000, 2)));
    }

    #[test]
    fn lru_tier_from_refs_is_the_order_of_accesses() {
        let old = [0, 1, 2, 3, 4].map(|refs| tier_of(refs, false, Rules::V6_12));
        assert_eq!(old, [0, 1, 2, 2, 3]);
        let new = [0, 1, 2, 3, 4].map(|refs| tier_of(refs, false, Rules::V7));
        assert_eq!(new, [0, 0, 1, 2, 2]);
        assert_eq!(tier_of(0, true, Rules::V7), 3);
    }

    #[test]
    fn reset_ctrl_pos_halves_the_counts_into_the_average() {
        let mut tiers = Tiers::default();
        tiers.refaulted[1] = 10;
        tiers.evicted[1] = 20;
        tiers.protected[1] = 30;
        tiers.carry_over();
        assert_eq!(tiers.read(1, 7), position(5, 25, 7));
        tiers.refaulted[1] = 3;
        tiers.carry_over();
        assert_eq!(tiers.read(1, 7), position(4, 12, 7));
    }

    #[test]
    fn get_tier_idx_stops_at_the_first_tier_that_refaults_too_much() {
        let mut tiers = Tiers::default();
        assert_eq!(tiers.highest_evicted(Rules::V6_12), 3);
        tiers.evicted = [10_000, 1000, 1000, 1000];
        tiers.refaulted = [1000, 150, 500, 0];
        // Tier 0 refaults a tenth; tier 2 half, more than twice that.
        assert_eq!(tiers.highest_evicted(Rules::V6_12), 1);
        // Between 3/2 and 2 of tier 0's rate the kernels differ.
        tiers.refaulted = [1000, 180, 0, 0];
        assert_eq!(tiers.highest_evicted(Rules::V6_12), 3);
        assert_eq!(tiers.highest_evicted(Rules::V7), 0);
    }

    #[test]
    fn get_type_to_scan_weighs_refaults_by_swappiness() {
        let mut tiers = [Tiers::default(), Tiers::default()];
        for rules in [Rules::V6_12, Rules::V7] {
            assert_eq!(
                type_to_scan(&tiers, 60, rules).0,
                FILE,
                "nothing known: file"
            );
        }
        tiers[FILE].evicted[0] = 10_000;
        tiers[FILE].refaulted[0] = 5000;
        tiers[ANON].evicted[0] = 10_000;
        for rules in [Rules::V6_12, Rules::V7] {
            assert_eq!(type_to_scan(&tiers, 60, rules).0, ANON, "files refault");
        }
        tiers[ANON].refaulted[0] = 5000;
        for rules in [Rules::V6_12, Rules::V7] {
            assert_eq!(type_to_scan(&tiers, 60, rules).0, FILE);
            assert_eq!(type_to_scan(&tiers, 140, rules).0, ANON);
        }
        // Higher tiers count in 7.x only.
        tiers[FILE].evicted[2] = 10_000;
        tiers[FILE].refaulted[2] = 60_000;
        assert_eq!(type_to_scan(&tiers, 60, Rules::V6_12).0, FILE);
        assert_eq!(type_to_scan(&tiers, 60, Rules::V7).0, ANON);
        assert_eq!(type_to_scan(&tiers, 0, Rules::V7).0, FILE);
        assert_eq!(type_to_scan(&tiers, 200, Rules::V7).0, ANON);
    }
}
