//! In which order trials run, and with which seeds.

/// One boot to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index of the arm.
    pub arm: usize,
    /// From 0.
    pub repetition: u32,
    pub seed: u64,
}

/// All trials of a run. Each repetition has every arm once, in an order of its own, so that whatever
/// drifts on the host falls on all arms alike; all arms of a repetition share a seed.
pub fn turns(arms: usize, repetitions: u32, seed: u64) -> Vec<Turn> {
    let mut random = SplitMix(seed);
    let mut turns = Vec::new();
    for repetition in 0..repetitions {
        // JSON readers elsewhere keep numbers as doubles: 53 bits survive.
        let seed = random.next() >> 11;
        let mut order: Vec<usize> = (0..arms).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, (random.next() % (last as u64 + 1)) as usize);
        }
        turns.extend(order.into_iter().map(|arm| Turn {
            arm,
            repetition,
            seed,
        }));
    }
    turns
}

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers on every machine and for ever.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::turns;
    use std::collections::BTreeSet;

    #[test]
    fn repetitions_hold_every_arm_once_and_share_a_seed() {
        let all = turns(6, 50, 1);
        assert_eq!(all, turns(6, 50, 1), "a seed gives one order");
        let mut orders = BTreeSet::new();
        let mut seeds = BTreeSet::new();
        for (repetition, turns) in all.chunks(6).enumerate() {
            let arms: BTreeSet<usize> = turns.iter().map(|turn| turn.arm).collect();
            assert_eq!(arms.len(), 6);
            assert!(turns
                .iter()
                .all(|turn| turn.repetition == repetition as u32));
            assert!(turns.iter().all(|turn| turn.seed == turns[0].seed));
            orders.insert(turns.iter().map(|turn| turn.arm).collect::<Vec<_>>());
            seeds.insert(turns[0].seed);
        }
        assert_eq!(seeds.len(), 50);
        assert!(orders.len() > 40, "orders differ: {}", orders.len());
        assert_ne!(turns(6, 1, 1), turns(6, 1, 2));
    }
}
