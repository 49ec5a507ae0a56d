//! A trace's statistics as a page.
use super::plots;
use super::summary::{part_of, QUANTILES, TOPS};
use crate::provenance;
use anyhow::Result;
use report::format::html::sheet::{html, Part, Section, Sheet};
use report::format::number::{count, plain};
use report::format::table::{Cell, Group, Row, Table};
use report::format::tables::facts;
use std::path::Path;
use trace::stats::{Histogram, Stats};
use trace::Trace;

/// # Errors
/// The file cannot be read again for its checksum.
pub fn page(path: &Path, trace: &Trace, stats: &Stats) -> Result<String> {
    let charts = plots::all(&trace.name, stats).into_iter();
    let charts = charts.map(|mut chart| {
        // The page's own title names the trace.
        if let Some(rest) = chart.title.strip_prefix(&format!("{}: ", trace.name)) {
            let (first, others) = rest.split_at(1);
            chart.title = first.to_uppercase() + others;
        }
        chart
    });
    let sections = vec![
        Section {
            id: "charts",
            title: "Drawn".into(),
            parts: vec![Part::Panels(charts.collect())],
        },
        Section {
            id: "figures",
            title: "Figures".into(),
            parts: vec![
                Part::Table(facts("Requests and objects", whole(stats)), "bed"),
                Part::Table(parts(stats), "main"),
                Part::Table(reuse(stats), "main"),
                Part::Paragraph(
                    "An LRU cache of the size in the last column hits the row's share of repeated \
                    requests. Times and distances are right to 0.4 %. LRU misses are exact."
                        .into(),
                ),
            ],
        },
        Section {
            id: "asked",
            title: "Command and trace".into(),
            parts: vec![
                Part::Verbatim(provenance::command()),
                Part::Table(facts("The trace", about(path, trace)?), "bed"),
            ],
        },
    ];
    Ok(html(&Sheet {
        title: format!("Trace {}", trace.name),
        meta: format!(
            "{} requests of {} objects, {}",
            count(stats.requests),
            count(u64::from(stats.objects)),
            provenance::made()
        ),
        lead: Vec::new(),
        verdict: String::new(),
        caution: String::new(),
        sections,
    }))
}

/// Facts about the file, and the counts of requests left out.
///
/// # Errors
/// The file cannot be read.
pub fn about(path: &Path, trace: &Trace) -> Result<Vec<(String, String)>> {
    let mut rows = provenance::file(path)?;
    let skipped = &trace.skipped;
    if let Some(first) = &skipped.first {
        let text = format!("{} (the first: {first})", count(skipped.malformed));
        rows.push(("Malformed, left out".into(), text));
    }
    if skipped.writes > 0 {
        rows.push(("Writes, left out".into(), count(skipped.writes)));
    }
    Ok(rows)
}

fn whole(stats: &Stats) -> Vec<(String, String)> {
    let popularity = &stats.popularity;
    let ratio = stats.compulsory_miss_ratio;
    let most = popularity.counts.first().copied().unwrap_or(0);
    let mut rows: Vec<(String, String)> = vec![
        ("Requests".into(), count(stats.requests)),
        (
            "Distinct objects (footprint)".into(),
            count(u64::from(stats.objects)),
        ),
        ("Compulsory miss ratio".into(), format!("{ratio:.6}")),
        (
            "Requests of the most popular".into(),
            count(u64::from(most)),
        ),
        (
            "Objects requested once".into(),
            count(u64::from(popularity.one_hit_wonders)),
        ),
    ];
    if let Some(zipf) = popularity.zipf {
        let text = format!(
            "alpha {:.3}, over {} objects, distance {:.3}",
            zipf.alpha,
            count(u64::from(zipf.ranks)),
            zipf.distance
        );
        rows.push(("Zipf fit".into(), text));
    }
    if let Some(kinds) = stats.kinds {
        for (name, n) in [
            ("Writes", kinds.writes),
            ("Anonymous", kinds.anon),
            ("Mapped", kinds.mapped),
            ("Executable", kinds.exec),
        ] {
            rows.push((name.into(), count(n)));
        }
    }
    rows
}

fn table(caption: &str, heads: &[&str], rows: Vec<Vec<Cell>>) -> Table {
    let rows = rows.into_iter().map(|cells| Row { arm: None, cells });
    Table {
        caption: caption.into(),
        head: heads
            .iter()
            .map(|h| (h.to_string(), String::new()))
            .collect(),
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
        notes: Vec::new(),
    }
}

fn percent(part: f64) -> String {
    format!("{} %", plain(part * 100.0))
}

fn parts(stats: &Stats) -> Table {
    let rows = TOPS.iter().map(|&part| {
        let objects = part_of(stats.objects, part);
        vec![
            Cell::text(percent(part)),
            Cell::number(count(objects as u64)),
            Cell::number(percent(stats.popularity.share_of_top(objects))),
            Cell::number(count(stats.lru_misses(objects))),
            Cell::number(format!("{:.6}", stats.lru_miss_ratio(objects))),
        ]
    });
    table(
        "Parts of the objects: the share of requests for the most popular ones, and an LRU cache of that size",
        &[
            "part",
            "objects",
            "share of requests",
            "LRU misses",
            "LRU miss ratio",
        ],
        rows.collect(),
    )
}

fn reuse(stats: &Stats) -> Table {
    let value = |histogram: &Histogram, q| {
        let found = histogram.quantile(q);
        Cell::number(found.map_or("–".to_string(), count))
    };
    let rows = QUANTILES.iter().map(|&q| {
        vec![
            Cell::text(percent(q)),
            value(&stats.reuse_time, q),
            value(&stats.reuse_distance, q),
        ]
    });
    table(
        "Repeated requests: time and distance since the last request",
        &["share", "requests until then", "objects until then"],
        rows.collect(),
    )
}
