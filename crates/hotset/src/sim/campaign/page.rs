//! The comparison of a campaign as a page.
use crate::provenance;
use campaign::study::{Reduction, Study, YARDSTICKS};
use report::format::html::sheet::{html, Part, Section, Sheet};
use report::format::number::count;
use report::format::table::{Cell, Group, Row, Table, Tone};

/// The page.
pub fn page(study: &Study, name: &str) -> String {
    let mut sections = Vec::new();
    for (against, id) in YARDSTICKS.into_iter().zip(["fifo", "lru"]) {
        let tables = study.sizes.iter();
        let tables: Vec<Part> = tables
            .filter_map(|size| reductions(study, against, size))
            .map(|table| Part::Table(table, "main"))
            .collect();
        if !tables.is_empty() {
            let title = format!("Reduction of misses against {against}, in percent");
            sections.push(Section::new(id, &title, tables));
        }
    }
    sections.push(Section::new("winners", "Winners by trace", vec![
        Part::Paragraph(
            "Traces on which a policy has the fewest misses. Policies with equally few share a trace, so a row \
            of sizes may add up to more than all traces. OPT, which knows the future, takes no part."
                .into(),
        ),
        Part::Table(wins(study), "main"),
    ]));
    sections.push(Section::new(
        "asked",
        "Command",
        vec![Part::Verbatim(provenance::command())],
    ));
    let traces = study.traces as u64;
    html(&Sheet {
        title: format!("Campaign: {name}"),
        meta: format!("{} traces, {}", count(traces), provenance::made()),
        lead: Vec::new(),
        verdict: format!(
            "{} policies at {} sizes on {} traces. Every miss count is exact.",
            study.policies.len(),
            study.sizes.len(),
            count(traces)
        ),
        caution: match study.missing {
            0 => String::new(),
            missing => format!(
                "{} traces are missing: a task of theirs has no result.",
                count(missing)
            ),
        },
        sections,
    })
}

fn heads(names: &[&str]) -> Vec<(String, String)> {
    let heads = names.iter().map(|name| (name.to_string(), String::new()));
    heads.collect()
}

fn table(
    caption: String,
    head: Vec<(String, String)>,
    rows: Vec<Row>,
    notes: Vec<String>,
) -> Table {
    Table {
        caption,
        head,
        groups: vec![Group { title: None, rows }],
        notes,
    }
}

fn reductions(study: &Study, against: &str, size: &str) -> Option<Table> {
    let all = study.reductions.iter();
    let all: Vec<&Reduction> = all
        .filter(|one| one.against == against && one.size == size)
        .collect();
    let best = all.iter().filter(|one| one.policy != "opt");
    let best = best.map(|one| one.mean).max_by(f64::total_cmp)?;
    let rows = all.iter().map(|one| {
        let mean = Cell::number(percent(one.mean));
        Row {
            arm: None,
            cells: vec![
                Cell::text(&one.policy),
                Cell::number(percent(one.p10)),
                Cell::number(percent(one.p50)),
                Cell::number(percent(one.p90)),
                match one.mean == best && one.policy != "opt" {
                    true => mean.toned(Tone::Good),
                    false => mean,
                },
                Cell::number(percent(one.worst)).with(&one.worst_trace, Tone::Faint),
            ],
        }
    });
    Some(table(
        format!("size {size}"),
        heads(&[
            "policy",
            "P10",
            "P50",
            "P90",
            "mean",
            "worst case, and its trace",
        ]),
        rows.collect(),
        Vec::new(),
    ))
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// A row for each policy, a column for each size.
fn wins(study: &Study) -> Table {
    let mut head = heads(&["policy"]);
    head.extend(study.sizes.iter().map(|size| (size.clone(), String::new())));
    let policies = study.policies.iter().filter(|policy| *policy != "opt");
    let rows = policies.map(|policy| {
        let of = |size: &String| {
            let mut wins = study.wins.iter();
            let found = wins.find(|one| one.policy == *policy && one.size == *size);
            found.map_or(Cell::number("–"), |one| {
                Cell::number(count(one.traces as u64))
            })
        };
        let mut cells = vec![Cell::text(policy)];
        cells.extend(study.sizes.iter().map(of));
        Row { arm: None, cells }
    });
    table(
        "traces won, by size".into(),
        head,
        rows.collect(),
        Vec::new(),
    )
}
