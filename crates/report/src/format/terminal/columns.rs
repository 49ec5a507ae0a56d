//! Tables in columns of text.
use super::style::Style;
use super::wrap::{pad, wrap};
use crate::format::table::Tone;
use unicode_width::UnicodeWidthStr;

/// The lines of one cell.
pub type Lines = Vec<(String, Tone)>;

/// The columns of space between two cells.
const GAP: usize = 2;
/// The widest head that does not wrap, in columns.
const HEAD_WIDE: usize = 18;

pub struct Column {
    pub title: String,
    /// Small print below the title.
    pub small: String,
    /// The cells, one for each row.
    pub cells: Vec<Lines>,
}

impl Column {
    /// The width that the cells need. Long titles wrap.
    fn width(&self, room: usize) -> usize {
        let cells = self.cells.iter().flatten().map(|(text, _)| text.width());
        let heads = [&self.title, &self.small].map(|t| t.width().min(HEAD_WIDE));
        cells.chain(heads).max().unwrap_or(0).min(room)
    }

    fn head(&self, width: usize) -> Lines {
        let title = wrap(&self.title, width)
            .into_iter()
            .map(|l| (l, Tone::Plain));
        let small = wrap(&self.small, width)
            .into_iter()
            .map(|l| (l, Tone::Faint));
        let small = small.filter(|(line, _)| !line.is_empty());
        title.chain(small).collect()
    }

    fn cell(&self, row: usize, width: usize) -> Lines {
        let lines = self.cells[row].iter().flat_map(|(text, tone)| {
            let lines = wrap(text, width).into_iter();
            lines.map(|line| (line, *tone)).collect::<Lines>()
        });
        lines.collect()
    }
}

/// A table in pieces, each of the first column and as many others as the width allows.
pub fn pieces(style: &Style, first: &Column, columns: &[Column]) -> String {
    let wide = first.width(style.width / 3).max(3);
    let room = style.width - wide - GAP;
    let mut out = String::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut used = wide;
        let fit = rest.iter().take_while(|column| {
            used += GAP + column.width(room);
            used <= style.width
        });
        let (now, later) = rest.split_at(fit.count().max(1));
        piece(style, first, wide, now, &mut out);
        rest = later;
    }
    out
}

fn piece(style: &Style, first: &Column, wide: usize, columns: &[Column], out: &mut String) {
    let room = style.width - wide - GAP;
    let widths: Vec<usize> = columns.iter().map(|c| c.width(room)).collect();
    let with_widths = || columns.iter().zip(&widths);
    let heads: Vec<Lines> = with_widths().map(|(c, &w)| c.head(w)).collect();
    row(style, (&first.head(wide), wide), &heads, &widths, out);
    let total = wide + widths.iter().map(|w| w + GAP).sum::<usize>();
    *out += &style.toned(&"─".repeat(total), Tone::Faint);
    out.push('\n');
    for place in 0..first.cells.len() {
        let cells: Vec<Lines> = with_widths().map(|(c, &w)| c.cell(place, w)).collect();
        row(
            style,
            (&first.cell(place, wide), wide),
            &cells,
            &widths,
            out,
        );
    }
    out.push('\n');
}

/// One row: a label of a given width, set left, and cells set right.
fn row(
    style: &Style,
    (label, wide): (&[(String, Tone)], usize),
    cells: &[Lines],
    widths: &[usize],
    out: &mut String,
) {
    let deep = cells.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..deep.max(label.len()) {
        let none = (String::new(), Tone::Plain);
        let (text, tone) = label.get(depth).unwrap_or(&none);
        let mut line = style.toned(text, *tone) + &pad(text, wide);
        for (cell, &width) in cells.iter().zip(widths) {
            let (text, tone) = cell.get(depth).unwrap_or(&none);
            line += &" ".repeat(GAP);
            line += &pad(text, width);
            line += &style.toned(text, *tone);
        }
        *out += line.trim_end();
        out.push('\n');
    }
}
