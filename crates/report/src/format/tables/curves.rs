//! Curves as tables: a row for each `x` and a column for each series.
use crate::format::charts::curve::places;
use crate::format::number;
use crate::format::phrases::figure as phrases;
use crate::format::table::{Cell, Group, Notes, Row, Table, Tone};
use crate::study::{CurvePoint, CurveStudy, Study};

/// One table for each curve.
pub fn tables(study: &Study) -> Vec<Table> {
    study.curves.iter().map(table).collect()
}

fn table(curve: &CurveStudy) -> Table {
    let mut head = vec![(curve.curve.x.clone(), String::new())];
    head.extend(curve.lines.iter().map(|l| (l.label.clone(), String::new())));
    let mut notes = Notes::default();
    let rows = places(curve).into_iter().map(|x| {
        let mut cells = vec![Cell::text(number::plain(x))];
        for line in &curve.lines {
            let point = line.points.iter().find(|point| point.x == x);
            cells.push(match point {
                Some(point) => cell(curve, point, &mut notes),
                None => notes.dash("the series has no arm at this place"),
            });
        }
        Row { arm: None, cells }
    });
    let rows = rows.collect();
    Table {
        caption: format!("{}, scene “{}”", curve.curve.title, curve.curve.scene),
        head,
        groups: vec![Group { title: None, rows }],
        notes: notes.lines(),
    }
}

fn cell(curve: &CurveStudy, point: &CurvePoint, notes: &mut Notes) -> Cell {
    let unit = &curve.curve.unit;
    let Some(across) = &point.across else {
        return notes.dash("no trial gave a number");
    };
    let spread = phrases::spread_or_one(across.spread.as_ref(), unit);
    Cell::number(number::value(across.mean, unit)).with(spread, Tone::Faint)
}
