//! Miss ratios as a chart.
use report::format::line_chart::{Axis, Line, LineChart};
use sim::results::Results;

/// One line a policy, over sizes.
pub fn sweep(results: &Results) -> LineChart {
    let mut rows: Vec<_> = results.rows.iter().collect();
    rows.sort_by_key(|row| row.size);
    let mut lines: Vec<Line> = Vec::new();
    // In the order of the jobs: a line's place is its policy's in the tables.
    for row in &results.rows {
        if !lines.iter().any(|line| line.name == row.policy) {
            lines.push(Line::exact(row.policy.clone(), Vec::new()));
        }
    }
    for row in rows {
        let error = row.misses_error_95.unwrap_or(0) as f64 / row.requests.max(1) as f64;
        for line in lines.iter_mut().filter(|line| line.name == row.policy) {
            line.points.push((row.size as f64, row.miss_ratio()));
            line.errors.push(error);
        }
    }
    chart(&results.trace.name, lines)
}

/// Lines of sizes in objects and miss ratios.
pub fn chart(trace: &str, lines: Vec<Line>) -> LineChart {
    LineChart {
        title: format!("{trace}: miss ratio by cache size"),
        x: Axis::log("cache size, objects"),
        y: Axis::close("miss ratio"),
        lines,
    }
}
