//! The page of the league: the standings, each scene, and the yardstick.
use super::show::{cells, value, HEADS};
use crate::provenance::made;
use lab::experiment::league::Challenger;
use report::format::html::sheet::{html as sheet, Part, Section, Sheet};
use report::format::table::{Cell, Row, Table, Tone};
use report::league::{Played, Score, Standing};
use units::counted;

const YARDSTICK: &str = "A small task is to run ten times a second beside the load. Where it comes a second late or \
     more, the machine stood still until it ran. Seconds lost a minute are those, and 10 s for each innocent \
     process that was killed. A guest that did not end well lost the whole minute. Every scene weighs the same. \
     Challengers stand in the order of seconds lost, to a tenth; then of the p99 of the task's delay.";
const RANGE: &str =
    "In brackets: the least and the most of one repetition over all scenes. Where these ranges \
     overlap, the order of two challengers says little.";
const OTHERS: &str =
    "Where a challenger has nothing to do, as a setting of swap without swap, it has the \
     figures of nothing there. Work is against nothing's. Times compare within this page only.";

/// The page.
pub fn html(
    standings: &[Standing],
    played: &[Played],
    challengers: &[Challenger],
    command: &str,
) -> String {
    let names: Vec<&str> = played.iter().map(|one| one.cell).collect();
    let mut scenes: Vec<Part> = { names.iter() }
        .map(|cell| Part::Table(of_cell(standings, cell), "main"))
        .collect();
    let reports: Vec<String> = names
        .iter()
        .map(|cell| format!("{cell}/report.html"))
        .collect();
    scenes.push(Part::Paragraph(format!(
        "Each scene's own report, with its curves and its promises: {}",
        reports.join(", ")
    )));
    sheet(&Sheet {
        title: "How long does a machine stand still when memory runs out?".into(),
        meta: meta(standings, played),
        lead: Vec::new(),
        verdict: verdict(standings),
        caution: caution(standings),
        sections: vec![
            Section::new(
                "standings",
                "Standings",
                vec![
                    bars(standings),
                    Part::Table(table(standings), "main"),
                    Part::Paragraph(RANGE.into()),
                ],
            ),
            Section::new(
                "yardstick",
                "The yardstick",
                vec![
                    Part::Paragraph(YARDSTICK.into()),
                    Part::Paragraph(OTHERS.into()),
                ],
            ),
            Section::new("scenes", "Scenes", scenes),
            Section::new(
                "challengers",
                "Challengers",
                vec![Part::Table(facts(standings, challengers, played), "bed")],
            ),
            Section::new(
                "command",
                "The command",
                vec![Part::Verbatim(command.into())],
            ),
        ],
    })
}

/// The bed, and how much was run.
fn meta(standings: &[Standing], played: &[Played]) -> String {
    let mut parts = Vec::new();
    if let Some(first) = played.first() {
        let (bed, run) = (&first.study.run.bed, &first.study.run);
        parts.push(format!(
            "{}, {} MiB, {}, {} at once",
            bed.name,
            bed.memory_mb,
            counted(bed.cpus.into(), "CPU"),
            counted(bed.jobs.into(), "guest")
        ));
        parts.push(format!("{:.0} s of pressure", first.seconds));
        parts.push(counted(run.repetitions.into(), "repetition"));
    }
    parts.push(counted(standings.len() as u64, "challenger"));
    parts.push(counted(played.len() as u64, "scene"));
    parts.push(made());
    parts.join(" · ")
}

/// The first and the last, with what set them apart: the seconds lost, or else the p99.
fn verdict(standings: &[Standing]) -> String {
    let [first, .., last] = standings else {
        return String::new();
    };
    let [own, other] = [cells(first), cells(last)];
    // Standings are in the order of tenths of a second.
    let lost = |one: &Standing| one.lost_s_per_min.map(|lost| format!("{lost:.1}"));
    match (lost(first), lost(last)) {
        (Some(all), Some(same)) if all == same => format!(
            "All lost {all} s a minute. First by the p99: {}, {}. Last: {}, {}.",
            first.label, own[2], last.label, other[2]
        ),
        _ => format!(
            "First: {}, {} s lost a minute. Last: {}, {}.",
            first.label, own[0], last.label, other[0]
        ),
    }
}

fn caution(standings: &[Standing]) -> String {
    let failed: u32 = standings.iter().map(|one| one.failed + one.absent).sum();
    match failed {
        0 => String::new(),
        1 => "One trial failed or never ran.".into(),
        n => format!("{n} trials failed or never ran."),
    }
}

fn bars(standings: &[Standing]) -> Part {
    let rows = standings.iter().filter_map(|one| {
        let lost = one.lost_s_per_min?;
        Some((one.label.clone(), lost, format!("{lost:.1}")))
    });
    Part::Bars("Seconds lost a minute".into(), rows.collect())
}

fn table(standings: &[Standing]) -> Table {
    let mut head = vec!["", "Challenger"];
    head.extend(HEADS);
    let rows = standings.iter().map(|one| {
        let mut row = vec![
            Cell::number(format!("{}.", one.place)),
            Cell::text(&one.label).with(&one.kernel, Tone::Faint),
        ];
        row.extend(cells(one).map(Cell::number));
        if one.failed + one.absent > 0 {
            let bad = format!("{} failed, {} never ran", one.failed, one.absent);
            row[1] = row[1].clone().with(bad, Tone::Bad);
        }
        Row {
            arm: None,
            cells: row,
        }
    });
    Table::plain("Standings", &head, rows)
}

/// The challengers of one scene, in the order of the standings.
fn of_cell(standings: &[Standing], cell: &str) -> Table {
    let mut head = vec!["Challenger"];
    head.extend(HEADS);
    let rows = standings.iter().filter_map(|one| {
        let score = one.scores.iter().find(|score| score.cell == cell)?;
        let mut row = vec![Cell::text(&one.label)];
        row.extend(figures(score).map(Cell::number));
        if score.of_nothing {
            row[0] = row[0].clone().with("nothing's figures", Tone::Faint);
        }
        Some(Row {
            arm: None,
            cells: row,
        })
    });
    Table::plain(cell, &head, rows)
}

fn figures(score: &Score) -> [String; 8] {
    let tenth = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.1}"));
    let lost = score.lost.iter().map(|(_, lost)| lost);
    let count = score.lost.len();
    let mean = (count > 0).then(|| lost.sum::<f64>() / count as f64);
    [
        tenth(mean),
        tenth(score.still_s_per_min),
        value(score.p99_ms, "ms"),
        value(score.longest_ms, "ms"),
        value(score.resident, "%"),
        value(score.work, ""),
        tenth(score.innocents_per_min),
        value(score.kill_ms, "ms"),
    ]
}

/// What each challenger is: its sentence, its kernel with the image's checksum, and its settings.
fn facts(standings: &[Standing], challengers: &[Challenger], played: &[Played]) -> Table {
    let rows = standings.iter().map(|one| {
        let entered = challengers.iter().find(|other| other.name() == one.name);
        let arms = played.iter().filter_map(|cell| cell.study.arm(&one.name));
        let arm = arms.into_iter().next();
        let mut kernel = Cell::text(&one.kernel);
        if let Some(image) = arm.and_then(|arm| arm.image.as_ref()) {
            kernel = kernel.with(format!("image {}", image.sha256), Tone::Faint);
            if !image.patches_digest.is_empty() {
                kernel = kernel.with(format!("patches {}", image.patches_digest), Tone::Faint);
            }
        }
        let settings = arm.map(|arm| arm.settings.iter());
        let settings = settings
            .into_iter()
            .flatten()
            .filter_map(|(path, setting)| {
                let asked = setting.asked.as_ref()?;
                Some(format!("{path} = {asked}"))
            });
        let mut what = Cell::text("");
        for setting in settings {
            what = what.with(setting, Tone::Plain);
        }
        let about = entered.map_or("", |one| one.about.as_str());
        Row {
            arm: None,
            cells: vec![
                Cell::text(&one.label).with(about, Tone::Faint),
                kernel,
                what,
            ],
        }
    });
    Table::plain("Challengers", &["Challenger", "Kernel", "Settings"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(label: &str, lost: Option<f64>, p99: f64) -> Standing {
        Standing {
            place: 1,
            name: label.into(),
            label: label.into(),
            kernel: String::new(),
            lost_s_per_min: lost,
            lost_range: None,
            still_s_per_min: None,
            p99_ms: Some(p99),
            longest_ms: None,
            resident: None,
            work_ratio: None,
            innocents_per_min: None,
            kill_ms: None,
            failed: 0,
            absent: 0,
            scores: Vec::new(),
        }
    }

    #[test]
    fn the_verdict_says_what_sets_the_first_and_the_last_apart() {
        let said = |a, b| verdict(&[standing("a", a, 50.0), standing("b", b, 70.0)]);
        let apart = "First: a, 1.0 s lost a minute. Last: b, 2.0.";
        assert_eq!(said(Some(1.0), Some(2.0)), apart);
        // They stand in the order of tenths.
        let alike = said(Some(0.01), Some(0.02));
        assert!(
            alike.starts_with("All lost 0.0 s a minute. First by the p99: a, 50"),
            "{alike}"
        );
        let absent = said(Some(1.0), None);
        assert_eq!(absent, "First: a, 1.0 s lost a minute. Last: b, –.");
        assert_eq!(verdict(&[standing("a", None, 1.0)]), "");
    }
}
