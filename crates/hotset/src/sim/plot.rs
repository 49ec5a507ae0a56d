//! Miss ratios as a chart.
use report::format::charts::line_chart::{Axis, Line, LineChart};
use sim::sweep::results::Results;

/// A chart of miss ratios over sizes, with a line for each policy.
pub fn sweep(results: &Results) -> LineChart {
    let mut rows: Vec<_> = results.rows.iter().collect();
    rows.sort_by_key(|row| row.size);
    let mut lines: Vec<Line> = Vec::new();
    // Lines are in the order of the jobs, as the policies in the tables.
    for row in &results.rows {
        if !lines.iter().any(|line| line.name == row.policy) {
            lines.push(Line::exact(row.policy.clone(), Vec::new()));
        }
    }
    for row in rows {
        let Some(ratio) = row.miss_ratio else {
            continue;
        };
        let [low, high] = row.miss_ratio_95.unwrap_or([ratio; 2]);
        for line in lines.iter_mut().filter(|line| line.name == row.policy) {
            line.points.push((row.size as f64, ratio));
            line.ranges.push((low, high));
        }
    }
    LineChart {
        title: format!("{}: miss ratio by cache size", results.trace.name),
        x: Axis::log("cache size, objects"),
        y: Axis::close("miss ratio"),
        lines,
        marks: Vec::new(),
        stacked: false,
    }
}
