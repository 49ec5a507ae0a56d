//! Misses with more memory.
use crate::distances::{Distances, Miss};
use serde::Serialize;

/// Misses, now and with more memory.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Pages of files that left in the recording, and that came.
    pub evicted: u64,
    pub came: u64,
    /// Pages that came back in the second half, and those among them that were not seen to leave.
    pub refaults: u64,
    pub unknown: u64,
    /// By size.
    pub estimates: Vec<Estimate>,
}

/// What a larger memory would read again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Pages more than now.
    pub more: u64,
    /// Of the pages that come back now, the share that still would: 0 to 1, and the ends of its 90% interval.
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// Pages that must have come back. A share of a half is then known to a tenth, were they independent.
const LEAST: usize = 70;
/// Stretches of time whose shares are compared for the interval, each with the next: a larger memory follows a trend
/// as well (J. von Neumann, Distribution of the ratio of the mean square successive difference to the variance, 1941).
const STRETCHES: usize = 10;
/// Student's t of 6 degrees of freedom at 95%: what the differences of ten leave, 2 / (26 / 81).
const T: f64 = 1.943;
/// The kernel does not evict strictly by age: an error of this share, or of this share of the memory that is added,
/// beside that of the stretches (docs/design/constants.md).
const KERNEL: f64 = 0.15;
const KERNEL_MEMORY: f64 = 0.1;
/// Of so many pages none would come back: then up to 3 in so many would, with 95% confidence (J. Hanley and A.
/// Lippman-Hand, If nothing goes wrong, is everything all right?, JAMA 249, 1983).
const OF_NONE: f64 = 3.0;

/// Estimates what would be read again with each of `more` pages. `None` for the estimates: too little came back.
///
/// The first half of the time fills the list of what is away. A page that left before the recording began is taken
/// to come from behind all of it. Where events are missing it may as well have left since, so those that were seen
/// stand for all.
#[must_use]
pub fn of(distances: &Distances, seconds: f64, more: &[u64]) -> Curve {
    let half_s = seconds / 2.0;
    let misses = distances.misses();
    let late = &misses[misses.partition_point(|miss| miss.at_s < half_s)..];
    let seen = late.len() as u64 * distances.every();
    let refaults = refaults_since(distances.refaults(), half_s).max(seen);
    let unknown = refaults - seen;
    let (evicted, came) = distances.moved();
    let unseen = unknown as f64 / refaults as f64;
    let estimate = |more: &u64| match distances.is_whole() {
        true => estimate(late, *more, unseen),
        false => Estimate {
            share: estimate(late, *more, 0.0).share,
            ..estimate(late, *more, unseen)
        },
    };
    Curve {
        evicted,
        came,
        refaults,
        unknown,
        estimates: match late.len() {
            few if few < LEAST => Vec::new(),
            _ => more.iter().map(estimate).collect(),
        },
    }
}

/// Pages that came back after `half_s`. The counter is read once a second, and taken to rise in a line between: a second's
/// pages more would all pass for pages that were not seen to leave.
fn refaults_since(refaults: &[(f64, u64)], half_s: f64) -> u64 {
    let next = refaults.partition_point(|(at_s, _)| *at_s <= half_s);
    let last = refaults.last().map_or(0, |(_, count)| *count);
    let (from_s, from) = next
        .checked_sub(1)
        .map_or((0.0, 0), |before| refaults[before]);
    let Some((to_s, to)) = refaults.get(next) else {
        return last - from;
    };
    let part = (half_s - from_s) / (to_s - from_s);
    last - from - ((to - from) as f64 * part) as u64
}

/// `unknown`: the share of pages that were not seen to leave.
fn estimate(late: &[Miss], more: u64, unknown: f64) -> Estimate {
    let seen = share_that_comes(late, more);
    let each = late.len().div_ceil(STRETCHES);
    let stretches: Vec<f64> = late
        .chunks(each)
        .map(|stretch| share_that_comes(stretch, more))
        .collect();
    let steps: f64 = { stretches.windows(2) }
        .map(|two| (two[1] - two[0]).powi(2))
        .sum();
    let count = stretches.len() as f64;
    let error = T * (steps / 2.0 / (count - 1.0) / count).sqrt();
    let relative = match seen > 0.0 {
        true => error / seen,
        false => 0.0,
    };
    // The two errors have nothing to do with each other. As a factor: a share cannot be below nothing.
    let apart = 1.0 + relative.hypot(KERNEL);
    // Where the curve is steep, the memory's error is the larger one.
    let share_as_if = |factor: f64| share_that_comes(late, (more as f64 * factor) as u64);
    let lowest = (share_beside_kept_loops(late, more) / apart)
        .min(share_as_if(1.0 + KERNEL_MEMORY) / (1.0 + relative));
    let highest = (seen * apart).max(share_as_if(1.0 - KERNEL_MEMORY) * (1.0 + relative));
    let whole = |seen: f64| unknown + (1.0 - unknown) * seen;
    Estimate {
        more,
        share: whole(seen),
        // Those that were not seen to leave may all have stayed.
        low: (1.0 - unknown) * lowest,
        high: whole(highest.max(OF_NONE / late.len() as f64)).min(1.0),
    }
}

fn share_that_comes(misses: &[Miss], more: u64) -> f64 {
    let comes = misses.iter().filter(|miss| miss.distance >= more);
    comes.count() as f64 / misses.len() as f64
}

/// The same where of each loop the part stays that fits: of `distance` pages that are away, `more`. No order of
/// eviction does better.
fn share_beside_kept_loops(misses: &[Miss], more: u64) -> f64 {
    let loops = { misses.iter() }.filter(|miss| miss.in_order && miss.distance >= more);
    let kept: f64 = loops
        .map(|miss| more as f64 / miss.distance.max(1) as f64)
        .sum();
    (share_that_comes(misses, more) - kept / misses.len() as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::sample::Sample;
    use std::collections::VecDeque;

    /// Memory that evicts what was used least recently.
    struct Lru {
        size: usize,
        pages: VecDeque<u64>,
    }

    impl Lru {
        /// Whether it is read, and the page that is evicted for it.
        fn read(&mut self, page: u64) -> (bool, Option<u64>) {
            let at = self.pages.iter().position(|one| *one == page);
            let gone = match at {
                Some(at) => {
                    self.pages.remove(at);
                    None
                }
                None if self.pages.len() == self.size => self.pages.pop_front(),
                None => None,
            };
            self.pages.push_back(page);
            (at.is_none(), gone)
        }
    }

    /// Reads of a second half of the time, in memory of `size` pages. Small pages are read more often.
    fn reads(size: usize, distances: &mut Distances) -> u64 {
        let mut lru = Lru {
            size,
            pages: VecDeque::new(),
        };
        let (mut random, mut count) = (random::Pcg64::new(7), 0);
        for read in 0..60_000 {
            let unit = random.unit();
            let page = (2000.0 * unit * unit) as u64;
            let (missed, gone) = lru.read(page);
            let mut event = |gone: bool, first: u64| {
                let event = Event {
                    gone,
                    device: (8, 1),
                    inode: 2,
                    first,
                    pages: 1,
                };
                distances.event(f64::from(read), &event);
            };
            gone.into_iter().for_each(|page| event(true, page));
            if missed {
                event(false, page);
                count += u64::from(read >= 30_000);
            }
        }
        count
    }

    #[test]
    fn a_larger_memory_is_foretold_from_a_small_one() {
        for (every, off) in [(1, 0.005), (4, 0.1)] {
            let mut distances = Distances::new(Sample::new(every));
            let now = reads(400, &mut distances);
            let more = [100, 300, 600, 1000];
            let curve = of(&distances, 60_000.0, &more);
            for (estimate, more) in curve.estimates.iter().zip(more) {
                let found = reads(400 + more as usize, &mut Distances::new(Sample::new(1))) as f64
                    / now as f64;
                let away = (estimate.share - found).abs() / found;
                assert!(
                    away < off,
                    "{every}, {more}: {} for {found}",
                    estimate.share
                );
                assert!(estimate.low < found && found < estimate.high);
            }
            assert_eq!(curve.estimates.len(), more.len());
        }
    }

    #[test]
    fn half_of_the_time_may_end_between_two_looks_at_the_counter() {
        let counts: Vec<(f64, u64)> = (1..=17).map(|s| (f64::from(s), 1000 * s as u64)).collect();
        assert_eq!(refaults_since(&counts, 8.5), 8500);
        assert_eq!(refaults_since(&counts, 0.5), 16_500);
        assert_eq!(refaults_since(&counts, 17.0), 0);
        assert_eq!(refaults_since(&[], 3.0), 0);
    }

    #[test]
    fn what_was_not_seen_to_leave_comes_from_behind_all() {
        let mut distances = Distances::new(Sample::new(1));
        reads(400, &mut distances);
        let seen = of(&distances, 60_000.0, &[5000]);
        assert_eq!((seen.unknown, seen.estimates[0].share), (0, 0.0));
        distances.counters(30_000.0, 0, 0, 0);
        distances.counters(60_000.0, 2 * seen.refaults, 0, 0);
        let half = of(&distances, 60_000.0, &[5000]).estimates[0];
        assert!((half.share - 0.5).abs() < 1e-9);
        // Or they left meanwhile, and the kernel dropped it: the interval has both.
        distances.has_gaps();
        let gaps = of(&distances, 60_000.0, &[5000]).estimates[0];
        assert!(gaps.share < 1e-9 && gaps.high == half.high && gaps.low == half.low);
    }

    fn misses(distance: impl Fn(u32) -> u64) -> Vec<Miss> {
        let miss = |number| Miss {
            at_s: f64::from(number),
            distance: distance(number),
            in_order: false,
        };
        (0..1000).map(miss).collect()
    }

    #[test]
    fn at_a_cliff_a_tenth_of_the_added_memory_decides() {
        let loop_of = misses(|_| 1000);
        let (before, behind) = (estimate(&loop_of, 950, 0.0), estimate(&loop_of, 1050, 0.0));
        assert!(before.share > 0.99 && before.low < 0.01, "{before:?}");
        assert!(behind.share < 0.01 && behind.high > 0.99, "{behind:?}");
        let far = estimate(&loop_of, 800, 0.0);
        assert!(far.low > 0.8, "{far:?}");
    }

    #[test]
    fn a_part_of_a_loop_may_stay() {
        let mut loop_of = misses(|_| 1000);
        loop_of.iter_mut().for_each(|miss| miss.in_order = true);
        let (any, order) = (misses(|_| 1000), loop_of);
        let (any, order) = (estimate(&any, 800, 0.0), estimate(&order, 800, 0.0));
        assert!((order.low - 0.2 / 1.15).abs() < 1e-9 && any.low > 0.8);
        assert_eq!((order.share, order.high), (any.share, any.high));
        assert!(estimate(&misses(|_| 9), 10, 0.0).low.is_sign_positive());
    }

    #[test]
    fn a_trend_is_no_error() {
        // In each hundred a tenth more comes from far away.
        let trend = misses(|number| u64::from(number % 100 < number / 100 * 10) * 5000);
        let found = estimate(&trend, 1000, 0.0);
        assert!((found.share - 0.45).abs() < 1e-9, "{found:?}");
        // By their distance from the mean, these ends would be a factor of 2 apart.
        assert!(found.high / found.low < 1.5, "{found:?}");
    }

    #[test]
    fn pages_of_programs_lie_between() {
        let mut distances = Distances::new(Sample::new(1));
        let event = |distances: &mut Distances, gone: bool, first: u64| {
            let event = Event {
                gone,
                device: (8, 1),
                inode: 2,
                first,
                pages: 1,
            };
            distances.event(1.0, &event);
        };
        event(&mut distances, true, 1);
        distances.counters(1.0, 0, 500, 100);
        event(&mut distances, true, 2);
        event(&mut distances, false, 1);
        event(&mut distances, false, 2);
        let found: Vec<u64> = distances
            .misses()
            .iter()
            .map(|miss| miss.distance)
            .collect();
        assert_eq!(found, [401, 0]);
        assert!(of(&distances, 2.0, &[1]).estimates.is_empty(), "too little");
    }
}
