//! The story of a log as a page.
use super::super::sheet::whole;
use super::events::events;
use super::source::Log;
use super::time::shown;
use crate::provenance;
use explain::klog::incident::Incident;
use explain::klog::judge::judge;
use explain::klog::report::Report;
use explain::klog::stamp::At;
use explain::klog::words::{advice, facts, headline, places, unknown};
use explain::words::name_of;
use report::format::html::sheet::{Part, Section};
use report::format::table::{Cell, Row, Table};
use units::format_bytes;

/// Bars of a chart, and rows of a table.
const BARS: usize = 10;
const ROWS: usize = 200;
/// Characters of a name beside a bar.
const LONGEST: usize = 26;

/// The whole page.
pub fn page(log: &Log, incident: &Incident) -> String {
    let mut sections = Vec::new();
    if let Some(report) = incident.fullest() {
        sections.push(Section::new(
            "holders",
            "Who had memory at the kill",
            holders(report),
        ));
        sections.push(Section::new(
            "memory",
            "Where the machine's memory was",
            memory(report),
        ));
    }
    sections.push(Section::new("events", "By time", vec![by_time(incident)]));
    let cannot = unknown(incident, log.found.lost).into_iter();
    let hint = "hotsetd records the first three, through a freeze and a reset:";
    let cannot = cannot.map(Part::Paragraph).chain([
        Part::Paragraph(hint.into()),
        Part::Verbatim("sudo systemctl enable --now hotsetd".into()),
    ]);
    sections.push(Section::new(
        "unknown",
        "What the log cannot tell",
        cannot.collect(),
    ));
    sections.push(Section::new("asked", "The log", asked(log)));
    let meta = format!(
        "{}, from the kernel's log, {}",
        shown(&incident.at()),
        provenance::made()
    );
    whole(&headline(incident), meta, &advice(incident), sections)
}

fn holders(report: &Report) -> Vec<Part> {
    let facts = facts(report).join(" ");
    let holders = judge(report).holders;
    if holders.is_empty() {
        return vec![
            Part::Paragraph(facts),
            Part::Paragraph("The log names nobody.".into()),
        ];
    }
    let bars = holders.iter().take(BARS).map(|one| {
        let shown = format_bytes(one.bytes as f64);
        (short(&name_of(&one.who)), one.bytes as f64, shown)
    });
    let rows = holders.iter().take(ROWS).map(|one| Row {
        arm: None,
        cells: vec![
            Cell::text(name_of(&one.who)),
            bytes(one.bytes),
            bytes(one.swapped),
        ],
    });
    let table = Table::plain("Memory and swap together", &["who", "had", "in swap"], rows);
    vec![
        Part::Paragraph(facts),
        Part::Bars("Memory and swap".into(), bars.collect()),
        Part::Table(table, "main named"),
    ]
}

/// A name that leaves room for its bar. The table has the whole.
fn short(name: &str) -> String {
    match name.chars().count() > LONGEST {
        true => name.chars().take(LONGEST - 1).collect::<String>() + "…",
        false => name.to_string(),
    }
}

fn bytes(bytes: u64) -> Cell {
    match bytes {
        0 => Cell::number("–"),
        bytes => Cell::number(format_bytes(bytes as f64)),
    }
}

fn memory(report: &Report) -> Vec<Part> {
    let places = places(report);
    if places.is_empty() {
        return vec![Part::Paragraph("The report does not say.".into())];
    }
    let bars = places
        .into_iter()
        .map(|(name, bytes)| (name.to_string(), bytes as f64, format_bytes(bytes as f64)));
    vec![Part::Bars("At the kill".into(), bars.collect())]
}

fn by_time(incident: &Incident) -> Part {
    let events = events(incident);
    let rows = events.iter().take(ROWS).map(|(at, text)| Row {
        arm: None,
        cells: vec![Cell::text(shown(at)), Cell::text(text)],
    });
    let table = Table::plain("Kills and tasks that hung", &["time", "what"], rows);
    Part::Table(table, "named cards")
}

fn asked(log: &Log) -> Vec<Part> {
    let at = |at: Option<At>| at.map_or_else(|| "unknown".to_string(), |at| shown(&at));
    let rows = [
        ("Read", log.source.clone()),
        ("Lines", log.found.lines.to_string()),
        ("From", at(log.found.from)),
        ("To", at(log.found.to)),
    ];
    vec![
        Part::Verbatim(provenance::command()),
        Part::Table(report::format::tables::facts("The log", rows), "bed named"),
    ]
}
