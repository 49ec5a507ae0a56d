//! Draws from a discrete distribution by its cumulative sums.
use random::Pcg64;

/// Draws item `i` with a probability in proportion to its weight.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// The sum of weights up to and including each item, of all weights. The last is 1.
    sums: Vec<f64>,
    /// The first item that a number from `k / guides` on may draw.
    guide: Vec<u32>,
}

impl Discrete {
    /// # Panics
    /// There is no item.
    pub fn new(weights: impl Iterator<Item = f64>) -> Discrete {
        let mut total = 0.0;
        let mut sums: Vec<f64> = weights
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        for sum in &mut sums {
            *sum /= total;
        }
        // A power of two, so that scaling a number loses no bit.
        let guides = sums.len().next_power_of_two();
        let mut item = 0;
        let guide = (0..=guides).map(|at| {
            while item + 1 < sums.len() && sums[item] < at as f64 / guides as f64 {
                item += 1;
            }
            item as u32
        });
        Discrete {
            guide: guide.collect(),
            sums,
        }
    }

    /// Draws the first item whose sum is not below a random number.
    #[inline]
    pub fn draw(&self, rng: &mut Pcg64) -> u32 {
        self.at(rng.unit())
    }

    /// Draws the first item whose sum is above a random number, as NumPy's `choice` does.
    pub fn draw_right(&self, rng: &mut Pcg64) -> u32 {
        let u = rng.unit();
        self.sums.partition_point(|&s| s <= u) as u32
    }

    fn at(&self, u: f64) -> u32 {
        let guide = (u * (self.guide.len() - 1) as f64) as usize;
        let (first, last) = (self.guide[guide] as usize, self.guide[guide + 1] as usize);
        let within = &self.sums[first..last];
        let item = match within.len() < 16 {
            true => within.iter().position(|&s| s >= u).unwrap_or(within.len()),
            false => within.partition_point(|&s| s < u),
        };
        (first + item) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_table_finds_the_same_item_as_a_search() {
        for n in [1, 2, 3, 1000, 5000] {
            for alpha in [0.0, 0.7, 1.0, 3.0] {
                let d = Discrete::new((1..=n).map(|k| 1.0 / f64::from(k).powf(alpha)));
                let mut rng = Pcg64::new(7);
                let draws = (0..2000).map(|_| rng.unit());
                let edges = d.sums.iter().copied().filter(|&s| s < 1.0);
                for u in draws.chain([0.0]).chain(edges) {
                    let sought = d.sums.partition_point(|&s| s < u).min(d.sums.len() - 1);
                    assert_eq!(d.at(u), sought as u32, "{u} of {n}, {alpha}");
                }
            }
        }
    }
}
