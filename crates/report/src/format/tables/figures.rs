//! Tables of arms by figures.
use super::settings::settings;
use crate::format::number;
use crate::format::phrases::figure as phrases;
use crate::format::table::{Cell, Group, Notes, Row, Table, Tone};
use crate::study::{figures, FigureStudy, Study, Verdict};
use protocol::plan::Better;

/// The most figures that fit a page side by side.
pub const PAGE_WIDE: usize = 4;

/// A table of arms by figures for each scene, or several where a scene has more than `most` figures.
/// Figures that the run did not measure have no column. Two settings of one machine have a table of their own.
pub fn figures(study: &Study, most: usize) -> Vec<Table> {
    if let Some(table) = settings(study) {
        return vec![table];
    }
    let mut tables = Vec::new();
    let shown: Vec<&FigureStudy> = phrases::shown(study).collect();
    let scenes = shown.chunk_by(|a, b| a.figure.scene == b.figure.scene);
    for same in scenes {
        // Five become three and two, not four and one.
        let wide = same.len().div_ceil(same.len().div_ceil(most));
        for (place, chunk) in same.chunks(wide).enumerate() {
            let more = if place == 0 { "" } else { ", continued" };
            let caption = format!("Scene “{}”{more}", same[0].figure.scene);
            tables.push(table(study, chunk, caption));
        }
    }
    tables
}

fn table(study: &Study, figures: &[&FigureStudy], caption: String) -> Table {
    let mut head = vec![("Arm".to_string(), String::new())];
    head.extend(figures.iter().map(|f| {
        let better = phrases::better(f.figure.better);
        (f.figure.title.clone(), better.to_string())
    }));
    let mut notes = Notes::default();
    let rows = study.arms.iter().enumerate().map(|(place, arm)| {
        let mut first = Cell::text(study.label(&arm.name));
        if arm.ok < arm.planned {
            let left = format!("{} of {} trials ok", arm.ok, arm.planned);
            first = first.with(left, Tone::Bad);
        }
        let mut cells = vec![first];
        cells.extend(figures.iter().map(|f| cell(f, &f.cells[place], &mut notes)));
        Row {
            arm: Some(place),
            cells,
        }
    });
    let rows = rows.collect();
    Table {
        caption,
        head,
        groups: vec![Group { title: None, rows }],
        notes: notes.lines(),
    }
}

fn cell(study: &FigureStudy, cell: &figures::Cell, notes: &mut Notes) -> Cell {
    let figure = &study.figure;
    let Some(across) = &cell.across else {
        return notes.dash(&reason(cell));
    };
    let spread = phrases::spread_or_one(across.median_spread.as_ref(), &figure.unit);
    let mut out = Cell::number(number::value(across.median, &figure.unit));
    out = out.with(spread.replace(' ', "\u{a0}"), Tone::Faint);
    if let Some((text, tone)) = ratio(cell, figure.better) {
        out = out.with(text, tone);
    }
    for gap in &cell.gaps {
        out = out.with(notes.mark(&gap.to_string()), Tone::Faint);
    }
    out
}

/// Why an arm has no number.
pub fn reason(cell: &figures::Cell) -> String {
    let gaps: Vec<String> = cell.gaps.iter().map(ToString::to_string).collect();
    match gaps.is_empty() {
        true => "no trial ended well".into(),
        false => gaps.join("; "),
    }
}

/// An arm's ratio and its verdict; none for an arm without a baseline.
pub fn ratio(cell: &figures::Cell, better: Better) -> Option<(String, Tone)> {
    let Some(ratio) = &cell.ratio else {
        // A count that only one side has shows as a dash on the other.
        let why = cell
            .no_ratio
            .clone()
            .filter(|_| better != Better::Neutral)?;
        return Some((why, Tone::Faint));
    };
    let (word, tone) = match ratio.verdict(better) {
        Verdict::Better => (" better", Tone::Good),
        Verdict::Worse => (" worse", Tone::Bad),
        Verdict::Unclear => (" unclear", Tone::Faint),
        Verdict::Neutral | Verdict::TooFew => ("", Tone::Plain),
    };
    Some((format!("{}{word}", number::times(ratio.value)), tone))
}
