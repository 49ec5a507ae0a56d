//! A trace's statistics as charts.
use report::format::charts::line_chart::{Axis, Line, LineChart};
use report::format::charts::scale::thin;
use trace::stats::Stats;

/// The names of the charts.
pub const NAMES: [&str; 3] = ["popularity", "reuse-time", "lru"];

/// The charts, in the order of [`NAMES`].
pub fn all(name: &str, stats: &Stats) -> [LineChart; 3] {
    [
        popularity(name, stats),
        reuse_time(name, stats),
        lru(name, stats),
    ]
}

fn popularity(name: &str, stats: &Stats) -> LineChart {
    let counts = &stats.popularity.counts;
    let mut actual = Vec::new();
    let mut rank = 1;
    while rank <= counts.len() {
        actual.push((rank as f64, f64::from(counts[rank - 1])));
        // Every rank at first, then 60 points a decade.
        rank = (rank + 1).max((rank as f64 * 1.039) as usize);
    }
    let mut lines = vec![Line::exact("requests", actual)];
    if let Some(z) = stats.popularity.zipf {
        let ranks = counts[..z.ranks as usize].iter().zip(1u32..);
        let fitted: f64 = ranks
            .clone()
            .map(|(_, k)| f64::from(k).powf(-z.alpha))
            .sum();
        let total: f64 = ranks.map(|(&c, _)| f64::from(c)).sum();
        let law = |k: f64| (k, total / fitted * k.powf(-z.alpha));
        let line = vec![law(1.0), law(f64::from(z.ranks))];
        lines.push(Line::exact(format!("zipf, alpha {:.2}", z.alpha), line));
    }
    LineChart {
        title: format!("{name}: popularity"),
        x: Axis::log("rank of the object"),
        y: Axis::log("requests"),
        lines,
        marks: Vec::new(),
        stacked: false,
    }
}

fn reuse_time(name: &str, stats: &Stats) -> LineChart {
    let total = stats.requests.max(1) as f64;
    let share = |(at, count): (usize, u64)| (2f64.powi(at as i32), 100.0 * count as f64 / total);
    let doublings = stats.reuse_time.doublings().into_iter().enumerate();
    LineChart {
        title: format!("{name}: requests until the object is requested again"),
        x: Axis::log("requests in between, from here to twice as many"),
        y: Axis::linear("% of requests"),
        lines: vec![Line::exact("", doublings.map(share).collect())],
        marks: Vec::new(),
        stacked: false,
    }
}

fn lru(name: &str, stats: &Stats) -> LineChart {
    let total = stats.requests.max(1) as f64;
    let hits = stats.reuse_distance.cumulative();
    let mut curve: Vec<(f64, f64)> = vec![(0.0, 100.0)];
    curve.extend(hits.map(|(size, hits)| (size as f64, 100.0 - 100.0 * hits as f64 / total)));
    let end = curve[curve.len() - 1].1;
    curve.push((f64::from(stats.objects), end));
    LineChart {
        title: format!("{name}: LRU"),
        x: Axis::linear("objects that the cache holds"),
        y: Axis::linear("% misses"),
        lines: vec![Line::exact("", thin(&curve, 200))],
        marks: Vec::new(),
        stacked: false,
    }
}
