//! The promises, and whether each is kept.
use crate::format::phrases::promise;
use crate::format::table::{Cell, Row, Table, Tone};
use crate::study::promises::{PromiseResult, Standing};
use crate::study::Study;

/// One row for each promise and arm.
pub fn promises(study: &Study) -> Table {
    let head = ["Promise", "Arm", "Value", "Bound", "Result"];
    let rows = study.promises.iter().map(|p| Row {
        arm: None,
        cells: vec![
            Cell::text(&p.title).with(promise::measured(p), Tone::Faint),
            Cell::text(study.label(&p.arm)),
            Cell::number(promise::value(p)),
            Cell::text(promise::bound(p)),
            result(p),
        ],
    });
    Table::plain("Promises", &head, rows)
}

fn result(p: &PromiseResult) -> Cell {
    let (text, tone) = promise::standing(p);
    let mark = match p.standing() {
        Standing::Kept => "✓",
        Standing::KeptUnsure | Standing::Unsure => "?",
        Standing::Undecided | Standing::Unmeasured => "–",
        Standing::Broken => "✗",
    };
    let cell = Cell::text(format!("{mark} {text}")).toned(tone);
    match p.why.is_empty() {
        true => cell,
        false => cell.with(p.why.clone(), Tone::Plain),
    }
}
