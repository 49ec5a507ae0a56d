//! CACHEUS's learning rate: once in as many requests as objects fit, it climbs towards more hits.
use random::Pcg64;

/// Bounds of a rate that moved.
const LEAST: f64 = 0.001;
const MOST: f64 = 1.0;

/// Periods without success after which the rate starts anew.
const PATIENCE: u32 = 10;

/// Rates and hit ratios are compared to three decimals. Printed, a value is rounded as in the authors' Python,
/// where 0.5725 is a little above or below its name.
fn thousandths(value: f64) -> f64 {
    format!("{value:.3}").parse().unwrap_or(value)
}

/// The rate, and what its last move brought.
pub struct LearningRate {
    rate: f64,
    rate_before: f64,
    first: f64,
    period: u32,
    left: u32,
    hits: u32,
    hit_ratio: f64,
    /// Periods without a hit or with fewer hits, and those with fewer hits, since the rate last moved by its
    /// slope or started anew.
    idle: u32,
    falls: u32,
}

impl LearningRate {
    /// The first rate, for periods of `period` requests: the square root of 2 ln 2 / period.
    pub fn new(period: u32) -> LearningRate {
        let first = (2.0 * std::f64::consts::LN_2 / f64::from(period)).sqrt();
        LearningRate {
            rate: first,
            rate_before: 0.0,
            first: first.clamp(LEAST, MOST),
            period,
            left: period,
            hits: 0,
            hit_ratio: 0.0,
            idle: 0,
            falls: 0,
        }
    }

    /// The rate now.
    #[inline(always)]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts a hit.
    #[inline(always)]
    pub fn hit(&mut self) {
        self.hits += 1;
    }

    /// Counts a request, before it is served. The last one of a period ends it.
    #[inline(always)]
    pub fn tick(&mut self, random: &mut Pcg64) {
        self.left -= 1;
        if self.left == 0 {
            self.end_period(random);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_period(&mut self, random: &mut Pcg64) {
        let hit_ratio = thousandths(f64::from(self.hits) / f64::from(self.period));
        let gain = thousandths(hit_ratio - self.hit_ratio);
        let step = thousandths(self.rate) - thousandths(self.rate_before);
        let rate = self.rate;
        let slope = step * gain;
        if slope != 0.0 {
            // On in the direction that brought hits, or back from the one that cost some.
            let change = (rate * step).abs();
            self.rate = match slope > 0.0 {
                true => (rate + change).min(MOST),
                false => (rate - change).max(LEAST),
            };
            (self.idle, self.falls) = (0, 0);
        } else if gain < 0.0 || gain == 0.0 && hit_ratio == 0.0 {
            self.without_slope(gain < 0.0, random);
        }
        self.rate_before = rate;
        self.hit_ratio = hit_ratio;
        self.hits = 0;
        self.left = self.period;
    }

    /// The rate did not move, and a period brought fewer hits (`fell`) or none.
    fn without_slope(&mut self, fell: bool, random: &mut Pcg64) {
        self.idle += 1;
        self.falls += u32::from(fell);
        if self.idle >= PATIENCE {
            self.rate = self.first;
            self.idle = 0;
        } else if fell && self.falls >= PATIENCE {
            self.rate = self.first;
            self.falls = 0;
        } else if fell {
            self.jump(random);
        }
    }

    fn jump(&mut self, random: &mut Pcg64) {
        self.rate = if self.rate >= MOST {
            0.9
        } else if self.rate <= LEAST {
            0.005
        } else if random.unit() < 0.5 {
            (self.rate * 1.25).min(MOST)
        } else {
            (self.rate * 0.75).max(LEAST)
        };
    }
}
