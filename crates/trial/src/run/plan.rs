//! The figures and charts of a trial.
use protocol::plan::{Better, Chart, Figure, Plan, Statistic};

/// The part of a run that is measured.
pub const SCENE: &str = "command";

/// Title, metric, statistic, unit, and which is better. The first is the one that the headline names.
type Row = (&'static str, &'static str, Statistic, &'static str, Better);

const FIGURES: [Row; 15] = [
    (
        "Time",
        "command.wall_s",
        Statistic::First,
        "s",
        Better::Lower,
    ),
    (
        "User CPU",
        "command.user_s",
        Statistic::First,
        "s",
        Better::Lower,
    ),
    (
        "System CPU",
        "command.system_s",
        Statistic::First,
        "s",
        Better::Lower,
    ),
    (
        "Largest RSS",
        "command.max_rss_mib",
        Statistic::First,
        "MiB",
        Better::Neutral,
    ),
    (
        "Major faults",
        "command.major_faults",
        Statistic::First,
        "",
        Better::Lower,
    ),
    (
        "Allocation stalls",
        "vmstat.allocstall",
        Statistic::Delta,
        "",
        Better::Lower,
    ),
    (
        "Some waited",
        "psi.memory.some_us",
        Statistic::Delta,
        "us",
        Better::Lower,
    ),
    (
        "All waited",
        "psi.memory.full_us",
        Statistic::Delta,
        "us",
        Better::Lower,
    ),
    (
        "Direct scans",
        "vmstat.pgscan_direct",
        Statistic::Delta,
        "",
        Better::Lower,
    ),
    (
        "Scans by kswapd",
        "vmstat.pgscan_kswapd",
        Statistic::Delta,
        "",
        Better::Neutral,
    ),
    (
        "Refaults",
        "vmstat.workingset_refault",
        Statistic::Delta,
        "",
        Better::Lower,
    ),
    (
        "Pages swapped in",
        "vmstat.pswpin",
        Statistic::Delta,
        "",
        Better::Lower,
    ),
    (
        "Pages swapped out",
        "vmstat.pswpout",
        Statistic::Delta,
        "",
        Better::Neutral,
    ),
    (
        "Mean free",
        "memory.free_mib",
        Statistic::Mean,
        "MiB",
        Better::Neutral,
    ),
    (
        "Least free",
        "memory.free_mib",
        Statistic::Min,
        "MiB",
        Better::Neutral,
    ),
];

pub fn plan() -> Plan {
    let figures = FIGURES
        .into_iter()
        .map(|(title, metric, statistic, unit, better)| Figure {
            title: title.into(),
            scene: SCENE.into(),
            metric: metric.into(),
            statistic,
            better,
            unit: unit.into(),
        });
    let charts = [
        ("Free memory", "memory.free_mib"),
        ("Page cache", "memory.cached_mib"),
    ];
    let charts = charts.into_iter().map(|(title, metric)| Chart {
        title: title.into(),
        scene: SCENE.into(),
        metric: metric.into(),
        unit: "MiB".into(),
        log: false,
    });
    Plan {
        figures: figures.collect(),
        charts: charts.collect(),
        ..Plan::default()
    }
}
