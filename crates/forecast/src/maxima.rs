//! The largest value in each stretch of time.
use crate::quantile::{below, DecayingQuantile};

/// The quantile of block maxima: time is cut into blocks, the largest value of each counts once, and
/// old blocks fade. Rare and large events are not drowned by the many small ones between them. A
/// block with many events weighs no more than a block with a single event.
///
/// Gumbel, "Statistics of Extremes" (1958), chapter 1. The block being built counts too, so that a new
/// extreme shows at once.
#[derive(Clone, Debug)]
pub struct BlockMaxima {
    past: DecayingQuantile,
    block_s: f64,
    /// Start of the block being built, and its largest value so far.
    block: Option<(f64, f64)>,
}

impl BlockMaxima {
    /// No values yet. `block_s`: seconds of a block. `half_life_s`: seconds in which a block's weight
    /// halves.
    pub fn new(block_s: f64, half_life_s: f64) -> Self {
        BlockMaxima {
            past: DecayingQuantile::new(half_life_s),
            block_s,
            block: None,
        }
    }

    /// Adds a value of the moment `now_s`. A block without a value does not count.
    pub fn add(&mut self, now_s: f64, value: f64) {
        let value = value.max(0.0);
        let Some((start, largest)) = self.block else {
            self.block = Some((now_s, value));
            return;
        };
        let age = now_s - start;
        if age >= self.block_s {
            self.past.add(now_s, largest);
            self.block = Some((now_s, value));
        } else {
            self.block = Some((start, largest.max(value)));
        }
    }

    /// The quantile `q` (0 to 1) of the maxima; at least the largest value of the block being built.
    pub fn quantile(&self, q: f64) -> f64 {
        self.past
            .quantile(q)
            .max(self.block.map_or(0.0, |(_, largest)| largest))
    }

    /// The weight of the blocks with a value at `now_s`. The one being built weighs 1.
    pub fn count(&self, now_s: f64) -> f64 {
        self.past.weight(now_s) + f64::from(u8::from(self.block.is_some()))
    }

    /// Goes on where another series ended: with its quantile and its [`BlockMaxima::count`].
    pub fn recall(&mut self, now_s: f64, quantile: f64, count: f64) {
        self.past
            .add_weighted(now_s, below(quantile), (count - 1.0).max(0.0));
        self.block = Some((now_s, quantile));
    }
}
