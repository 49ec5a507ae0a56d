//! Bursts of several rules.
use super::{patterns, Discrete, Pcg64, Spec};

/// A rule in a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its share of the bursts, in proportion to the others'.
    pub weight: f64,
    pub spec: Spec,
}

/// First all lengths of bursts, then the part of each, then each part's requests, part by part: the
/// order in which a script with arrays draws them.
pub(super) fn draw(
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
        part.spec.draw(count, rng, &mut |some| {
            objects.extend(some.iter().map(|object| object + first));
        });
        drawn.push(objects);
        // Spec::check has seen that all fit.
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
