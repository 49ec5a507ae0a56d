//! The story as a page with charts.
use super::curves;
use super::helped::range;
use super::input::Input;
use super::sheet::whole;
use super::text::deeds;
use super::when::{clock, date};
use crate::provenance;
use explain::remedies::course::Course;
use explain::remedies::remedy::Remedy;
use explain::words::{advice, headline, name_of, seconds, unknown};
use explain::Story;
use report::format::html::sheet::{Part, Section};
use report::format::table::{Cell, Row, Table};
use units::format_bytes;

/// Rows of a table.
const ROWS: usize = 20;

/// The whole page.
pub fn page(story: &Story, input: &Input, remedies: &[Remedy]) -> String {
    let sections = vec![
        Section::new("course", "What happened", course(story)),
        Section::new("takers", "Who took memory", vec![takers(story)]),
        Section::new("waited", "Who waited", vec![waited(story)]),
        Section::new("helped", "What would have helped", helped(story, remedies)),
        Section::new("hotsetd", "What hotsetd did", vec![did(story, input)]),
        Section::new("unknown", "What cannot be known", cannot(story, input)),
        Section::new("asked", "The record", asked(input)),
    ];
    let meta = format!(
        "{} to {}, {}",
        date(story.episode.begin_s),
        clock(story.episode.end_s),
        provenance::made()
    );
    whole(&headline(story), meta, &advice(story), sections)
}

fn course(story: &Story) -> Vec<Part> {
    let episode = &story.episode;
    let mut text = format!(
        "Everything stood still for {}, something for {}.",
        seconds(episode.lost_s),
        seconds(episode.some_s)
    );
    if story.verdict.swap_full {
        text += " Swap was full.";
    }
    match &story.foresight {
        Some(found) => {
            text += &format!(
                " It could be foreseen {} before, at {}: {} were left, and went at {}/s.",
                seconds(found.before_s),
                clock(found.at_s),
                format_bytes(found.left as f64),
                format_bytes(found.falls)
            );
        }
        None => text += " It could not be foreseen from what was left.",
    }
    let mut parts = vec![Part::Paragraph(text)];
    parts.extend(curves::memory(story).map(Part::Lines));
    parts.push(Part::Panels(curves::beside(story)));
    parts
}

fn takers(story: &Story) -> Part {
    let growth = &story.growth;
    let grew = growth.takers.iter().filter(|taker| taker.grew() >= 1 << 20);
    let rows: Vec<Row> = grew
        .take(ROWS)
        .map(|taker| Row {
            arm: story.courses.iter().position(|one| one.who == taker.who),
            cells: vec![
                Cell::text(name_of(&taker.who)),
                bytes(taker.grew()),
                bytes(taker.had),
                bytes(taker.has),
                Cell::number(clock(taker.since_s)),
                Cell::number(clock(taker.peak_s)),
            ],
        })
        .collect();
    if rows.is_empty() {
        return Part::Paragraph("Nobody that the record names.".into());
    }
    let caption = format!(
        "From {} to {}, {} in all",
        clock(growth.calm_s),
        clock(growth.worst_s),
        format_bytes(growth.taken() as f64)
    );
    let head = ["who", "grew", "had", "has", "since", "most at"];
    Part::Table(Table::plain(&caption, &head, rows.into_iter()), "main")
}

fn bytes(bytes: u64) -> Cell {
    Cell::number(format_bytes(bytes as f64))
}

fn waited(story: &Story) -> Part {
    let waited = story.waiting.iter();
    let waited = waited.filter(|one| one.seconds >= 0.05 || one.kills > 0 || one.limit > 0);
    let rows: Vec<Row> = waited
        .take(ROWS)
        .map(|one| Row {
            arm: None,
            cells: vec![
                Cell::text(&one.name),
                Cell::number(seconds(one.seconds)),
                match one.limit {
                    0 => Cell::number("–"),
                    limit => bytes(limit),
                },
                Cell::number(one.kills.to_string()),
            ],
        })
        .collect();
    if rows.is_empty() {
        return Part::Paragraph("The record names no cgroup that waited.".into());
    }
    let head = ["cgroup", "some task waited", "limit reached", "killed"];
    let caption = "Cgroups by the time for which some of their tasks waited";
    Part::Table(Table::plain(caption, &head, rows.into_iter()), "main")
}

fn helped(story: &Story, remedies: &[Remedy]) -> Vec<Part> {
    let course = Course::new(story);
    let rows = remedies.iter().map(|remedy| Row {
        arm: None,
        cells: vec![
            Cell::text(&remedy.name),
            Cell::text(remedy.answer.name()),
            Cell::number(range(remedy)),
            Cell::text(format!("{}.", remedy.why)),
        ],
    });
    let head = ["change", "answer", "time lost", "why"];
    let caption = format!(
        "The same minutes with a change; as it was, {} for {}",
        course.measure(),
        seconds(course.was_s)
    );
    vec![Part::Table(
        Table::plain(&caption, &head, rows),
        "named cards",
    )]
}

fn did(story: &Story, input: &Input) -> Part {
    let deeds = deeds(story, input);
    if deeds.is_empty() {
        return Part::Paragraph("Nothing, or it did not run.".into());
    }
    let rows = deeds.iter().map(|deed| Row {
        arm: None,
        cells: vec![
            Cell::text(clock(deed.unix_s)),
            Cell::text(&deed.did),
            Cell::text(&deed.why),
            Cell::text(if deed.came.is_empty() {
                "–"
            } else {
                &deed.came
            }),
        ],
    });
    let head = ["time", "action", "reason", "what came of it"];
    Part::Table(Table::plain("Actions by time", &head, rows), "named cards")
}

fn cannot(story: &Story, input: &Input) -> Vec<Part> {
    let unknown = unknown(story, input.names_programs, input.torn);
    unknown.into_iter().map(Part::Paragraph).collect()
}

fn asked(input: &Input) -> Vec<Part> {
    let (first, last) = (&input.records[0], &input.records[input.records.len() - 1]);
    let rows = [
        ("File", names::shown(&input.file).to_string()),
        ("Records", input.records.len().to_string()),
        ("From", date(first.unix_s)),
        ("To", date(last.unix_s)),
    ];
    vec![
        Part::Verbatim(provenance::command()),
        Part::Table(
            report::format::tables::facts("The record", rows),
            "bed named",
        ),
    ]
}
