//! The two traces behind the figures of docs/design/simulator.md.
//!
//! [`zipf`] has the requests that a NumPy program with `default_rng(PCG64(42))` draws, so its miss counts
//! can be compared with those of other simulators. [`mix`] has a loop, a scan and a zipf part.

use random::Pcg64;

/// Cumulative shares of a zipf distribution: the last is 1.
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

/// Renumbers ids below `bound` in order of first appearance, and returns how many distinct ids there are.
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

/// 20 million requests, zipf(1.0) over a million objects, of which 914,859 are requested.
pub fn zipf() -> (Vec<u32>, usize) {
    let mut random = Pcg64::new(42);
    // The permutation of ranks changes no count, but NumPy draws it before the requests.
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
