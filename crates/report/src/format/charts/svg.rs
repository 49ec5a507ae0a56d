//! The common parts of SVG charts: frame, grid, ticks and markers.
//!
//! Charts are 360 units wide, about the width of a phone, so that text keeps its size there. Wider
//! pages set several charts side by side.
use super::scale::Scale;
use crate::format::number;
use crate::format::text::line as clean;
use maud::{html as markup, Markup};

const WIDE: f64 = 360.0;
pub(super) const HIGH: f64 = 190.0;
pub(super) const LEFT: f64 = 50.0;
pub(super) const RIGHT: f64 = 350.0;
pub(super) const TOP: f64 = 12.0;
pub(super) const FLOOR: f64 = 160.0;
/// The number of colours and markers that arms take in turn.
pub(super) const STYLES: usize = 8;

/// A place in a drawing: across, and down.
pub(super) type Place = (f64, f64);

/// A coordinate; tenths of a unit are finer than a screen.
fn px(x: f64) -> String {
    format!("{x:.1}")
}

/// The position of a text relative to its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text at a place.
pub(super) fn label(at: Place, anchor: Anchor, text: &str) -> Markup {
    let anchor = match anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    markup! {
        text x=(px(at.0)) y=(px(at.1)) text-anchor=[anchor] { (clean(text)) }
    }
}

/// The name of a row at a place.
pub(super) fn name(at: Place, anchor: &str, text: &str) -> Markup {
    markup! {
        text class="name" x=(px(at.0)) y=(px(at.1)) text-anchor=(anchor) { (clean(text)) }
    }
}

/// A straight line.
pub(super) fn segment(class: &str, from: Place, to: Place) -> Markup {
    markup! {
        line class=(class) x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) {}
    }
}

/// A line through places. A single place draws none.
pub(super) fn polyline(class: &str, places: &[Place]) -> Markup {
    let points = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
    let points: Vec<String> = points.collect();
    markup! {
        @if points.len() > 1 { polyline class=(class) points=(points.join(" ")) {} }
    }
}

/// A circle.
pub(super) fn circle(class: &str, at: Place, r: f64) -> Markup {
    markup! { circle class=(class) cx=(px(at.0)) cy=(px(at.1)) r=(r) {} }
}

/// The axis, a line across at each tick of `y`, and a number below each of `ticks`.
pub(super) fn grid(x: Scale, y: Scale, ticks: &[f64]) -> Markup {
    markup! {
        @for tick in y.ticks(4) {
            @let at = y.at(tick);
            (segment("grid", (LEFT, at), (RIGHT, at)))
            (label((LEFT - 5.0, at + 4.0), Anchor::End, &tick_text(tick)))
        }
        @for tick in ticks {
            (label((x.at(*tick), FLOOR + 14.0), Anchor::Middle, &tick_text(*tick)))
        }
        (segment("axis", (LEFT, FLOOR), (RIGHT, FLOOR)))
    }
}

/// The marker of an arm, whose shape and colour both differ from other arms'.
pub(super) fn marker(place: usize, at: Place, r: f64) -> Markup {
    let style = place % STYLES;
    let class = format!("dot s{style}");
    let corners: &[Place] = match style {
        0 => return circle(&class, at, r),
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
        3 => &[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)],
        4 => &[(0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
        5 => &[(-1.2, 0.0), (0.9, -1.15), (0.9, 1.15)],
        6 => &[(1.2, 0.0), (-0.9, -1.15), (-0.9, 1.15)],
        _ => &[(-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)],
    };
    let corners = corners.iter().map(|(dx, dy)| {
        let (x, y) = (at.0 + dx * r, at.1 + dy * r);
        format!("{x:.1},{y:.1}")
    });
    let corners: Vec<String> = corners.collect();
    markup! { polygon class=(class) points=(corners.join(" ")) {} }
}

/// The marker of an arm alone, for the row of a table.
pub fn key(place: usize) -> Markup {
    markup! {
        svg class="key" viewBox="0 0 12 12" aria-hidden="true" { (marker(place, (6.0, 6.0), 3.8)) }
    }
}

/// A whole chart. The description is for readers who cannot see it.
pub(super) fn frame(title: &str, about: &str, high: f64, body: &Markup) -> Markup {
    markup! {
        svg class="chart" viewBox=(format!("0 0 {WIDE:.0} {high:.0}")) role="img" {
            title { (clean(title)) }
            desc { (clean(about)) }
            (body)
        }
    }
}

/// A short number, since ticks stand close together.
pub(super) fn tick_text(x: f64) -> String {
    let (size, unit) = match x.abs() {
        s if s >= 1e9 => (x / 1e9, "G"),
        s if s >= 1e6 => (x / 1e6, "M"),
        s if s >= 1e4 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    // Ticks are round, but the sum of steps has a rounding error.
    let mut text = format!("{:.4}", size);
    text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    if text == "0" && x != 0.0 {
        return number::plain(x);
    }
    format!("{}{unit}", text.replace('-', "−"))
}
