//! Tables of the run: its arms, its test bed, and its failed trials.
use crate::format::number;
use crate::format::phrases::run as phrases;
use crate::format::table::{Cell, Row, Table, Tone};
use crate::study::Study;

/// The trials that did not end well; none where all did.
pub fn failures(study: &Study) -> Option<Table> {
    if study.failures.is_empty() {
        return None;
    }
    let head = ["Arm", "Repetition", "Ended with", "Scenes entered", "After"];
    let rows = study.failures.iter().map(|f| Row {
        arm: None,
        cells: vec![
            Cell::text(study.label(&f.arm)),
            Cell::text(phrases::repetition(f)),
            Cell::text(phrases::outcome(&f.outcome)).toned(Tone::Bad),
            Cell::text(match f.scenes.is_empty() {
                true => "none".to_string(),
                false => f.scenes.join(", "),
            }),
            Cell::number(number::value(f.wall_s, "s")),
        ],
    });
    Some(Table::plain("Trials that did not end well", &head, rows))
}

/// Each arm's kernel and settings, and the state of its trials.
pub fn arms(study: &Study) -> Table {
    let head = ["Arm", "Kernel", "Baseline", "Trials", "Settings"];
    let rows = study.arms.iter().enumerate().map(|(place, arm)| {
        let mut kernel = Cell::text(&arm.kernel);
        for release in &arm.releases {
            kernel = kernel.with(format!("release {release}"), Tone::Faint);
        }
        for line in arm.image.iter().flat_map(phrases::image) {
            kernel = kernel.with(line, Tone::Faint);
        }
        if let Some(kb) = arm.mem_total_kb {
            let memory = number::value(kb as f64 / 1024.0, "MiB");
            kernel = kernel.with(format!("MemTotal {memory}"), Tone::Faint);
        }
        let mut trials = Cell::number(format!("{} ok", arm.ok));
        if arm.failed > 0 {
            trials = trials.with(format!("{} failed", arm.failed), Tone::Bad);
        }
        if arm.absent > 0 {
            trials = trials.with(format!("{} never ran", arm.absent), Tone::Bad);
        }
        let mut settings = Cell::text(if arm.settings.is_empty() { "none" } else { "" });
        for (path, setting) in &arm.settings {
            settings = settings.with(phrases::setting(path, setting), Tone::Plain);
        }
        let base = arm.baseline.as_deref();
        Row {
            arm: Some(place),
            cells: vec![
                Cell::text(study.label(&arm.name)).with(&arm.name, Tone::Faint),
                kernel,
                Cell::text(base.map_or("–", |b| study.label(b))),
                trials,
                settings,
            ],
        }
    });
    Table::plain("Arms", &head, rows)
}

/// The test bed.
pub fn bed(study: &Study) -> Table {
    facts("Test bed", phrases::bed(study))
}

/// Rows of a name and a value.
pub fn facts<N: Into<String>, V: Into<String>>(
    caption: &str,
    rows: impl IntoIterator<Item = (N, V)>,
) -> Table {
    let rows = rows.into_iter().map(|(name, value)| Row {
        arm: None,
        cells: vec![Cell::text(name), Cell::text(value)],
    });
    Table::plain(caption, &["Property", "Value"], rows)
}
