//! A metric over the time of a scene: one line of blocks for each arm.
use super::wrap::{pad, wrap};
use crate::format::charts::scale::Scale;
use crate::format::{number, text};
use crate::study::{ChartStudy, Study};
use unicode_width::UnicodeWidthStr;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The most columns of a line. Scenes have some 30 samples, so that more columns show no more.
const WIDEST: usize = 60;

/// A chart as text.
pub struct Drawn {
    pub title: String,
    /// The values of the lowest and the highest block, and the time across.
    pub scale: String,
    pub lines: Vec<String>,
}

/// The typical trial of each arm as blocks; none where no arm has one.
pub fn drawn(study: &Study, chart: &ChartStudy, width: usize) -> Option<Drawn> {
    let unit = &chart.chart.unit;
    let arms = chart.arms.iter().filter_map(|arm| {
        let line = &arm.lines[arm.typical?];
        Some((text::line(study.label(&arm.arm)), line.points.as_slice()))
    });
    let arms: Vec<(String, &[(f64, f64)])> = arms.collect();
    let points = || arms.iter().flat_map(|(_, points)| *points);
    let seconds = points().map(|p| p.0).fold(0.0, f64::max);
    let values = || points().map(|p| p.1);
    let positive = values().filter(|&v| v > 0.0);
    let least = positive.fold(f64::INFINITY, f64::min);
    let high = values().fold(0.0, f64::max);
    let log = chart.chart.log && least.is_finite();
    let (low, high) = match (log, unit.as_str()) {
        (true, _) => (least, high),
        (false, "%") if high <= 1.0 => (0.0, 1.0),
        _ => (values().fold(0.0, f64::min), high),
    };
    arms.first()?;
    let label = arms.iter().map(|(label, _)| label.width()).max()?;
    let label = label.min(width / 3);
    let columns = (width - label - 2).min(WIDEST);
    let steps = BLOCKS.len() as f64;
    let scale = match log {
        true => Scale::log(low, high, 0.0, steps),
        false => Scale::linear(low, high, 0.0, steps),
    };
    let lines = arms.iter().flat_map(|(name, points)| {
        let blocks = blocks(points, seconds, columns, scale);
        let names = wrap(name, label);
        let last = names.len() - 1;
        let lines = names.into_iter().enumerate().map(move |(place, name)| {
            let blocks = if place == last { blocks.as_str() } else { "" };
            format!("{name}{}  {blocks}", pad(&name, label))
        });
        lines.collect::<Vec<String>>()
    });
    Some(Drawn {
        title: chart.chart.title.clone(),
        scale: format!(
            "▁ {} to █ {}{}; {} seconds from left to right",
            number::value(low, unit),
            number::value(high, unit),
            if log { ", log scale" } else { "" },
            number::plain(seconds.round())
        ),
        lines: lines.collect(),
    })
}

/// The mean of each stretch of time as a block. A stretch without a sample repeats the block before.
fn blocks(points: &[(f64, f64)], seconds: f64, columns: usize, scale: Scale) -> String {
    let place = |t: f64| ((t / seconds.max(1e-9) * columns as f64) as usize).min(columns - 1);
    let mut sums = vec![(0.0, 0u32); columns];
    for &(t, value) in points {
        let sum = &mut sums[place(t)];
        *sum = (sum.0 + value, sum.1 + 1);
    }
    let mut current = None;
    let blocks = sums.into_iter().map(|(sum, count)| {
        if count > 0 {
            let level = scale.at(sum / f64::from(count)) as usize;
            current = Some(BLOCKS[level.min(BLOCKS.len() - 1)]);
        }
        current.unwrap_or(' ')
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_the_values_and_fill_gaps() {
        let scale = Scale::linear(0.0, 1.0, 0.0, 8.0);
        let points = [(1.0, 1.0), (2.0, 0.5), (4.0, 0.0)];
        assert_eq!(blocks(&points, 4.0, 4, scale), " █▅▁");
        assert_eq!(blocks(&points[..2], 4.0, 4, scale), " █▅▅");
        let log = Scale::log(1.0, 256.0, 0.0, 8.0);
        assert_eq!(blocks(&[(0.0, 1.0), (3.0, 17.0)], 4.0, 4, log), "▁▁▁▅");
    }
}
