//! A metric over the time of a scene: one panel for each arm.
use super::scale::{thin, Scale};
use super::svg::{
    circle, frame, grid, label, marker, polyline, segment, Anchor, FLOOR, HIGH, LEFT, RIGHT,
    STYLES, TOP,
};
use crate::format::number;
use crate::study::charts::{ArmLines, ChartStudy};
use crate::study::Study;
use maud::{html as markup, Markup};

/// The most points of a line that has markers.
const MARKED: usize = 50;

/// The label and the panel of each arm that has a line, all on the same scales. The typical trial is
/// bold, other trials are thin, failed trials dotted; the baseline's typical trial is dashed.
pub fn panels(study: &Study, chart: &ChartStudy) -> Vec<(String, Markup)> {
    let lines = chart.arms.iter().flat_map(|arm| &arm.lines);
    let times = lines.flat_map(|line| &line.points).map(|&(t, _)| t);
    let scales = Scales {
        x: Scale::linear(0.0, times.fold(1.0, f64::max), LEFT, RIGHT),
        y: values_scale(chart),
        factor: number::factor(&chart.chart.unit),
    };
    let arms = chart.arms.iter().enumerate();
    let drawn = arms.filter(|(_, arm)| !arm.lines.is_empty());
    drawn
        .map(|(place, arm)| {
            let base = study.arm(&arm.arm).and_then(|a| a.baseline.as_deref());
            let base = base.and_then(|b| chart.arms.iter().find(|a| a.arm == b));
            let label = study.label(&arm.arm).to_string();
            let body = body(arm, base, place, &scales);
            let title = format!("{}: {label}", chart.chart.title);
            let panel = frame(&title, &about(chart, arm, &scales), HIGH, &body);
            (label, panel)
        })
        .collect()
}

/// The axes that all panels share. `factor` converts values to the unit that is shown.
struct Scales {
    x: Scale,
    y: Scale,
    factor: f64,
}

impl Scales {
    fn at(&self, (t, value): (f64, f64)) -> (f64, f64) {
        (self.x.at(t), self.y.at(value * self.factor))
    }

    fn path(&self, points: &[(f64, f64)], class: &str) -> Markup {
        match points {
            // A single point draws no line.
            &[point] => circle(&format!("lone {class}"), self.at(point), 2.0),
            _ => {
                let places = thin(points, 150).into_iter().map(|point| self.at(point));
                polyline(class, &places.collect::<Vec<(f64, f64)>>())
            }
        }
    }
}

/// A logarithmic scale of whole decades, or a linear one from 0; shares reach to 100 %.
fn values_scale(chart: &ChartStudy) -> Scale {
    let factor = number::factor(&chart.chart.unit);
    let lines = chart.arms.iter().flat_map(|arm| &arm.lines);
    let points = lines.flat_map(|line| &line.points);
    let values: Vec<f64> = points.map(|&(_, v)| v * factor).collect();
    let fold = |start, f: fn(f64, f64) -> f64| values.iter().copied().fold(start, f);
    let (low, high) = (fold(0.0, f64::min), fold(0.0, f64::max));
    let positive = values.iter().copied().filter(|&v| v > 0.0);
    let least = positive.fold(f64::INFINITY, f64::min);
    if chart.chart.log && least.is_finite() {
        let decade = |exponent: f64| 10f64.powf(exponent);
        let (from, to) = (least.log10().floor(), high.log10().ceil());
        return Scale::log(decade(from), decade(to), FLOOR, TOP);
    }
    let full = match chart.chart.unit.as_str() {
        "%" if high <= 100.0 => 100.0,
        _ if high > 100.0 => high * 1.05,
        _ => high,
    };
    Scale::linear(low, full, FLOOR, TOP)
}

fn body(arm: &ArmLines, base: Option<&ArmLines>, place: usize, scales: &Scales) -> Markup {
    let style = place % STYLES;
    let others = arm.lines.iter().enumerate();
    let others = others.filter(|(at, _)| Some(*at) != arm.typical);
    markup! {
        (grid(scales.x, scales.y, &scales.x.ticks(5)))
        (label((RIGHT, FLOOR + 27.0), Anchor::End, "seconds"))
        @if let Some(line) = base.and_then(|b| Some(&b.lines[b.typical?])) {
            (scales.path(&line.points, "base"))
        }
        @for (_, line) in others {
            @let class = if line.ok { "thin" } else { "thin failed" };
            (scales.path(&line.points, &format!("{class} s{style}")))
        }
        @if let Some(line) = arm.typical.map(|t| &arm.lines[t]) {
            @for kill in &line.kills {
                @let at = scales.x.at(*kill);
                (segment("kill", (at, FLOOR - 7.0), (at, FLOOR)))
            }
            (scales.path(&line.points, &format!("bold s{style}")))
            @if line.points.len() <= MARKED {
                @for &point in &line.points { (marker(place, scales.at(point), 2.2)) }
            }
        }
    }
}

/// A description of the panel, for readers who cannot see it.
fn about(chart: &ChartStudy, arm: &ArmLines, scales: &Scales) -> String {
    let chart = &chart.chart;
    format!(
        "{}{} over the seconds of scene {}, {} repetitions{}",
        chart.metric,
        match number::name(&chart.unit) {
            "" => String::new(),
            unit => format!(" in {unit}"),
        },
        chart.scene,
        arm.lines.len(),
        if scales.y.is_log() {
            ", logarithmic scale"
        } else {
            ""
        }
    )
}
