//! Every statistic of every figure.
use super::figures::reason;
use crate::format::number;
use crate::format::phrases::figure as phrases;
use crate::format::table::{Cell, Group, Notes, Row, Table, Tone};
use crate::study::{figures, FigureStudy, Study};

/// The head of each column, and its small print.
const HEAD: [(&str, &str); 9] = [
    ("Arm", ""),
    ("Trials", "with a value"),
    ("Mean", "of trials, with its spread"),
    ("Median", "of trials"),
    ("Ratio", "to the baseline"),
    ("Values", "pooled"),
    ("Median", "pooled"),
    ("p90", "pooled"),
    ("Max", "pooled"),
];

/// One group for each figure, one row for each arm.
pub fn statistics(study: &Study) -> Table {
    let mut notes = Notes::default();
    let groups = phrases::shown(study).map(|f| {
        let rows = f.cells.iter().enumerate();
        Group {
            title: Some(phrases::figure(&f.figure)),
            rows: rows
                .map(|(place, cell)| row(study, f, place, cell, &mut notes))
                .collect(),
        }
    });
    let groups = groups.collect();
    Table {
        caption: "All statistics".into(),
        head: HEAD
            .map(|(h, small)| (h.to_string(), small.to_string()))
            .to_vec(),
        groups,
        notes: notes.lines(),
    }
}

fn row(
    study: &Study,
    figure: &FigureStudy,
    place: usize,
    cell: &figures::Cell,
    notes: &mut Notes,
) -> Row {
    let unit = &figure.figure.unit;
    let show = |x: Option<f64>| Cell::number(x.map_or("–".into(), |x| number::value(x, unit)));
    let across = cell.across.as_ref();
    let pooled = cell.pooled.as_ref();
    let mut mean = show(across.map(|a| a.mean));
    if let Some(across) = across {
        let spread = phrases::spread_or_one(across.spread.as_ref(), unit);
        mean = mean.with(spread, Tone::Faint);
    }
    let mut arm = Cell::text(study.label(&cell.arm));
    if across.is_none() {
        arm = arm.with(notes.mark(&reason(cell)), Tone::Faint);
    } else {
        for gap in &cell.gaps {
            arm = arm.with(notes.mark(&gap.to_string()), Tone::Faint);
        }
    }
    let trials = across.map_or(0, |a| a.n);
    Row {
        arm: Some(place),
        cells: vec![
            arm,
            Cell::number(format!("{trials} of {}", study.arms[place].planned)),
            mean,
            show(across.map(|a| a.median)),
            ratio(cell),
            Cell::number(pooled.map_or("0".into(), |p| number::plain(p.n as f64))),
            show(pooled.map(|p| p.median)),
            show(pooled.map(|p| p.p90)),
            show(pooled.map(|p| p.max)),
        ],
    }
}

/// The ratio with its spread.
fn ratio(cell: &figures::Cell) -> Cell {
    let Some(ratio) = &cell.ratio else {
        let none = match &cell.no_ratio {
            Some(why) if cell.across.is_some() => why,
            Some(_) => "–",
            None => "baseline",
        };
        return Cell::number(none).toned(Tone::Faint);
    };
    let spread = phrases::spread_or_one(ratio.spread.as_ref(), "");
    Cell::number(number::times(ratio.value)).with(spread, Tone::Faint)
}
