//! Results as a page: the miss ratios as charts, every count, and the command.
use super::plot;
use super::show::{self, sizes, Yardsticks};
use crate::provenance;
use report::format::html::sheet::{html, Part, Section, Sheet};
use report::format::number::{count, plain};
use report::format::table::{Cell, Group, Row as Line, Table, Tone};
use report::format::tables::facts;
use sim::sweep::results::{Results, Row, TraceId};

/// Columns of a table of sizes that a page holds beside each other.
const BESIDE: usize = 6;

const GREEN: &str =
    "Green: the fewest misses at that size. OPT, which knows the future, does not count.";

/// The page of a sweep, of a part of a sweep, or of merged parts.
pub fn sweep(results: &Results, about: Vec<(String, String)>) -> String {
    let mut figures = Vec::new();
    match sizes(results).len() {
        1 => figures.push(bars(results)),
        _ => figures.push(Part::Lines(plot::sweep(results))),
    }
    if policies(results).len() == 1 {
        figures.push(Part::Table(of_one_policy(results), "main"));
    } else {
        for beside in sizes(results).chunks(BESIDE) {
            figures.push(Part::Table(by_size(results, beside), "main"));
        }
    }
    if policies(results).len() > 2 {
        figures.push(Part::Paragraph(GREEN.into()));
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
    figures.push(Part::Paragraph(GREEN.into()));
    page("Policies compared", results, figures, about)
}

/// A row for each size.
fn of_one_policy(results: &Results) -> Table {
    let estimated = results.trace.sampled_share.is_some();
    let mut head = heads(&["size, objects", "misses", "miss ratio"]);
    if estimated {
        head.extend(heads(&["95 % interval"]));
    }
    let mut rows: Vec<&Row> = results.rows.iter().collect();
    rows.sort_by_key(|row| row.size);
    let lines = rows.into_iter().map(|row| {
        let mut cells = vec![Cell::text(count(row.size)), misses(row, None), ratio(row)];
        if estimated {
            let ends = row.miss_ratio_95;
            cells.push(Cell::number(ends.map_or(String::new(), interval)));
        }
        Line { arm: None, cells }
    });
    Table {
        caption: policies(results).concat(),
        head,
        groups: vec![Group {
            title: None,
            rows: lines.collect(),
        }],
        notes: Vec::new(),
    }
}

fn ratio(row: &Row) -> Cell {
    let text = row.miss_ratio.map(|ratio| format!("{ratio:.6}"));
    Cell::number(text.unwrap_or_else(|| "n/a".to_string()))
}

fn interval([low, high]: [f64; 2]) -> String {
    format!("{low:.6} to {high:.6}")
}

fn page(
    title: &str,
    results: &Results,
    figures: Vec<Part>,
    about: Vec<(String, String)>,
) -> String {
    let mut caution = String::new();
    if let Some(share) = results.trace.sampled_share {
        let share = show::percent(share);
        caution = format!("Estimates from {share} % of the objects, with 95 % intervals. ");
    }
    for (reason, sizes) in show::not_available(results) {
        caution += &format!("Not available at {sizes} objects: {reason}. ");
    }
    if let Some((part, of)) = results.shard {
        caution += &format!(
            "Part {part} of {of}: {} of {} jobs.",
            results.rows.len(),
            results.jobs
        );
    }
    let counters = counters(results);
    finish(title, &results.trace, caution, figures, counters, about)
}

fn finish(
    title: &str,
    trace: &TraceId,
    caution: String,
    figures: Vec<Part>,
    counters: Vec<Part>,
    mut about: Vec<(String, String)>,
) -> String {
    let objects = show::objects(trace, count);
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
            title: "Counters of the policies".into(),
            parts: counters,
        });
    }
    sections.push(Section {
        id: "asked",
        title: "Command and trace".into(),
        parts: vec![
            Part::Verbatim(provenance::command()),
            Part::Table(facts("The trace", about), "bed"),
            Part::Paragraph(
                "Sizes and miss ratios count objects, not bytes. The digest is of the requests' \
                objects in order: a trace has the same digest in any format."
                    .into(),
            ),
        ],
    });
    html(&Sheet {
        title: format!("{title}: {}", trace.name),
        meta: format!("{} requests, {}", count(trace.requests), provenance::made()),
        lead: Vec::new(),
        verdict,
        caution,
        sections,
    })
}

fn heads(names: &[&str]) -> Vec<(String, String)> {
    let heads = names.iter().map(|name| (name.to_string(), String::new()));
    heads.collect()
}

/// The policies of the results, each once, in the order of the jobs. A policy's place sets its colour.
fn policies(results: &Results) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in &results.rows {
        if !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    names
}

/// The fewest misses at a size of any policy but OPT.
fn fewest(results: &Results, size: u64) -> Option<u64> {
    let rows = results.rows.iter().filter(|row| row.size == size);
    let online = rows.filter(|row| row.policy.split(':').next() != Some("opt"));
    online.filter_map(|row| row.misses).min()
}

fn misses(row: &Row, fewest: Option<u64>) -> Cell {
    let Some(misses) = row.misses else {
        return Cell::number("n/a");
    };
    let cell = Cell::number(count(misses));
    match fewest == Some(misses) {
        true => cell.toned(Tone::Good),
        false => cell,
    }
}

/// A table with a row for each policy and a column for each size.
fn by_size(results: &Results, sizes: &[u64]) -> Table {
    let policies = policies(results);
    let keyed = show::sizes(results).len() > 1;
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
                let cell = misses(row, mark);
                let Some(ratio) = row.miss_ratio else {
                    return cell;
                };
                let ends = row.miss_ratio_95;
                let text = ends.map_or_else(|| format!("{ratio:.6}"), interval);
                cell.with(text, Tone::Faint)
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
        notes: Vec::new(),
    }
}

fn ranked(results: &Results, size: u64, keyed: bool) -> Table {
    let rows = show::ranked(results, size);
    let by = Yardsticks::among(&rows);
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
            match row.miss_ratio_95 {
                Some(ends) => ratio(row).with(interval(ends), Tone::Faint),
                None => ratio(row),
            },
            Cell::number(by.of_lru(row).map_or("–".into(), plain)),
            match by.way_to_opt(row) {
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
        notes: Vec::new(),
    }
}

/// A bar for each policy, fewest misses first, in place of lines of a single size.
fn bars(results: &Results) -> Part {
    let mut rows: Vec<&Row> = results.rows.iter().collect();
    rows.retain(|row| row.misses.is_some());
    rows.sort_by_key(|row| (row.misses, row.job));
    let size = rows.first().map_or(0, |row| row.size);
    let bars = rows.into_iter().map(|row| {
        let ratio = row.miss_ratio.unwrap_or_default();
        (row.policy.clone(), ratio, format!("{ratio:.4}"))
    });
    let title = format!("Miss ratio at {} objects", count(size));
    Part::Bars(title, bars.collect())
}

/// A table for each policy with counters of its own, by the names of the kernel's vmstat.
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
                notes: Vec::new(),
            };
            parts.push(Part::Table(table, "main"));
        }
    }
    parts
}
