//! The figures of a trace that `hotset trace info` shows, in every form of its output.

/// Quantiles of reuse times and distances that are shown.
pub const QUANTILES: [f64; 7] = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// Parts of the objects whose share of the requests is shown.
pub const TOPS: [f64; 5] = [0.001, 0.01, 0.1, 0.2, 0.5];

/// The number of objects in a part of all objects: at least one.
pub fn part_of(objects: u32, part: f64) -> usize {
    ((f64::from(objects) * part).round() as usize).max(1)
}
