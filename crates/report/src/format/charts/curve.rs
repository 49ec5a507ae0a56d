//! A curve: the means of each series over `x`, as SVG.
use super::scale::Scale;
use super::svg::{
    frame, grid, label, marker, polyline, segment, tick_text, Anchor, FLOOR, HIGH, LEFT, RIGHT,
    STYLES, TOP,
};
use crate::format::number;
use crate::study::figures::Across;
use crate::study::{CurveLine, CurveStudy};
use maud::{html as markup, Markup};

/// Every `x` that some series has, in rising order.
pub fn places(curve: &CurveStudy) -> Vec<f64> {
    let points = curve.lines.iter().flat_map(|line| &line.points);
    let mut places: Vec<f64> = points.map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// The curve as SVG: lines that join the means, and a bar for the spread of each mean.
pub fn drawn(curve: &CurveStudy) -> Markup {
    let places = places(curve);
    let ends = (places.first(), places.last());
    let low_x = ends.0.copied().unwrap_or(0.0);
    let high_x = ends.1.copied().unwrap_or(1.0);
    let x = Scale::linear(low_x, high_x, LEFT + 6.0, RIGHT - 6.0);
    let y = values_scale(curve);
    let unit = &curve.curve.unit;
    let body = markup! {
        (grid(x, y, &[]))
        (axis(&places, x))
        (label((RIGHT, FLOOR + 27.0), Anchor::End, &curve.curve.x))
        @for (place, line) in curve.lines.iter().enumerate() { (series(place, line, unit, x, y)) }
    };
    let about = curve.lines.iter().map(|line| {
        let values = known(line).map(|(px, across)| {
            let value = number::value(across.mean, unit);
            format!("{value} at {}", number::plain(px))
        });
        let values: Vec<String> = values.collect();
        format!("{}: {}", line.label, values.join(", "))
    });
    let about: Vec<String> = about.collect();
    let title = format!("{} over {}", curve.curve.title, curve.curve.x);
    frame(&title, &about.join("; "), HIGH, &body)
}

/// The points of a line that have a number.
fn known(line: &CurveLine) -> impl Iterator<Item = (f64, &Across)> {
    let points = line.points.iter();
    points.filter_map(|point| Some((point.x, point.across.as_ref()?)))
}

/// A scale from 0, or from the lowest mean where that is below 0; shares reach to 100 %.
fn values_scale(curve: &CurveStudy) -> Scale {
    let factor = number::factor(&curve.curve.unit);
    let means = curve.lines.iter().flat_map(known);
    let means: Vec<f64> = means.map(|(_, across)| across.mean * factor).collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    let lowest = means.iter().copied().fold(0.0, f64::min);
    let highest = match curve.curve.unit.as_str() {
        "%" if highest <= 100.0 => 100.0,
        _ => highest * 1.05,
    };
    Scale::linear(lowest, highest, FLOOR, TOP)
}

/// A tick at every place, and a number where there is room for one.
fn axis(places: &[f64], x: Scale) -> Markup {
    let mut free = f64::NEG_INFINITY;
    let mut numbers = Vec::new();
    for place in places {
        let (text, at) = (tick_text(*place), x.at(*place));
        // Neighbouring numbers such as 0 and 1 would overlap.
        let half = 3.5 * text.len() as f64;
        if at - half > free {
            free = at + half + 3.0;
            numbers.push((at, text));
        }
    }
    markup! {
        @for place in places {
            (segment("axis", (x.at(*place), FLOOR), (x.at(*place), FLOOR + 3.0)))
        }
        @for (at, text) in numbers { (label((at, FLOOR + 14.0), Anchor::Middle, &text)) }
    }
}

fn series(place: usize, line: &CurveLine, unit: &str, x: Scale, y: Scale) -> Markup {
    let style = place % STYLES;
    let factor = number::factor(unit);
    let means = known(line).map(|(at, across)| (x.at(at), y.at(across.mean * factor)));
    let means: Vec<(f64, f64)> = means.collect();
    markup! {
        (polyline(&format!("bold s{style}"), &means))
        @for ((_, across), mean) in known(line).zip(&means) {
            @if let Some(ends) = across.spread.map(|spread| spread.ends()) {
                @let ends = (y.at(ends.low * factor), y.at(ends.high * factor));
                (segment(&format!("interval s{style}"), (mean.0, ends.0), (mean.0, ends.1)))
            }
            (marker(place, *mean, 3.2))
        }
    }
}
