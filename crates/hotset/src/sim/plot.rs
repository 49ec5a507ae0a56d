//! Miss ratios as a chart.
use crate::line_chart::{Axis, LineChart};
use sim::results::Results;

/// One line a policy, over sizes.
pub fn sweep(results: &Results) -> String {
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for row in &results.rows {
        let point = (row.size as f64, row.miss_ratio());
        match lines.iter_mut().find(|(name, _)| *name == row.policy) {
            Some((_, points)) => points.push(point),
            None => lines.push((row.policy.clone(), vec![point])),
        }
    }
    for (_, points) in &mut lines {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    chart(&results.trace.name, lines)
}

/// Lines of sizes in objects and miss ratios.
pub fn chart(trace: &str, lines: Vec<(String, Vec<(f64, f64)>)>) -> String {
    LineChart {
        title: format!("{trace}: miss ratio by cache size"),
        x: Axis::log("cache size, objects"),
        y: Axis::linear("miss ratio"),
        lines,
    }
    .svg()
}
