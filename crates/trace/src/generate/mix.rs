//! Bursts of several rules, and the entry to all rules.
use super::distribution::Discrete;
use super::patterns;
use super::spec::{Part, Spec};
use random::Pcg64;

/// Draws all requests of a rule and gives them to `take`, a slice at a time.
pub(super) fn draw(spec: &Spec, requests: u64, rng: &mut Pcg64, take: &mut dyn FnMut(&[u32])) {
    match spec {
        Spec::Mix { parts, burst } => draw_mix(parts, *burst, requests, rng, take),
        simple => patterns::draw(simple, requests, rng, take),
    }
}

/// Draws all lengths of bursts, then the part of each burst, then the requests of each part in turn. A
/// NumPy script with arrays draws in the same order.
fn draw_mix(
    parts: &[Part],
    burst: f64,
    requests: u64,
    rng: &mut Pcg64,
    take: &mut dyn FnMut(&[u32]),
) {
    // Twice as many bursts as are likely needed.
    let bursts = (2.0 * requests as f64 / burst).floor().max(1.0) as usize;
    let mut lengths: Vec<u64> = (0..bursts).map(|_| patterns::length(rng, burst)).collect();
    let which = Discrete::new(parts.iter().map(|part| part.weight));
    let mut parts_of: Vec<u32> = (0..bursts).map(|_| which.draw_right(rng)).collect();
    let mut sum: u64 = lengths.iter().sum();
    while sum < requests {
        lengths.push(patterns::length(rng, burst));
        parts_of.push(which.draw_right(rng));
        sum += lengths[lengths.len() - 1];
    }
    let mut counts = vec![0u64; parts.len()];
    each_burst(&lengths, &parts_of, requests, |part, length| {
        counts[part] += length;
    });
    let mut first = 0;
    let mut drawn: Vec<Vec<u32>> = Vec::new();
    for (part, &count) in parts.iter().zip(&counts) {
        let mut objects = Vec::with_capacity(count as usize);
        draw(&part.spec, count, rng, &mut |some| {
            objects.extend(some.iter().map(|object| object + first));
        });
        drawn.push(objects);
        // Spec::check has verified that all fit.
        first += part.spec.objects() as u32;
    }
    let mut at = vec![0usize; parts.len()];
    each_burst(&lengths, &parts_of, requests, |part, length| {
        let from = at[part];
        at[part] += length as usize;
        take(&drawn[part][from..at[part]]);
    });
}

fn each_burst(lengths: &[u64], parts: &[u32], requests: u64, mut give: impl FnMut(usize, u64)) {
    let mut left = requests;
    for (&length, &part) in lengths.iter().zip(parts) {
        let length = length.min(left);
        left -= length;
        if length > 0 {
            give(part as usize, length);
        }
    }
}
