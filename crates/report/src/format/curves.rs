//! Curves: a table with a row for each `x` and a column for each series, and the same drawn.
use super::number;
use super::plot::Scale;
use super::svg::{self, marker, tick_text, FLOOR, HIGH, LEFT, RIGHT, STYLES, TOP};
use super::table::{Cell, Group, Row, Table, Tone};
use crate::study::{CurvePoint, CurveStudy, Study};
use std::fmt::Write;

/// One table a curve.
pub fn tables(study: &Study) -> Vec<Table> {
    study.curves.iter().map(table).collect()
}

fn table(curve: &CurveStudy) -> Table {
    let mut head = vec![(curve.curve.x.clone(), String::new())];
    head.extend(curve.lines.iter().map(|l| (l.label.clone(), String::new())));
    let rows = places(curve).into_iter().map(|x| {
        let mut cells = vec![Cell::text(number::plain(x))];
        cells.extend(curve.lines.iter().map(|line| {
            let point = line.points.iter().find(|point| point.x == x);
            point.map_or(Cell::number("–"), |point| cell(curve, point))
        }));
        Row { arm: None, cells }
    });
    Table {
        caption: format!("{}, scene “{}”", curve.curve.title, curve.curve.scene),
        head,
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    }
}

fn cell(curve: &CurveStudy, point: &CurvePoint) -> Cell {
    let unit = &curve.curve.unit;
    let Some(across) = &point.across else {
        return Cell::number("no data").toned(Tone::Bad);
    };
    let shown = Cell::number(number::value(across.mean, unit));
    match across.interval {
        Some(i) => shown.with(
            format!("[{}]", number::range(i.low, i.high, unit)),
            Tone::Faint,
        ),
        None => shown.with("one trial", Tone::Faint),
    }
}

/// Every `x` that some series has, rising.
fn places(curve: &CurveStudy) -> Vec<f64> {
    let points = curve.lines.iter().flat_map(|line| &line.points);
    let mut places: Vec<f64> = points.map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The curve as SVG: means joined, a bar for each 95 % interval of the mean.
pub fn drawn(curve: &CurveStudy) -> String {
    let unit = &curve.curve.unit;
    let factor = number::factor(unit);
    let places = places(curve);
    let ends = (places.first(), places.last());
    let (low_x, high_x) = (
        ends.0.copied().unwrap_or(0.0),
        ends.1.copied().unwrap_or(1.0),
    );
    let x = Scale::linear(low_x, high_x, LEFT + 6.0, RIGHT - 6.0);
    let found = || {
        let points = curve.lines.iter().flat_map(|line| &line.points);
        points.filter_map(|point| point.across.as_ref())
    };
    let highest = found().map(|a| a.mean * factor).fold(0.0, f64::max);
    let lowest = found().map(|a| a.mean * factor).fold(0.0, f64::min);
    let highest = match unit.as_str() {
        "%" if highest <= 100.0 => 100.0,
        _ => highest * 1.05,
    };
    let y = Scale::linear(lowest, highest, FLOOR, TOP);
    let mut body = svg::grid(x, y, &[]);
    for place in &places {
        let _ = write!(
            body,
            r#"<line class="axis" x1="{0:.1}" x2="{0:.1}" y1="{FLOOR}" y2="{1}"/>"#,
            x.at(*place),
            FLOOR + 3.0
        );
    }
    let mut free = f64::NEG_INFINITY;
    for place in &places {
        let (text, at) = (tick_text(*place), x.at(*place));
        // Neighbours such as 0 and 1 would print over each other.
        let half = 3.5 * text.len() as f64;
        if at - half > free {
            free = at + half + 3.0;
            let _ = write!(
                body,
                r#"<text x="{at:.1}" y="{:.0}" text-anchor="middle">{text}</text>"#,
                FLOOR + 14.0
            );
        }
    }
    let _ = write!(
        body,
        r#"<text x="{RIGHT}" y="{:.0}" text-anchor="end">{}</text>"#,
        FLOOR + 27.0,
        super::text::html(&super::text::line(&curve.curve.x))
    );
    let mut told = Vec::new();
    for (place, line) in curve.lines.iter().enumerate() {
        let style = place % STYLES;
        let known = line
            .points
            .iter()
            .filter_map(|point| Some((point.x, point.across.as_ref()?)));
        let known: Vec<_> = known.collect();
        let at: Vec<String> = known
            .iter()
            .map(|(px, a)| format!("{:.1},{:.1}", x.at(*px), y.at(a.mean * factor)))
            .collect();
        if at.len() > 1 {
            let _ = write!(
                body,
                r#"<polyline class="bold s{style}" points="{}"/>"#,
                at.join(" ")
            );
        }
        for (px, across) in &known {
            if let Some(i) = across.interval {
                let _ = write!(
                    body,
                    r#"<line class="interval s{style}" x1="{0:.1}" x2="{0:.1}" y1="{1:.1}" y2="{2:.1}"/>"#,
                    x.at(*px),
                    y.at(i.low * factor),
                    y.at(i.high * factor)
                );
            }
            body += &marker(place, x.at(*px), y.at(across.mean * factor), 3.2);
        }
        let values = known.iter().map(|(px, a)| {
            let value = number::value(a.mean, unit);
            format!("{value} at {}", number::plain(*px))
        });
        let values: Vec<String> = values.collect();
        told.push(format!("{}: {}", line.label, values.join(", ")));
    }
    let title = format!("{} over {}", curve.curve.title, curve.curve.x);
    svg::frame(&title, &told.join("; "), HIGH, &body)
}
