//! The table of two settings of one machine: figures as rows.
use crate::format::number;
use crate::format::phrases::{figure, setting};
use crate::format::table::{Cell, Group, Notes, Row, Table, Tone};
use crate::study::{figures, FigureStudy, Study};

/// The table of a run that compares two settings; none for an experiment of the lab.
pub fn settings(study: &Study) -> Option<Table> {
    let pair = setting::pair(study)?;
    let places = [pair.baseline, pair.setting];
    let mut head = vec![("Figure".to_string(), String::new())];
    head.extend(places.map(|place| {
        (
            study.label(&study.arms[place].name).to_string(),
            String::new(),
        )
    }));
    head.push(("difference".into(), String::new()));
    let mut notes = Notes::default();
    let rows = figure::shown(study).map(|found| {
        let (ratio, verdict) = setting::short(pair.difference(found), found.figure.better);
        let mut last = Cell::number(ratio);
        last.small.extend(verdict);
        let mut cells = vec![Cell::text(title(found))];
        cells.extend(places.map(|place| value(found, &found.cells[place], &mut notes)));
        cells.push(last);
        Row { arm: None, cells }
    });
    let rows = rows.collect();
    Some(Table {
        caption: "Both settings".into(),
        head,
        groups: vec![Group { title: None, rows }],
        notes: notes.lines(),
    })
}

fn title(found: &FigureStudy) -> String {
    match number::name(&found.figure.unit) {
        "" => found.figure.title.clone(),
        unit => format!("{}, {unit}", found.figure.title),
    }
}

/// The median and its spread, without the unit, which the row's title has. Runs that are all alike have no spread.
fn value(found: &FigureStudy, cell: &figures::Cell, notes: &mut Notes) -> Cell {
    let unit = &found.figure.unit;
    let Some(across) = &cell.across else {
        return notes.dash("no run under this setting ended well");
    };
    let short = |x: f64| compact(x * number::factor(unit));
    let out = Cell::number(short(across.median));
    let Some(spread) = across.median_spread else {
        return out;
    };
    let ends = spread.ends();
    let both = format!("{}–{}", short(ends.low), short(ends.high));
    match spread.interval() {
        _ if ends.low == ends.high => out,
        Some(_) => out.with(format!("[{both}]"), Tone::Faint),
        None => out.with(both, Tone::Faint),
    }
}

/// A number, in millions from a million on: two columns of intervals fit a terminal.
fn compact(x: f64) -> String {
    match x.abs() >= 1e6 {
        true => format!("{}\u{a0}M", number::plain(x / 1e6)),
        false => number::plain(x),
    }
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn millions_are_short() {
        assert_eq!(compact(4_646_123.0), "4.65\u{a0}M");
        assert_eq!(compact(178_300.0), "178,300");
    }
}
