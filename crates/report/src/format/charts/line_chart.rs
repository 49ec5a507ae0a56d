//! A line chart for a page, whose style it takes, or as an SVG file that stands alone. Both are
//! readable on light and dark.
use super::areas;
use super::marks::{self, Mark};
use super::scale::Scale;
use super::svg::{label, marker, polyline, segment, tick_text, Anchor, STYLES};
use crate::format::text;
use maud::{html as markup, Markup, PreEscaped};
use std::fmt::Write as _;

/// An axis, whose scale fits the values.
pub struct Axis {
    label: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Close,
    Log,
}

impl Axis {
    /// A linear axis from zero, or from the lowest value where that is below zero.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis::new(label, Kind::Linear)
    }

    /// A linear axis from zero, unless all values lie far from zero and close to each other.
    pub fn close(label: impl Into<String>) -> Axis {
        Axis::new(label, Kind::Close)
    }

    /// A logarithmic axis. The chart leaves out values that are not above zero.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis::new(label, Kind::Log)
    }

    fn new(label: impl Into<String>, kind: Kind) -> Axis {
        Axis {
            label: label.into(),
            kind,
        }
    }

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (value > 0.0 || self.kind != Kind::Log)
    }

    fn scale(&self, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        match (self.kind, low.is_finite()) {
            (Kind::Log, true) => Scale::log(low, high, from, to),
            (Kind::Log, false) => Scale::log(1.0, 10.0, from, to),
            (_, false) => Scale::linear(0.0, 1.0, from, to),
            (Kind::Close, true) if low > 0.4 * high => {
                let room = 0.05 * (high - low).max(0.01 * high);
                Scale::linear(low - room, high + room, from, to)
            }
            (_, true) => Scale::linear(low.min(0.0), high, from, to),
        }
    }
}

/// One line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Empty for a line without a key.
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// The ends of the interval at each point, lower first; empty where values are exact.
    pub ranges: Vec<(f64, f64)>,
}

impl Line {
    /// A line of exact values.
    pub fn exact(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line {
            name: name.into(),
            points,
            ranges: Vec::new(),
        }
    }
}

pub struct LineChart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    /// Moments and stretches of `x`.
    pub marks: Vec<Mark>,
    /// Lines become areas, each on the ones before. All have points at the same places.
    pub stacked: bool,
}

/// The places of a drawing's parts, in its units.
struct Frame {
    wide: f64,
    high: f64,
    left: f64,
    right: f64,
    top: f64,
    floor: f64,
}

/// About the width of a phone, so that text keeps its size there.
const NARROW: Frame = Frame {
    wide: 360.0,
    high: 280.0,
    left: 46.0,
    right: 350.0,
    top: 26.0,
    floor: 240.0,
};
const WIDE: Frame = Frame {
    wide: 760.0,
    high: 420.0,
    left: 50.0,
    right: 750.0,
    top: 26.0,
    floor: 378.0,
};
const FILE: Frame = Frame {
    wide: 640.0,
    high: 400.0,
    left: 56.0,
    right: 624.0,
    top: 62.0,
    floor: 352.0,
};

/// The colours of the page, on light and on dark. Colour-blind readers can distinguish them.
const COLOURS: [(&str, &str); STYLES] = [
    ("#0072b2", "#4aa3df"),
    ("#d55e00", "#f07f33"),
    ("#009e73", "#1fbf8f"),
    ("#b97f00", "#e69f00"),
    ("#b85c8e", "#d893ba"),
    ("#3a9bd6", "#9ad7f7"),
    ("#333", "#c4c4c4"),
    ("#8a7f00", "#f0e442"),
];
/// The most points of a line that has markers.
const MARKED: usize = 24;

/// The class of a line: its colour, and dashes for the second and third line of a colour.
fn class(place: usize) -> String {
    format!("s{} round{}", place % STYLES, place / STYLES % 3)
}

/// The colour, dashes and marker of a line alone, for the row of a table or a key.
pub fn key(place: usize) -> Markup {
    markup! {
        svg class="key line" viewBox="0 0 24 12" aria-hidden="true" {
            (polyline(&format!("bold {}", class(place)), &[(0.0, 6.0), (24.0, 6.0)]))
            (marker(place, (12.0, 6.0), 3.6))
        }
    }
}

impl LineChart {
    /// The chart for a page with the report's style: drawn for narrow and for wide screens, of which
    /// the style shows one.
    pub fn inline(&self) -> Markup {
        markup! { (self.framed(&WIDE, "chart on-wide")) (self.framed(&NARROW, "chart on-narrow")) }
    }

    /// The chart for a page, as wide as a phone, so that wider screens show several side by side.
    pub fn small(&self) -> Markup {
        self.framed(&NARROW, "chart")
    }

    fn framed(&self, frame: &Frame, class: &str) -> Markup {
        markup! {
            svg class=(class) viewBox=(view(frame.wide, frame.high)) role="img" {
                title { (text::line(&self.title)) }
                (self.drawn(frame))
            }
        }
    }

    /// The lines that have a name, with their places.
    fn named(&self) -> impl Iterator<Item = (usize, &Line)> {
        let lines = self.lines.iter().enumerate();
        lines.filter(|(_, line)| !line.name.is_empty())
    }

    /// The names of the lines beside their colours; empty where no line has a name.
    pub fn keys(&self) -> Markup {
        markup! {
            @for (place, line) in self.named() {
                span class="one-key" {
                    @if self.stacked { (areas::key(place)) } @else { (key(place)) }
                    (text::line(&line.name))
                } " "
            }
            (marks::keys(&self.marks))
        }
    }

    /// The chart as a whole SVG file.
    pub fn svg(&self) -> String {
        let longest = self.lines.iter().map(|l| l.name.chars().count()).max();
        // The key stands beside the plot, where it covers no line.
        let (wide, high) = match longest.unwrap_or(0) {
            0 => (FILE.wide, FILE.high),
            n => {
                let keys = 17.0 * self.lines.len() as f64 + FILE.top + 12.0;
                (FILE.wide + 40.0 + 7.0 * n as f64, FILE.high.max(keys))
            }
        };
        let file = markup! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(view(wide, high)) role="img" {
                title { (text::line(&self.title)) }
                style { (PreEscaped(style())) }
                text class="t" x=(FILE.left) y="24" { (text::line(&self.title)) }
                (self.drawn(&FILE))
                @for (place, line) in self.named() {
                    @let x = FILE.right + 14.0;
                    @let y = FILE.top + 6.0 + 17.0 * place as f64;
                    (polyline(&format!("bold {}", class(place)), &[(x, y), (x + 24.0, y)]))
                    (marker(place, (x + 12.0, y), 3.2))
                    (label((x + 30.0, y + 4.0), Anchor::Start, &line.name))
                }
            }
        };
        file.into_string() + "\n"
    }

    fn drawn(&self, frame: &Frame) -> Markup {
        let shown = |&(x, y): &(f64, f64)| self.x.shows(x) && self.y.shows(y);
        let stack = areas::stack(self.lines.iter().map(|line| &line.points));
        let all: Vec<(f64, f64)> = match self.stacked {
            true => stack.iter().flatten().copied().collect(),
            false => self.lines.iter().flat_map(|l| &l.points).copied().collect(),
        };
        let x = all.iter().copied().filter(shown).map(|p| p.0);
        let x = self.x.scale(x, frame.left, frame.right);
        let ranges = self.lines.iter().flat_map(|line| &line.ranges);
        let values = all.iter().copied().filter(shown).map(|(_, y)| y);
        let ends = values.chain(ranges.flat_map(|&(low, high)| [low, high]));
        let y = ends.filter(|&end| self.y.shows(end));
        let y = self.y.scale(y, frame.floor, frame.top);
        // Marked, since an axis that does not begin at zero exaggerates differences.
        let foot = if y.starts_above_zero() {
            " (not from 0)"
        } else {
            ""
        };
        markup! {
            (marks::behind(&self.marks, x, (frame.top, frame.floor)))
            @if self.stacked { (areas::drawn(&stack, x, y)) }
            (grid(frame, x, y))
            @if !self.stacked {
                @for (place, line) in self.lines.iter().enumerate() {
                    (drawn(place, line, &shown, x, y))
                }
            }
            (marks::before(&self.marks, x, (frame.top, frame.floor)))
            (label((frame.right, frame.floor + 32.0), Anchor::End, &self.x.label))
            (label((4.0, frame.top - 12.0), Anchor::Start, &format!("{}{foot}", self.y.label)))
        }
    }
}

fn view(wide: f64, high: f64) -> String {
    format!("0 0 {wide} {high}")
}

fn drawn(
    place: usize,
    line: &Line,
    shown: &dyn Fn(&(f64, f64)) -> bool,
    x: Scale,
    y: Scale,
) -> Markup {
    let ranges = line.points.iter().zip(&line.ranges);
    let ranges = ranges.filter(|(point, (low, high))| low < high && shown(point));
    let places = line.points.iter().filter(|p| shown(p));
    let places: Vec<(f64, f64)> = places.map(|&(px, py)| (x.at(px), y.at(py))).collect();
    let interval = format!("interval s{}", place % STYLES);
    markup! {
        @for (&(at, _), &(low, high)) in ranges {
            (segment(&interval, (x.at(at), y.at(low)), (x.at(at), y.at(high))))
        }
        (polyline(&format!("bold {}", class(place)), &places))
        @if places.len() <= MARKED {
            @for &at in &places { (marker(place, at, 3.0)) }
        }
    }
}

fn grid(frame: &Frame, x: Scale, y: Scale) -> Markup {
    let mut free = 0.0;
    let mut numbers = Vec::new();
    for tick in x.ticks(6) {
        let (text, at) = (tick_text(tick), x.at(tick));
        // Neighbouring numbers would overlap, and the last one would cross the edge.
        let half = 3.5 * text.len() as f64;
        if at - half > free && at + half < frame.wide {
            free = at + half + 3.0;
            numbers.push((at, text));
        }
    }
    markup! {
        @for tick in y.ticks(5) {
            @let at = y.at(tick);
            (segment("grid", (frame.left, at), (frame.right, at)))
            (label((frame.left - 6.0, at + 4.0), Anchor::End, &tick_text(tick)))
        }
        @for (at, text) in numbers {
            (label((at, frame.floor + 16.0), Anchor::Middle, &text))
        }
        (segment("axis", (frame.left, frame.floor), (frame.right, frame.floor)))
    }
}

/// The style of a file that stands alone, which is that of the page.
fn style() -> String {
    let coloured = |dark: bool| {
        let mut out = String::new();
        for (place, (light, night)) in COLOURS.iter().enumerate() {
            let colour = if dark { night } else { light };
            let _ = write!(
                out,
                ".s{place}{{stroke:{colour}}}.dot.s{place}{{fill:{colour};stroke:none}}\
                 .area.s{place}{{fill:{colour}}}"
            );
        }
        out
    };
    format!(
        "svg{{background:#fff}}text{{font:12px system-ui,sans-serif;fill:#1a1a1a}}\
         .t{{font-size:15px;font-weight:600}}.grid{{stroke:#d6d6d6}}.axis{{stroke:#595959}}\
         .bold{{fill:none;stroke-width:1.8}}.interval{{stroke-width:1.5;opacity:.7}}\
         .span{{fill:#8a7f00;opacity:.13}}.mark{{stroke-width:1.2}}.mark.end{{stroke:#a83200}}\
         .mark.hint{{stroke:#00664a;stroke-dasharray:4 3}}.area{{stroke:none;opacity:.8}}\
         .round1{{stroke-dasharray:6 3}}.round2{{stroke-dasharray:2 3}}{}\
         @media (prefers-color-scheme:dark){{svg{{background:#15171a}}text{{fill:#e8e8e8}}\
         .grid{{stroke:#3a3f45}}.axis{{stroke:#a8adb3}}{}}}",
        coloured(false),
        coloured(true)
    )
}
