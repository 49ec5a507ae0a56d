//! A sweep: several floors are measured in rounds, from which the worse ones drop out.
//!
//! A single measurement of some seconds is off by a third or more. A mean of three separates floors that
//! one measurement does not. Changes meanwhile fall on all floors alike.
//!
//! Even rounds go down: files that fall out are missed at once, while those that come in must be read
//! first. For some seconds after a step, as many pages come back as at the floor before. So odd rounds go
//! up: then a floor does not always inherit from the same neighbour. Both directions count the same.

/// The floors halve from 45% down to a hundredth of a percent, in so many steps.
pub const STEPS: usize = 14;
/// A floor is as good as the best if its cost is at most `AS_GOOD * best + AS_GOOD_S`.
pub const AS_GOOD: f64 = 1.05;
/// Seconds stalled a second by which costs may always differ.
pub const AS_GOOD_S: f64 = 0.005;
/// After each round but the last, floors drop out that cost so many times as much as the best.
const DROPPED: [f64; 2] = [1.6, 1.3];

/// A floor, and the sums of its costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried {
    /// Percent of memory.
    pub percent: f64,
    /// Costs on the way down, and on the way up.
    sums: [f64; 2],
    /// Measurements on the way down, and on the way up.
    counts: [u32; 2],
    dropped: bool,
}

impl Tried {
    /// The mean of the two directions' means.
    fn mean(&self) -> f64 {
        let ways = self.sums.iter().zip(self.counts);
        let ways = ways.filter(|(_, count)| *count > 0);
        let (sum, many) = ways.fold((0.0, 0.0), |(sum, many), (cost, count)| {
            (sum + cost / f64::from(count), many + 1.0)
        });
        sum / f64::max(many, 1.0)
    }
}

/// The floors of a sweep, and the one that is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sweep {
    /// The first `count` are used, from the highest floor on.
    floors: [Tried; STEPS],
    count: usize,
    at: usize,
    round: usize,
}

impl Sweep {
    /// Begins with the first of `floors`, given from the highest on.
    pub fn new(floors: impl Iterator<Item = f64>) -> Sweep {
        let mut sweep = Sweep::default();
        for (slot, percent) in sweep.floors.iter_mut().zip(floors) {
            slot.percent = percent;
            sweep.count += 1;
        }
        sweep
    }

    /// The floor to measure first; `None` where there is none.
    pub fn first(&self) -> Option<f64> {
        (self.count > 0).then(|| self.floors[0].percent)
    }

    /// Adds the cost of the floor that was measured. Returns the next floor; `None` at the end.
    pub fn record(&mut self, cost: f64) -> Option<f64> {
        let direction = self.round % 2;
        let tried = &mut self.floors[self.at];
        tried.sums[direction] += cost;
        tried.counts[direction] += 1;
        let next = self.after(Some(self.at)).or_else(|| self.next_round())?;
        self.at = next;
        Some(self.floors[next].percent)
    }

    /// Drops the worse floors. Returns the first floor of the next round, where there is one.
    fn next_round(&mut self) -> Option<usize> {
        let dropped = DROPPED.get(self.round)?;
        let best = self.best();
        let tried = &mut self.floors[..self.count];
        for one in tried.iter_mut() {
            one.dropped |= one.mean() > best * dropped + AS_GOOD_S;
        }
        if tried.iter().filter(|one| !one.dropped).count() <= 1 {
            return None;
        }
        self.round += 1;
        self.after(None)
    }

    /// The floor that this round measures after the floor `at`, or first.
    fn after(&self, at: Option<usize>) -> Option<usize> {
        let left = |at: &usize| !self.floors[*at].dropped;
        if self.round.is_multiple_of(2) {
            (at.map_or(0, |at| at + 1)..self.count).find(left)
        } else {
            (0..at.unwrap_or(self.count)).rev().find(left)
        }
    }

    /// The least mean cost.
    pub fn best(&self) -> f64 {
        let left = self.floors[..self.count].iter().filter(|one| !one.dropped);
        left.map(Tried::mean).fold(f64::INFINITY, f64::min)
    }

    /// The lowest floor that is as good as one with the cost `reference`.
    ///
    /// Where stalls have grown since `reference` was measured, no floor is as good. Then the result is the
    /// highest floor, which the sweep before found.
    pub fn lowest_as_good(&self, reference: f64) -> f64 {
        let enough = reference * AS_GOOD + AS_GOOD_S;
        let tried = &self.floors[..self.count];
        let good = tried
            .iter()
            .filter(|one| !one.dropped && one.mean() <= enough);
        let lowest = good.min_by(|one, other| one.percent.total_cmp(&other.percent));
        lowest.or(tried.first()).map_or(0.0, |one| one.percent)
    }
}
