//! Results as a page: what was asked, the miss ratios drawn, every count.
use super::plot;
use super::show::way_to_opt;
use crate::provenance;
use report::format::line_chart::LineChart;
use report::format::number::{count, plain};
use report::format::sheet::{html, Part, Section, Sheet};
use report::format::table::{Cell, Group, Row as Line, Table, Tone};
use report::format::tables::facts;
use sim::results::{Results, Row, TraceId};

/// Columns of a table of sizes that a page holds beside each other.
const BESIDE: usize = 6;

const GREEN: &str = "Green: the fewest misses at that size, OPT's aside, which knows what comes.";

/// What a size's count is, of one policy.
pub struct Point {
    pub size: u64,
    /// Exact, where it is.
    pub misses: Option<u64>,
    pub miss_ratio: f64,
    /// Half the width of the 95% interval of the ratio, where it is estimated.
    pub error: Option<f64>,
}

/// The page of a sweep, a part of one, or several put together.
pub fn sweep(results: &Results, about: Vec<(String, String)>) -> String {
    let mut figures = Vec::new();
    match sizes(results).len() {
        1 => figures.push(bars(results)),
        _ => figures.push(Part::Lines(plot::sweep(results))),
    }
    for beside in sizes(results).chunks(BESIDE) {
        figures.push(Part::Table(by_size(results, beside), "main"));
    }
    if policies(results).len() > 2 {
        figures.push(Part::Words(GREEN.into()));
    }
    page("Miss ratios", results, figures, about)
}

/// The page of a comparison: best first, for each size.
pub fn comparison(results: &Results, about: Vec<(String, String)>) -> String {
    let mut figures = Vec::new();
    let sizes = sizes(results);
    match sizes.len() {
        1 => figures.push(bars(results)),
        _ => figures.push(Part::Lines(plot::sweep(results))),
    }
    let keyed = sizes.len() > 1;
    for size in sizes {
        figures.push(Part::Table(ranked(results, size, keyed), "main"));
    }
    figures.push(Part::Words(GREEN.into()));
    page("Policies compared", results, figures, about)
}

/// The page of a curve of LRU.
pub fn curve(
    trace: &TraceId,
    points: &[Point],
    chart: LineChart,
    sample: &str,
    about: Vec<(String, String)>,
) -> String {
    let exact = points.iter().all(|p| p.misses.is_some());
    let head = match exact {
        true => heads(&["size, objects", "misses", "miss ratio"]),
        false => heads(&["size, objects", "miss ratio", "half of the 95 % interval"]),
    };
    let rows = points.iter().map(|p| {
        let ratio = Cell::number(format!("{:.6}", p.miss_ratio));
        let size = Cell::text(count(p.size));
        let cells = match p.misses {
            Some(misses) => vec![size, Cell::number(count(misses)), ratio],
            None => vec![
                size,
                ratio,
                Cell::number(format!("± {:.6}", p.error.unwrap_or(0.0))),
            ],
        };
        Line { arm: None, cells }
    });
    let table = Table {
        caption: "LRU".into(),
        head,
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    };
    let caution = match exact {
        true => String::new(),
        false => format!(
            "Estimates from {sample} of the objects; ± is half of the 95 % interval. Where a cache holds fewer objects than stand for one of the sample, \
             the sample cannot tell its size."
        ),
    };
    let figures = vec![Part::Lines(chart), Part::Table(table, "main")];
    finish(
        "LRU at all sizes",
        trace,
        caution,
        figures,
        Vec::new(),
        about,
    )
}

fn page(what: &str, results: &Results, figures: Vec<Part>, about: Vec<(String, String)>) -> String {
    let mut caution = String::new();
    if let Some(one_in) = results.trace.one_in {
        caution = format!(
            "Estimates from one object in {one_in}: ± is half of the 95 % interval of the misses. "
        );
    }
    if let Some((part, of)) = results.shard {
        caution += &format!(
            "Part {part} of {of}: {} of {} jobs.",
            results.rows.len(),
            results.jobs
        );
    }
    let counters = counters(results);
    finish(what, &results.trace, caution, figures, counters, about)
}

fn finish(
    what: &str,
    trace: &TraceId,
    caution: String,
    figures: Vec<Part>,
    counters: Vec<Part>,
    mut about: Vec<(String, String)>,
) -> String {
    let objects = match trace.one_in {
        Some(_) => format!("about {}", count(trace.objects)),
        None => count(trace.objects),
    };
    about.extend([
        ("Requests".into(), count(trace.requests)),
        ("Distinct objects (footprint)".into(), objects),
        (
            "Digest of the simulated requests".into(),
            trace.digest.clone(),
        ),
    ]);
    let verdict = match caution.is_empty() {
        true => "Every miss count here is exact.".to_string(),
        false => String::new(),
    };
    let mut sections = vec![Section {
        id: "figures",
        title: "Misses".into(),
        parts: figures,
    }];
    if !counters.is_empty() {
        sections.push(Section {
            id: "counters",
            title: "What the policies counted".into(),
            parts: counters,
        });
    }
    sections.push(Section {
        id: "asked",
        title: "What was asked".into(),
        parts: vec![
            Part::Verbatim(provenance::command()),
            Part::Table(facts("The trace", about), "bed"),
            Part::Words(
                "A size and a miss ratio count objects, not bytes. The digest is of the requests' \
                 objects in order: the same trace has the same in any format."
                    .into(),
            ),
        ],
    });
    html(&Sheet {
        title: format!("{what}: {}", trace.name),
        meta: format!("{} requests, {}", count(trace.requests), provenance::made()),
        verdict,
        caution,
        sections,
    })
}

fn heads(names: &[&str]) -> Vec<(String, String)> {
    let heads = names.iter().map(|name| (name.to_string(), String::new()));
    heads.collect()
}

/// Each once, smallest first.
fn sizes(results: &Results) -> Vec<u64> {
    let mut sizes: Vec<u64> = results.rows.iter().map(|row| row.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Each once, in the order of the jobs: a place here is a line's colour there.
fn policies(results: &Results) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &results.rows {
        if !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    names
}

/// The fewest misses at a size that anything but OPT has: what a cache could do.
fn fewest(results: &Results, size: u64) -> Option<u64> {
    let rows = results.rows.iter().filter(|row| row.size == size);
    let online = rows.filter(|row| row.policy.split(':').next() != Some("opt"));
    online.map(|row| row.misses).min()
}

fn misses(row: &Row, fewest: Option<u64>) -> Cell {
    let mut cell = Cell::number(count(row.misses));
    if fewest == Some(row.misses) {
        cell = cell.toned(Tone::Good);
    }
    if let Some(error) = row.misses_error_95 {
        cell = cell.with(format!("± {}", count(error)), Tone::Faint);
    }
    cell
}

/// Policies down, sizes across.
fn by_size(results: &Results, sizes: &[u64]) -> Table {
    let policies = policies(results);
    let keyed = self::sizes(results).len() > 1;
    let mut head = heads(&["policy"]);
    head.extend(sizes.iter().map(|&size| (count(size), "objects".into())));
    let rows = policies.iter().enumerate().map(|(place, policy)| {
        let mut cells = vec![Cell::text(*policy)];
        cells.extend(sizes.iter().map(|&size| {
            let mut rows = results.rows.iter();
            let row = rows.find(|row| row.policy == *policy && row.size == size);
            row.map_or(Cell::number("–"), |row| {
                let mark = (policies.len() > 2)
                    .then(|| fewest(results, size))
                    .flatten();
                misses(row, mark).with(format!("{:.6}", row.miss_ratio()), Tone::Faint)
            })
        }));
        Line {
            arm: keyed.then_some(place),
            cells,
        }
    });
    Table {
        caption: "Misses, and their ratio to requests".into(),
        head,
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    }
}

fn ranked(results: &Results, size: u64, keyed: bool) -> Table {
    let mut rows: Vec<&Row> = results.rows.iter().filter(|row| row.size == size).collect();
    rows.sort_by_key(|row| (row.misses, row.job));
    let of = |policy: &str| {
        let row = rows.iter().find(|row| row.policy == policy);
        row.map_or(0, |row| row.misses)
    };
    let (lru, opt) = (of("lru"), of("opt"));
    let policies = policies(results);
    let mark = fewest(results, size);
    let lines = rows.iter().map(|row| Line {
        arm: match keyed {
            true => policies.iter().position(|policy| *policy == row.policy),
            false => None,
        },
        cells: vec![
            Cell::text(&row.policy),
            misses(row, mark),
            Cell::number(format!("{:.6}", row.miss_ratio())),
            Cell::number(plain(row.misses as f64 / lru.max(1) as f64)),
            match way_to_opt(row, lru, opt) {
                Some(way) => Cell::number(format!("{way:.1} %")),
                None => Cell::number("–"),
            },
        ],
    });
    let lines = lines.collect();
    Table {
        caption: format!("{} objects, fewest misses first", count(size)),
        head: heads(&[
            "policy",
            "misses",
            "miss ratio",
            "of LRU’s",
            "from LRU to OPT",
        ]),
        groups: vec![Group {
            title: None,
            rows: lines,
        }],
    }
}

/// One size is no line: a bar each, fewest misses first.
fn bars(results: &Results) -> Part {
    let mut rows: Vec<&Row> = results.rows.iter().collect();
    rows.sort_by_key(|row| (row.misses, row.job));
    let size = rows.first().map_or(0, |row| row.size);
    let bars = rows.into_iter().map(|row| {
        let ratio = row.miss_ratio();
        (row.policy.clone(), ratio, format!("{ratio:.4}"))
    });
    let title = format!("Miss ratio at {} objects", count(size));
    Part::Bars(title, bars.collect())
}

/// A table a policy that counts more than misses, as the kernel spells it in vmstat.
fn counters(results: &Results) -> Vec<Part> {
    let mut parts = Vec::new();
    for policy in policies(results) {
        let rows = results.rows.iter();
        let rows = rows.filter(|row| row.policy == policy && !row.counters.is_empty());
        let mut rows: Vec<&Row> = rows.collect();
        rows.sort_by_key(|row| row.size);
        for beside in rows.chunks(BESIDE) {
            let mut head = heads(&[policy]);
            let sizes = beside.iter().map(|row| (count(row.size), "objects".into()));
            head.extend(sizes);
            let lines = beside[0].counters.keys().map(|name| {
                let mut cells = vec![Cell::text(name)];
                cells.extend(beside.iter().map(|row| {
                    let counted = row.counters.get(name);
                    counted.map_or(Cell::number("–"), |&n| Cell::number(count(n)))
                }));
                Line { arm: None, cells }
            });
            let table = Table {
                caption: policy.to_string(),
                head,
                groups: vec![Group {
                    title: None,
                    rows: lines.collect(),
                }],
            };
            parts.push(Part::Table(table, "main"));
        }
    }
    parts
}
