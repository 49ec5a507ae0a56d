//! Tables of the run beside published figures.
use crate::format::number;
use crate::format::table::{Cell, Group, Notes, Row, Table, Tone};
use crate::study::comparisons::{Compared, ComparisonStudy, RowStudy, Sign};
use crate::study::{Spread, Study};
use protocol::comparison::{Change, ComparisonRow};

/// Why a cell has no number.
const NOTHING: &str = "no trial gave a number";

/// One table for each comparison.
pub fn tables(study: &Study) -> Vec<Table> {
    let one = |comparison: &ComparisonStudy| table(study, comparison);
    study.comparisons.iter().map(one).collect()
}

fn table(study: &Study, found: &ComparisonStudy) -> Table {
    let comparison = &found.comparison;
    let mut head = vec![
        (comparison.title.clone(), String::new()),
        ("Published".to_string(), String::new()),
        (study.label(&comparison.from).to_string(), String::new()),
    ];
    let to = comparison.to.iter();
    head.extend(to.map(|arm| (study.label(arm).to_string(), "and its change".to_string())));
    let mut notes = Notes::default();
    let rows = comparison.rows.iter().zip(&found.rows);
    let rows = rows.map(|(row, found)| {
        let mut cells = vec![Cell::text(&row.title), published(row, found, &mut notes)];
        cells.push(match &found.from {
            Some(across) => Cell::number(number::value(across.mean, &row.unit)),
            None => notes.dash(NOTHING),
        });
        let to = found.to.iter().enumerate();
        cells.extend(to.map(|(place, compared)| cell(row, compared, place == 0, &mut notes)));
        Row { arm: None, cells }
    });
    let rows = rows.collect();
    Table {
        caption: format!("{}: {}", comparison.title, comparison.source),
        head,
        groups: vec![Group { title: None, rows }],
        notes: notes.lines(),
    }
}

fn published(row: &ComparisonRow, found: &RowStudy, notes: &mut Notes) -> Cell {
    let shown = match found.published {
        Some(change) => Cell::number(signed(row, change)),
        None => notes.dash("the source gives no change"),
    };
    match (row.published.from, row.published.to) {
        (Some(from), Some(to)) => {
            let show = |x| number::value(x, &row.unit);
            shown.with(format!("{} to {}", show(from), show(to)), Tone::Faint)
        }
        _ => shown,
    }
}

fn cell(row: &ComparisonRow, compared: &Compared, first: bool, notes: &mut Notes) -> Cell {
    let Some(across) = &compared.across else {
        return notes.dash(NOTHING);
    };
    let shown = Cell::number(number::value(across.mean, &row.unit));
    let shown = match (compared.change, compared.spread) {
        (Some(change), Some(spread)) => {
            let ends = spread.ends();
            let (low, high) = (signed(row, ends.low), signed(row, ends.high));
            let spread = match spread {
                Spread::Range(_) => format!("range {low} to {high}"),
                Spread::Interval(_) => format!("[{low}, {high}]"),
            };
            shown.with(format!("{} {spread}", signed(row, change)), Tone::Plain)
        }
        (Some(change), None) => shown.with(signed(row, change), Tone::Plain),
        (None, _) => shown.with(compared.why.clone(), Tone::Faint),
    };
    match compared.sign {
        Sign::Same if first => shown.with("sign as published", Tone::Good),
        Sign::Other if first => shown.with("other sign than published", Tone::Bad),
        Sign::Unclear if first => shown.with("sign unclear", Tone::Faint),
        _ => shown,
    }
}

/// A change as text: percent of the baseline's, or percentage points, or the row's unit.
fn signed(row: &ComparisonRow, change: f64) -> String {
    let plus = if change > 0.0 { "+" } else { "" };
    match (row.change, row.unit.as_str()) {
        (Change::Relative, _) => format!("{plus}{}", number::value(change, "%")),
        (Change::Difference, "%") => format!("{plus}{} points", number::plain(change * 100.0)),
        (Change::Difference, unit) => format!("{plus}{}", number::value(change, unit)),
    }
}
