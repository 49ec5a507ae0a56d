//! All rules other than a mix.
use super::distribution::Discrete;
use super::spec::Spec;
use random::Pcg64;

/// Requests that are given at a time.
const CHUNK: usize = 1 << 14;

/// Draws all requests of a rule other than a mix.
pub(super) fn draw(spec: &Spec, requests: u64, rng: &mut Pcg64, take: &mut dyn FnMut(&[u32])) {
    match *spec {
        Spec::Zipf { objects, alpha } => {
            let ranks = rng.permutation(objects);
            // A division is faster than a power, and gives the same number.
            let weight = |k: u32| match alpha == 1.0 {
                true => 1.0 / f64::from(k),
                false => 1.0 / f64::from(k).powf(alpha),
            };
            let zipf = Discrete::new((1..=objects).map(weight));
            each(requests, take, |_| ranks[zipf.draw(rng) as usize]);
        }
        Spec::SelfSimilar {
            objects,
            alpha,
            beta,
        } => {
            // P(object <= i) = (i / N)^(log alpha / log beta), inverted.
            let power = beta.ln() / alpha.ln();
            let n = f64::from(objects);
            each(requests, take, |_| {
                // 1 - u, so that it is never 0.
                let object = (n * (1.0 - rng.unit()).powf(power)).ceil() as u32;
                object.clamp(1, objects) - 1
            });
        }
        Spec::Uniform { objects } => each(requests, take, |_| rng.up_to(objects - 1)),
        Spec::Scan { objects } | Spec::Loop { objects } => {
            each(requests, take, |at| (at % u64::from(objects)) as u32);
        }
        Spec::TwoPool { first, second } => each(requests, take, |at| match at % 2 {
            0 => rng.up_to(first - 1),
            _ => first + rng.up_to(second - 1),
        }),
        Spec::Markov {
            phases,
            objects,
            mean,
            ..
        } => {
            let stride = spec.stride();
            let (mut phase, mut left) = (0, length(rng, mean));
            each(requests, take, |_| {
                if left == 0 {
                    left = length(rng, mean);
                    if phases > 1 {
                        // Any phase but the current one.
                        let next = rng.up_to(phases - 2);
                        phase = if next >= phase { next + 1 } else { next };
                    }
                }
                left -= 1;
                phase * stride + rng.up_to(objects - 1)
            });
        }
        Spec::Mix { .. } => unreachable!("a mix is drawn by its parts"),
    }
}

/// Draws the number of requests of a phase or burst: geometric with this mean.
pub(super) fn length(rng: &mut Pcg64, mean: f64) -> u64 {
    match mean <= 3.0 {
        // Inversion needs an end that is rarer than one in three.
        true => {
            let mut count = 1;
            while mean > 1.0 && rng.unit() >= 1.0 / mean {
                count += 1;
            }
            count
        }
        false => rng.geometric(1.0 / mean),
    }
}

fn each(requests: u64, take: &mut dyn FnMut(&[u32]), mut object: impl FnMut(u64) -> u32) {
    let mut chunk = [0; CHUNK];
    let mut done = 0;
    while done < requests {
        let count = (requests - done).min(CHUNK as u64) as usize;
        for (slot, at) in chunk[..count].iter_mut().zip(done..) {
            *slot = object(at);
        }
        take(&chunk[..count]);
        done += count as u64;
    }
}
