//! A chart of a figure: the number of every trial as a mark.
use super::scale::Scale;
use super::svg::{frame, label, marker, name, segment, tick_text, Anchor, STYLES, TOP};
use crate::format::number;
use crate::study::figures::{Across, Cell};
use crate::study::{FigureStudy, Spread, Study};
use maud::{html as markup, Markup};

/// The height of an arm's row.
const ROW: f64 = 36.0;
/// The left and the right end of the scale.
const FROM: f64 = 14.0;
const TO: f64 = 346.0;

/// One row for each arm that has a number: a mark for each trial, a bar for the median's spread and a tall
/// line for the median. Returns the chart and whether its scale is logarithmic, or nothing where no
/// trial has a number.
pub fn dots(study: &Study, f: &FigureStudy) -> Option<(Markup, bool)> {
    let arms = f.cells.iter().enumerate();
    let arms = arms.filter_map(|(place, cell)| Some((place, cell, cell.across.as_ref()?)));
    let arms: Vec<(usize, &Cell, &Across)> = arms.collect();
    if arms.is_empty() {
        return None;
    }
    let unit = &f.figure.unit;
    let factor = number::factor(unit);
    let floor = TOP + ROW * arms.len() as f64;
    let x = dot_scale(f, factor, FROM, TO);
    let body = markup! {
        (grid(x, floor))
        @for (row, &(place, cell, across)) in arms.iter().enumerate() {
            @let top = TOP + ROW * row as f64;
            (name((FROM, top + 12.0), "start", study.label(&cell.arm)))
            (marks(place, cell, across, top + 24.0, &|value| value * factor, x))
        }
    };
    let title = match (number::name(unit), x.is_log()) {
        ("", false) => f.figure.title.clone(),
        ("", true) => format!("{} (log scale)", f.figure.title),
        (unit, false) => format!("{} ({unit})", f.figure.title),
        (unit, true) => format!("{} ({unit}, log scale)", f.figure.title),
    };
    let medians = arms.iter().map(|(_, cell, across)| {
        format!(
            "{} {}",
            study.label(&cell.arm),
            number::value(across.median, unit)
        )
    });
    let medians: Vec<String> = medians.collect();
    let about = format!("Medians: {}", medians.join("; "));
    Some((frame(&title, &about, floor + 22.0, &body), x.is_log()))
}

fn grid(x: Scale, floor: f64) -> Markup {
    markup! {
        @for tick in x.ticks(5) {
            @let at = x.at(tick);
            (segment("grid", (at, TOP), (at, floor)))
            (label((at, floor + 14.0), Anchor::Middle, &tick_text(tick)))
        }
        (segment("axis", (FROM, floor), (TO, floor)))
    }
}

/// The spread, the median and the trials of one arm. `shown` converts values to the shown unit.
fn marks(
    place: usize,
    cell: &Cell,
    across: &Across,
    middle: f64,
    shown: &dyn Fn(f64) -> f64,
    x: Scale,
) -> Markup {
    let style = place % STYLES;
    let median = x.at(shown(across.median));
    markup! {
        @if let Some(spread) = across.median_spread {
            (bar(spread.map(shown), style, middle, x))
        }
        (segment(&format!("median s{style}"), (median, middle - 8.0), (median, middle + 8.0)))
        @for &(_, value) in &cell.trials { (marker(place, (x.at(shown(value)), middle), 3.6)) }
    }
}

/// The bar of a spread. An interval has caps at its ends, except at one that goes on beyond the
/// scale; a range has none.
fn bar(spread: Spread, style: usize, middle: f64, x: Scale) -> Markup {
    let class = format!("interval s{style}");
    let ends = spread.ends();
    let capped = |end: f64| spread.interval().is_some() && x.holds(end);
    markup! {
        (segment(&class, (x.at(ends.low), middle), (x.at(ends.high), middle)))
        @for end in [ends.low, ends.high] {
            @if capped(end) {
                (segment(&class, (x.at(end), middle - 3.0), (x.at(end), middle + 3.0)))
            }
        }
    }
}

/// A scale wide enough for all trials. It cuts off spreads that would dwarf the trials.
fn dot_scale(f: &FigureStudy, factor: f64, from: f64, to: f64) -> Scale {
    let values: Vec<f64> = f
        .cells
        .iter()
        .flat_map(|c| &c.trials)
        .map(|&(_, v)| v * factor)
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ends = || {
        f.cells
            .iter()
            .filter_map(|c| Some(c.across.as_ref()?.median_spread?.ends()))
    };
    let lowest = ends().map(|i| i.low * factor).fold(low, f64::min);
    let highest = ends().map(|i| i.high * factor).fold(high, f64::max);
    if low > 0.0 && high / low > 30.0 {
        let lowest = if lowest > 0.0 {
            lowest.max(low / 4.0)
        } else {
            low / 2.0
        };
        return Scale::log(lowest, highest.min(high * 4.0), from, to);
    }
    let span = match high > low {
        true => (high - low).max(high.abs() * 0.05),
        false => high.abs().max(1.0),
    };
    let (mut lowest, highest) = match high > low {
        true => (
            lowest.max(low - span / 2.0) - span * 0.03,
            highest.min(high + span / 2.0) + span * 0.03,
        ),
        false => (low - span / 2.0, high + span / 2.0),
    };
    if low >= 0.0 && (lowest < 0.0 || low < high * 0.4) {
        lowest = 0.0;
    }
    Scale::linear(lowest, highest, from, to)
}
