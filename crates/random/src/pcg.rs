//! PCG64, seeded and drawn as by numpy's `Generator`: a script in Python and a program in Rust draw
//! the same numbers from the same seed.
//!
//! PCG XSL RR 128/64: M. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
//! Algorithms for Random Number Generation", 2014.
use std::sync::OnceLock;

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// `numpy.random.Generator(numpy.random.PCG64(seed))`.
#[derive(Clone, Debug)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of a number whose lower half has been given out.
    half: Option<u32>,
}

impl Pcg64 {
    /// As `numpy.random.PCG64(seed)`.
    pub fn new(seed: u64) -> Pcg64 {
        let words = spread(seed);
        let wide = |at: usize| u128::from(words[at]) << 64 | u128::from(words[at + 1]);
        let mut rng = Pcg64 {
            state: 0,
            increment: wide(2) << 1 | 1,
            half: None,
        };
        rng.step();
        rng.state = rng.state.wrapping_add(wide(0));
        rng.step();
        rng
    }

    #[inline]
    fn step(&mut self) {
        self.state = self
            .state
            .wrapping_mul(MULTIPLIER)
            .wrapping_add(self.increment);
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    #[inline]
    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let both = self.next_u64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// At least 0, below 1: 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from 0 to `last`, both included and all equally likely. As few bits as `last` needs are
    /// drawn, and drawn anew while they are above it.
    #[inline]
    pub fn up_to(&mut self, last: u32) -> u32 {
        if last == 0 {
            return 0;
        }
        let mask = u32::MAX >> last.leading_zeros();
        loop {
            let value = self.next_u32() & mask;
            if value <= last {
                return value;
            }
        }
    }

    /// The numbers below `count`, in random order.
    pub fn permutation(&mut self, count: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..count).collect();
        for at in (1..count).rev() {
            let other = self.up_to(at);
            numbers.swap(at as usize, other as usize);
        }
        numbers
    }

    /// Exponential with mean 1, by the ziggurat: G. Marsaglia and W. Tsang, "The Ziggurat Method for
    /// Generating Random Variables", 2000, with 256 layers and 53 bits.
    pub fn exponential(&mut self) -> f64 {
        let layers = ziggurat();
        loop {
            let bits = self.next_u64() >> 3;
            let (layer, bits) = ((bits & 0xff) as usize, bits >> 8);
            let x = bits as f64 * layers.width[layer];
            if bits < layers.inside[layer] {
                return x;
            }
            if layer == 0 {
                return TAIL - (-self.unit()).ln_1p();
            }
            let (below, above) = (layers.height[layer], layers.height[layer - 1]);
            if (above - below) * self.unit() + below < (-x).exp() {
                return x;
            }
        }
    }

    /// Trials up to the first success, each succeeding with probability `p` below one third.
    pub fn geometric(&mut self, p: f64) -> u64 {
        (-self.exponential() / (-p).ln_1p()).ceil() as u64
    }
}

/// Where the tail begins, and the area of each layer, of 256.
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_557;

struct Ziggurat {
    /// Below this number the point is inside without a further test.
    inside: [u64; 256],
    width: [f64; 256],
    height: [f64; 256],
}

fn ziggurat() -> &'static Ziggurat {
    static TABLES: OnceLock<Ziggurat> = OnceLock::new();
    TABLES.get_or_init(|| {
        let scale = (1u64 << 53) as f64;
        let mut z = Ziggurat {
            inside: [0; 256],
            width: [0.0; 256],
            height: [0.0; 256],
        };
        let base = AREA / (-TAIL).exp();
        z.inside[0] = (TAIL / base * scale) as u64;
        z.width[0] = base / scale;
        z.width[255] = TAIL / scale;
        z.height[0] = 1.0;
        z.height[255] = (-TAIL).exp();
        let mut outer = TAIL;
        for layer in (1..255).rev() {
            let inner = -(AREA / outer + (-outer).exp()).ln();
            z.inside[layer + 1] = (inner / outer * scale) as u64;
            z.height[layer] = (-inner).exp();
            z.width[layer] = inner / scale;
            outer = inner;
        }
        z
    })
}

/// A seed spread over four words, as numpy's `SeedSequence` does it (M. O'Neill's `seed_seq_fe128`).
fn spread(seed: u64) -> [u64; 4] {
    const POOL: usize = 4;
    let mut constant = 0x43b0_d7e5u32;
    let mut hash = |value: u32| {
        let mixed = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let mixed = mixed.wrapping_mul(constant);
        mixed ^ mixed >> 16
    };
    let mix = |x: u32, y: u32| {
        let mixed = x
            .wrapping_mul(0xca01_f9dd)
            .wrapping_sub(y.wrapping_mul(0x4973_f715));
        mixed ^ mixed >> 16
    };
    let words = [seed as u32, (seed >> 32) as u32, 0, 0];
    let mut pool = words.map(&mut hash);
    for from in 0..POOL {
        for to in 0..POOL {
            if from != to {
                pool[to] = mix(pool[to], hash(pool[from]));
            }
        }
    }
    let mut constant = 0x8b51_f9ddu32;
    let mut halves = [0u32; 8];
    for (at, half) in halves.iter_mut().enumerate() {
        let mixed = pool[at % POOL] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let mixed = mixed.wrapping_mul(constant);
        *half = mixed ^ mixed >> 16;
    }
    [0, 2, 4, 6].map(|at| u64::from(halves[at + 1]) << 32 | u64::from(halves[at]))
}

#[cfg(test)]
mod tests {
    use super::Pcg64;

    // The expected values are numpy 2.4.6's own output.

    #[test]
    fn seed_42_draws_numpys_numbers() {
        let mut random = Pcg64::new(42);
        let drawn = [(); 3].map(|()| random.next_u64());
        assert_eq!(
            drawn,
            [
                14276969152011380360,
                8095878257575067585,
                15838336090824644132
            ]
        );
        let mut random = Pcg64::new(42);
        let units = [(); 3].map(|()| random.unit());
        assert_eq!(
            units,
            [0.7739560485559633, 0.4388784397520523, 0.8585979199113825]
        );
        assert_eq!(random.permutation(8), [0, 2, 7, 1, 4, 3, 6, 5]);
    }

    #[test]
    fn a_seed_of_64_bits_draws_numpys_numbers() {
        let mut random = Pcg64::new((1 << 63) + 5);
        assert_eq!(
            [random.unit(), random.unit()],
            [0.48023310532329777, 0.9041733770137489]
        );
    }

    #[test]
    fn permutations_geometric_and_exponential_draws_are_numpys() {
        let mut random = Pcg64::new(1);
        assert_eq!(random.permutation(10), [8, 4, 7, 0, 1, 2, 5, 9, 6, 3]);
        let lengths = [(); 12].map(|()| random.geometric(1.0 / 64.0));
        assert_eq!(lengths, [115, 32, 36, 2, 49, 67, 15, 107, 14, 50, 9, 59]);
        assert_eq!(random.permutation(5), [3, 1, 2, 0, 4]);
        let exponentials = [(); 3].map(|()| (random.exponential() * 1e8).round() / 1e8);
        assert_eq!(exponentials, [1.11451435, 0.89878402, 2.83996756]);
    }

    #[test]
    fn a_million_geometric_draws_sum_to_numpys_sum() {
        // As many as reach every layer of the ziggurat, and its tail.
        let mut random = Pcg64::new(1);
        let sum: u64 = (0..1_000_000).map(|_| random.geometric(1.0 / 64.0)).sum();
        assert_eq!(sum, 63_879_360);
    }
}
