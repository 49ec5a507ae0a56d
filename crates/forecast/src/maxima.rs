//! How large something gets in a stretch of time.
use crate::DecayingQuantile;

/// The quantile of block maxima: time is cut into blocks, the largest value of each counts once, and
/// old blocks fade. Rare and large events are not drowned by the many small ones between them, and
/// one block with many events weighs no more than one with a single event.
///
/// Gumbel, "Statistics of Extremes" (1958), chapter 1; the block being built counts as it stands, so
/// that a new extreme is there at once.
#[derive(Clone, Debug)]
pub struct BlockMaxima {
    past: DecayingQuantile,
    block_s: f64,
    /// Start of the block being built, and its largest value so far.
    block: Option<(f64, f64)>,
}

impl BlockMaxima {
    pub fn new(block_s: f64, half_life_s: f64) -> Self {
        BlockMaxima {
            past: DecayingQuantile::new(half_life_s),
            block_s,
            block: None,
        }
    }

    /// A value seen at `now_s`. Also call it with 0: a block without events is an observation too.
    pub fn add(&mut self, now_s: f64, value: f64) {
        let value = value.max(0.0);
        let Some((start, largest)) = self.block else {
            self.block = Some((now_s, value));
            return;
        };
        let age = now_s - start;
        if age >= self.block_s {
            self.past.add(now_s, largest);
            // Blocks that nobody looked at held nothing that anyone saw.
            let skipped = (age / self.block_s).floor() - 1.0;
            if skipped >= 1.0 {
                self.past.add_weighted(now_s, 0.0, skipped);
            }
            self.block = Some((now_s, value));
        } else {
            self.block = Some((start, largest.max(value)));
        }
    }

    /// The quantile of the maxima; never below what the block being built has shown.
    pub fn quantile(&self, q: f64) -> f64 {
        self.past
            .quantile(q)
            .max(self.block.map_or(0.0, |(_, largest)| largest))
    }
}
