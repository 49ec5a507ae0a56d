//! The two traces that the figures of docs/simulator.md are measured on.
//!
//! [`zipf`] is, request by request, what a NumPy program with `default_rng(PCG64(42))` draws, so that
//! counts can be compared with other simulators'. [`mix`] has the same parts as theirs, drawn here.

/// NumPy's PCG64 generator: PCG XSL RR 128/64 (M. O'Neill, 2014), seeded through SeedSequence.
pub struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of the last draw that was asked for 32 bits.
    spare: Option<u32>,
}

impl Pcg64 {
    /// As `numpy.random.PCG64(seed)`.
    pub fn new(seed: u32) -> Pcg64 {
        let words = seed_sequence(seed);
        let wide = |at: usize| u128::from(words[at]) << 64 | u128::from(words[at + 1]);
        let mut random = Pcg64 {
            state: 0,
            increment: wide(2) << 1 | 1,
            spare: None,
        };
        random.step();
        random.state = random.state.wrapping_add(wide(0));
        random.step();
        random
    }

    fn step(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
        self.state = self
            .state
            .wrapping_mul(MULTIPLIER)
            .wrapping_add(self.increment);
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// 32 random bits: the lower half of a draw, then its upper half.
    fn half(&mut self) -> u32 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let bits = self.bits();
        self.spare = Some((bits >> 32) as u32);
        bits as u32
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number up to and including `most`, drawn until it is small enough.
    pub fn up_to(&mut self, most: u32) -> u32 {
        let mask = u32::MAX >> (most | 1).leading_zeros();
        loop {
            let drawn = self.half() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// `0..count` in random order.
    pub fn permutation(&mut self, count: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..count).collect();
        for last in (1..count).rev() {
            let other = self.up_to(last);
            all.swap(last as usize, other as usize);
        }
        all
    }
}

/// Four words out of NumPy's SeedSequence for a seed of 32 bits.
fn seed_sequence(seed: u32) -> [u64; 4] {
    const MIX_LEFT: u32 = 0xca01_f9dd;
    const MIX_RIGHT: u32 = 0x4973_f715;
    let mut constant: u32 = 0x43b0_d7e5;
    let mut hash = |value: u32| {
        let mut value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        value = value.wrapping_mul(constant);
        value ^ value >> 16
    };
    let mix = |x: u32, y: u32| {
        let mixed = MIX_LEFT
            .wrapping_mul(x)
            .wrapping_sub(MIX_RIGHT.wrapping_mul(y));
        mixed ^ mixed >> 16
    };
    let mut pool = [hash(seed), hash(0), hash(0), hash(0)];
    for from in 0..4 {
        for to in 0..4 {
            if from != to {
                pool[to] = mix(pool[to], hash(pool[from]));
            }
        }
    }
    let mut constant: u32 = 0x8b51_f9dd;
    let mut halves = [0u32; 8];
    for (at, half) in halves.iter_mut().enumerate() {
        let mut value = pool[at % 4] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        value = value.wrapping_mul(constant);
        *half = value ^ value >> 16;
    }
    std::array::from_fn(|at| u64::from(halves[2 * at + 1]) << 32 | u64::from(halves[2 * at]))
}

/// Shares of a zipf distribution, summed up: the last is 1.
pub fn zipf_shares(objects: u32, alpha: f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut shares: Vec<f64> = (1..=objects)
        .map(|rank| {
            sum += 1.0 / f64::from(rank).powf(alpha);
            sum
        })
        .collect();
    let total = sum;
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}

fn rank(shares: &[f64], unit: f64) -> u32 {
    shares
        .partition_point(|&share| share < unit)
        .min(shares.len() - 1) as u32
}

/// Renumbers in the order of first sight; returns how many distinct ones there are.
pub fn renumber(ids: &mut [u32], bound: u32) -> u32 {
    let mut names = vec![u32::MAX; bound as usize];
    let mut known = 0;
    for id in ids {
        let name = &mut names[*id as usize];
        if *name == u32::MAX {
            *name = known;
            known += 1;
        }
        *id = *name;
    }
    known
}

/// 20 million requests, zipf(1.0) over a million objects, of which 914,859 are asked for.
pub fn zipf() -> (Vec<u32>, usize) {
    let mut random = Pcg64::new(42);
    // Which object has which rank changes no count, but the draws come after those of this.
    random.permutation(1_000_000);
    let shares = zipf_shares(1_000_000, 1.0);
    let mut ids: Vec<u32> = (0..20_000_000)
        .map(|_| rank(&shares, random.unit()))
        .collect();
    let objects = renumber(&mut ids, 1_000_000);
    (ids, objects as usize)
}

/// 10 million requests over 2 million objects in bursts of 64 on average: 40% zipf(0.8) over 200,000,
/// 40% a loop over 400,000, 20% a scan of 1.4 million.
pub fn mix() -> (Vec<u32>, usize) {
    const REQUESTS: usize = 10_000_000;
    let mut random = Pcg64::new(4242);
    let hot = random.permutation(200_000);
    let shares = zipf_shares(200_000, 0.8);
    let (mut looped, mut scanned) = (0, 0);
    let mut ids = Vec::with_capacity(REQUESTS);
    while ids.len() < REQUESTS {
        let burst = ((1.0 - random.unit()).ln() / (1.0f64 - 1.0 / 64.0).ln()).ceil() as usize;
        let part = random.unit();
        for _ in 0..burst.clamp(1, REQUESTS - ids.len()) {
            ids.push(if part < 0.4 {
                hot[rank(&shares, random.unit()) as usize]
            } else if part < 0.8 {
                looped += 1;
                200_000 + (looped - 1) % 400_000
            } else {
                scanned += 1;
                600_000 + (scanned - 1) % 1_400_000
            });
        }
    }
    let objects = renumber(&mut ids, 2_000_000);
    (ids, objects as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by NumPy 2.4: `Generator(PCG64(42))`, `.random(3)`, then `.permutation(8)`.
    #[test]
    fn draws_what_numpy_draws() {
        let mut random = Pcg64::new(42);
        let units: Vec<f64> = (0..3).map(|_| random.unit()).collect();
        assert_eq!(units, UNITS);
        assert_eq!(random.permutation(8), PERMUTATION);
    }

    const UNITS: [f64; 3] = [0.7739560485559633, 0.4388784397520523, 0.8585979199113825];
    const PERMUTATION: [u32; 8] = [0, 2, 7, 1, 4, 3, 6, 5];
}
