//! Charts as SVG. They are drawn 360 units wide, about a phone's width: text keeps its size there,
//! and wider pages set several side by side.
use super::number;
use super::plot::{thin, Scale};
use super::text::{self, html as esc};
use crate::study::charts::{ArmLines, ChartStudy};
use crate::study::{FigureStudy, Study};
use std::fmt::Write;

const WIDE: f64 = 360.0;
pub(super) const HIGH: f64 = 190.0;
pub(super) const LEFT: f64 = 50.0;
pub(super) const RIGHT: f64 = 350.0;
pub(super) const TOP: f64 = 12.0;
pub(super) const FLOOR: f64 = 160.0;
/// Colours and markers that arms go through in turn.
pub(super) const STYLES: usize = 8;
/// More points than these are a line without markers.
const MARKED: usize = 50;

/// One panel an arm, all on the same scales: the typical repetition bold, the others thin, trials
/// that failed dotted, the baseline's typical repetition dashed. Each comes with its arm's label.
pub fn lines(study: &Study, chart: &ChartStudy) -> Vec<(String, String)> {
    let factor = number::factor(&chart.chart.unit);
    let all = || chart.arms.iter().flat_map(|a| &a.lines);
    let values = || all().flat_map(|l| &l.points).map(|&(_, v)| v * factor);
    let seconds = all()
        .flat_map(|l| &l.points)
        .map(|&(t, _)| t)
        .fold(1.0, f64::max);
    let x = Scale::linear(0.0, seconds, LEFT, RIGHT);
    let high = values().fold(0.0, f64::max);
    let low = values().fold(0.0, f64::min);
    let least = values().filter(|&v| v > 0.0).fold(f64::INFINITY, f64::min);
    let y = if chart.chart.log && least.is_finite() {
        let decade = |v: f64, up: bool| {
            let e = if up {
                v.log10().ceil()
            } else {
                v.log10().floor()
            };
            10f64.powf(e)
        };
        Scale::log(decade(least, false), decade(high, true), FLOOR, TOP)
    } else {
        let full = if chart.chart.unit == "%" && high <= 100.0 {
            100.0
        } else {
            high
        };
        Scale::linear(
            low,
            full * if full > 100.0 { 1.05 } else { 1.0 },
            FLOOR,
            TOP,
        )
    };
    chart
        .arms
        .iter()
        .enumerate()
        .map(|(place, arm)| {
            let base = study.arm(&arm.arm).and_then(|a| a.baseline.as_deref());
            let base = base.and_then(|b| chart.arms.iter().find(|a| a.arm == b));
            let label = study.label(&arm.arm).to_string();
            let panel = panel(chart, arm, base, place, &label, x, y);
            (label, panel)
        })
        .collect()
}

fn panel(
    chart: &ChartStudy,
    arm: &ArmLines,
    base: Option<&ArmLines>,
    place: usize,
    label: &str,
    x: Scale,
    y: Scale,
) -> String {
    let unit = &chart.chart.unit;
    let factor = number::factor(unit);
    let mut body = grid(x, y, &x.ticks(5));
    let _ = write!(
        body,
        r#"<text x="{RIGHT}" y="{:.0}" text-anchor="end">seconds</text>"#,
        FLOOR + 27.0
    );
    let style = place % STYLES;
    let path = |points: &[(f64, f64)], class: &str| {
        let at: Vec<String> = thin(points, 150)
            .iter()
            .map(|&(t, v)| format!("{:.1},{:.1}", x.at(t), y.at(v * factor)))
            .collect();
        match points {
            // A single point draws no line.
            &[(t, v)] => format!(
                r#"<circle class="lone {class}" cx="{:.1}" cy="{:.1}" r="2"/>"#,
                x.at(t),
                y.at(v * factor)
            ),
            _ => format!(r#"<polyline class="{class}" points="{}"/>"#, at.join(" ")),
        }
    };
    if let Some(line) = base.and_then(|b| Some(&b.lines[b.typical?])) {
        body += &path(&line.points, "base");
    }
    for (at, line) in arm.lines.iter().enumerate() {
        if Some(at) != arm.typical {
            let class = if line.ok { "thin" } else { "thin failed" };
            body += &path(&line.points, &format!("{class} s{style}"));
        }
    }
    if let Some(line) = arm.typical.map(|t| &arm.lines[t]) {
        for kill in &line.kills {
            let _ = write!(
                body,
                r#"<line class="kill" x1="{0:.1}" x2="{0:.1}" y1="{1:.0}" y2="{2:.0}"/>"#,
                x.at(*kill),
                FLOOR - 7.0,
                FLOOR
            );
        }
        body += &path(&line.points, &format!("bold s{style}"));
        if line.points.len() <= MARKED {
            for &(t, v) in &line.points {
                body += &marker(place, x.at(t), y.at(v * factor), 2.2);
            }
        }
    }
    if arm.lines.is_empty() {
        let _ = write!(
            body,
            r#"<text class="none" x="{:.0}" y="{:.0}" text-anchor="middle">no data</text>"#,
            (LEFT + RIGHT) / 2.0,
            (TOP + FLOOR) / 2.0
        );
    }
    let title = format!("{}: {label}", chart.chart.title);
    let about = format!(
        "{}{} over the seconds of scene {}, {} repetitions{}",
        chart.chart.metric,
        match number::name(unit) {
            "" => String::new(),
            unit => format!(" in {unit}"),
        },
        chart.chart.scene,
        arm.lines.len(),
        if y.is_log() {
            ", logarithmic scale"
        } else {
            ""
        }
    );
    frame(&title, &about, HIGH, &body)
}

/// Lines across at the ticks of `y`, the numbers under `ticks`, and the axis.
pub(super) fn grid(x: Scale, y: Scale, ticks: &[f64]) -> String {
    let mut body = String::new();
    for tick in y.ticks(4) {
        let at = y.at(tick);
        let _ = write!(
            body,
            r#"<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{at:.1}" y2="{at:.1}"/><text x="{:.0}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 5.0,
            at + 4.0,
            tick_text(tick)
        );
    }
    for tick in ticks {
        let _ = write!(
            body,
            r#"<text x="{:.1}" y="{:.0}" text-anchor="middle">{}</text>"#,
            x.at(*tick),
            FLOOR + 14.0,
            tick_text(*tick)
        );
    }
    let _ = write!(
        body,
        r#"<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{FLOOR}" y2="{FLOOR}"/>"#
    );
    body
}

/// Every trial's number as a dot, a row an arm; the bar is the 95 % interval of the mean, the tall
/// mark the median. Also says whether the scale is logarithmic; none where no trial has a number.
pub fn dots(study: &Study, f: &FigureStudy) -> Option<(String, bool)> {
    if f.cells.iter().all(|c| c.trials.is_empty()) {
        return None;
    }
    let unit = &f.figure.unit;
    let factor = number::factor(unit);
    let row = 36.0;
    let floor = TOP + row * f.cells.len() as f64;
    let (from, to) = (14.0, 346.0);
    let x = dot_scale(f, factor, from, to);
    let mut body = String::new();
    for tick in x.ticks(5) {
        let at = x.at(tick);
        let _ = write!(
            body,
            r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{TOP}" y2="{floor}"/><text x="{at:.1}" y="{:.0}" text-anchor="middle">{}</text>"#,
            floor + 14.0,
            tick_text(tick)
        );
    }
    let _ = write!(
        body,
        r#"<line class="axis" x1="{from}" x2="{to}" y1="{floor}" y2="{floor}"/>"#
    );
    let mut told = Vec::new();
    for (place, cell) in f.cells.iter().enumerate() {
        let top = TOP + row * place as f64;
        let (name, middle) = (top + 12.0, top + 24.0);
        let style = place % STYLES;
        let label = study.label(&cell.arm);
        let nothing = if cell.across.is_none() {
            ": no data"
        } else {
            ""
        };
        let _ = write!(
            body,
            r#"<text class="name" x="{from}" y="{name:.0}">{}{nothing}</text>"#,
            esc(&text::line(label))
        );
        let Some(across) = &cell.across else {
            told.push(format!("{label} no data"));
            continue;
        };
        told.push(format!("{label} {}", number::value(across.median, unit)));
        if let Some(i) = across.interval {
            let (low, high) = (x.at(i.low * factor), x.at(i.high * factor));
            let _ = write!(
                body,
                r#"<line class="interval s{style}" x1="{low:.1}" x2="{high:.1}" y1="{middle:.0}" y2="{middle:.0}"/>"#
            );
            // An end without a cap goes on beyond the scale.
            for (value, at) in [(i.low, low), (i.high, high)] {
                if x.holds(value * factor) {
                    let _ = write!(
                        body,
                        r#"<line class="interval s{style}" x1="{at:.1}" x2="{at:.1}" y1="{:.0}" y2="{:.0}"/>"#,
                        middle - 3.0,
                        middle + 3.0
                    );
                }
            }
        }
        let at = x.at(across.median * factor);
        let _ = write!(
            body,
            r#"<line class="median s{style}" x1="{at:.1}" x2="{at:.1}" y1="{:.0}" y2="{:.0}"/>"#,
            middle - 8.0,
            middle + 8.0
        );
        for &(_, value) in &cell.trials {
            body += &marker(place, x.at(value * factor), middle, 3.6);
        }
    }
    let title = match (number::name(unit), x.is_log()) {
        ("", false) => f.figure.title.clone(),
        ("", true) => format!("{} (log scale)", f.figure.title),
        (unit, false) => format!("{} ({unit})", f.figure.title),
        (unit, true) => format!("{} ({unit}, log scale)", f.figure.title),
    };
    let about = format!("Medians: {}", told.join("; "));
    Some((frame(&title, &about, floor + 22.0, &body), x.is_log()))
}

/// Wide enough for all dots, and for the intervals as far as they do not dwarf the dots.
fn dot_scale(f: &FigureStudy, factor: f64, from: f64, to: f64) -> Scale {
    let values: Vec<f64> = f
        .cells
        .iter()
        .flat_map(|c| &c.trials)
        .map(|&(_, v)| v * factor)
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ends = || f.cells.iter().filter_map(|c| c.across.as_ref()?.interval);
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

/// The arm's marker: shape and colour both tell arms apart.
pub(super) fn marker(place: usize, x: f64, y: f64, r: f64) -> String {
    let style = place % STYLES;
    let shape = match style {
        0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{r}""#),
        1 => format!(
            r#"<rect x="{:.1}" y="{:.1}" width="{2:.1}" height="{2:.1}""#,
            x - r * 0.9,
            y - r * 0.9,
            r * 1.8
        ),
        _ => {
            let corners: &[(f64, f64)] = match style {
                2 => &[(0.0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
                3 => &[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)],
                4 => &[(0.0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
                5 => &[(-1.2, 0.0), (0.9, -1.15), (0.9, 1.15)],
                6 => &[(1.2, 0.0), (-0.9, -1.15), (-0.9, 1.15)],
                _ => &[(-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)],
            };
            let at: Vec<String> = corners
                .iter()
                .map(|(dx, dy)| format!("{:.1},{:.1}", x + dx * r, y + dy * r))
                .collect();
            format!(r#"<polygon points="{}""#, at.join(" "))
        }
    };
    format!(r#"{shape} class="dot s{style}"/>"#)
}

/// The arm's marker alone, for a table's row.
pub fn key(place: usize) -> String {
    format!(
        r#"<svg class="key" viewBox="0 0 12 12" aria-hidden="true">{}</svg>"#,
        marker(place, 6.0, 6.0, 3.8)
    )
}

pub(super) fn frame(title: &str, about: &str, high: f64, body: &str) -> String {
    format!(
        r#"<svg class="chart" viewBox="0 0 {WIDE:.0} {high:.0}" role="img"><title>{}</title><desc>{}</desc>{body}</svg>"#,
        esc(&text::line(title)),
        esc(&text::line(about))
    )
}

/// Short: ticks stand close together.
pub(super) fn tick_text(x: f64) -> String {
    let (size, unit) = match x.abs() {
        s if s >= 1e9 => (x / 1e9, "G"),
        s if s >= 1e6 => (x / 1e6, "M"),
        s if s >= 1e4 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    // Ticks are round; the sum of steps may be a hair off.
    let mut text = format!("{:.4}", size);
    text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    if text == "0" && x != 0.0 {
        return number::plain(x);
    }
    format!("{}{unit}", text.replace('-', "−"))
}
