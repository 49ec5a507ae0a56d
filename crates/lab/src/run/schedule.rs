//! The order of a run's trials, and their seeds.
use random::SplitMix64;

/// One trial that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Index of the arm.
    pub arm: usize,
    /// From 0.
    pub repetition: u32,
    pub seed: u64,
}

/// All trials of a run. Each repetition has every arm once, in an order of its own, so that a drift on
/// the host affects all arms alike. All arms of a repetition share a seed.
pub fn turns(arms: usize, repetitions: u32, seed: u64) -> Vec<Turn> {
    let mut random = SplitMix64::new(seed);
    let mut turns = Vec::new();
    for repetition in 0..repetitions {
        // Many readers of JSON keep numbers as doubles, in which 53 bits survive.
        let seed = random.next_u64() >> 11;
        let mut order: Vec<usize> = (0..arms).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
        }
        turns.extend(order.into_iter().map(|arm| Turn {
            arm,
            repetition,
            seed,
        }));
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::turns;
    use std::collections::BTreeSet;

    /// A seed gives the same order in every version.
    #[test]
    fn the_order_of_seed_1_does_not_change() {
        let all: Vec<(usize, u64)> = { turns(3, 2, 1).iter() }
            .map(|turn| (turn.arm, turn.seed))
            .collect();
        assert_eq!(
            all,
            [
                (2, 5_103_132_997_656_651),
                (0, 5_103_132_997_656_651),
                (1, 5_103_132_997_656_651),
                (1, 4_002_432_008_702_041),
                (2, 4_002_432_008_702_041),
                (0, 4_002_432_008_702_041)
            ]
        );
    }

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
