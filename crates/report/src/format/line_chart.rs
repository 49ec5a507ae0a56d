//! A line chart: in a page, whose style it takes, or as an SVG file that stands alone; readable on
//! light and dark.
use super::plot::Scale;
use super::svg::{marker, tick_text, STYLES};
use super::text::{self, html as esc};
use std::fmt::Write as _;

/// An axis fits its values.
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
    /// From zero on, where no value is below.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis::new(label, Kind::Linear)
    }

    /// From zero on too, unless all values lie far from it and close to each other.
    pub fn close(label: impl Into<String>) -> Axis {
        Axis::new(label, Kind::Close)
    }

    /// Values that are not above zero are left out.
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

/// One of the chart's lines.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// A single nameless line needs no key.
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Half the height of the bar at each point; none where values are exact.
    pub errors: Vec<f64>,
}

impl Line {
    /// Of exact values.
    pub fn exact(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line {
            name: name.into(),
            points,
            errors: Vec::new(),
        }
    }
}

pub struct LineChart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
}

/// Where the parts of a drawing are, in its units.
struct Frame {
    wide: f64,
    high: f64,
    left: f64,
    right: f64,
    top: f64,
    floor: f64,
}

/// About a phone's width, so that text keeps its size there.
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

/// The page's, told apart by people who see few colours, on light and dark.
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
/// A line with more points than these has no markers.
const MARKED: usize = 24;

/// Colour, and dashes that tell the second and third line of a colour.
fn class(place: usize) -> String {
    format!("s{} round{}", place % STYLES, place / STYLES % 3)
}

/// The line's colour, dashes and marker alone, for a table's row or a key.
pub fn key(place: usize) -> String {
    format!(
        r#"<svg class="key line" viewBox="0 0 24 12" aria-hidden="true"><polyline class="bold {}" points="0,6 24,6"/>{}</svg>"#,
        class(place),
        marker(place, 12.0, 6.0, 3.6)
    )
}

impl LineChart {
    /// For a page with the report's style: drawn for narrow and for wide screens, of which the style
    /// shows one.
    pub fn inline(&self) -> String {
        self.framed(&WIDE, " on-wide") + &self.framed(&NARROW, " on-narrow")
    }

    /// For a page too: as wide as a phone, so that several stand beside each other elsewhere.
    pub fn small(&self) -> String {
        self.framed(&NARROW, "")
    }

    fn framed(&self, frame: &Frame, class: &str) -> String {
        format!(
            r#"<svg class="chart{class}" viewBox="0 0 {} {}" role="img"><title>{}</title>{}</svg>"#,
            frame.wide,
            frame.high,
            esc(&text::line(&self.title)),
            self.drawn(frame)
        )
    }

    /// Names beside their colours; nothing where no line has a name.
    pub fn keys(&self) -> String {
        let named = self.lines.iter().enumerate();
        let named = named.filter(|(_, line)| !line.name.is_empty());
        let keys = named.map(|(place, line)| {
            let name = esc(&text::line(&line.name));
            format!(r#"<span class="one-key">{}{name}</span> "#, key(place))
        });
        keys.collect()
    }

    /// A whole file that stands alone.
    pub fn svg(&self) -> String {
        let longest = self.lines.iter().map(|l| l.name.chars().count()).max();
        let longest = longest.unwrap_or(0);
        // Beside the plot, for a key on it would lie on lines.
        let wide = match longest {
            0 => FILE.wide,
            n => FILE.wide + 40.0 + 7.0 * n as f64,
        };
        let keys = 17.0 * self.lines.len() as f64 + FILE.top + 12.0;
        let high = if longest == 0 {
            FILE.high
        } else {
            FILE.high.max(keys)
        };
        let mut body = format!(
            r#"<text class="t" x="{}" y="24">{}</text>{}"#,
            FILE.left,
            esc(&text::line(&self.title)),
            self.drawn(&FILE)
        );
        let named = self.lines.iter().enumerate();
        for (place, line) in named.filter(|(_, line)| !line.name.is_empty()) {
            let (x, y) = (FILE.right + 14.0, FILE.top + 6.0 + 17.0 * place as f64);
            let _ = write!(
                body,
                r#"<polyline class="bold {}" points="{x},{y} {},{y}"/>{}<text x="{}" y="{}">{}</text>"#,
                class(place),
                x + 24.0,
                marker(place, x + 12.0, y, 3.2),
                x + 30.0,
                y + 4.0,
                esc(&text::line(&line.name))
            );
        }
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img"><title>{}</title><style>{}</style>{body}</svg>
"#,
            esc(&text::line(&self.title)),
            style()
        )
    }

    fn drawn(&self, frame: &Frame) -> String {
        let shown = |&(x, y): &(f64, f64)| self.x.shows(x) && self.y.shows(y);
        let points = || self.lines.iter().flat_map(|l| &l.points).copied();
        let x = points().filter(shown).map(|p| p.0);
        let x = self.x.scale(x, frame.left, frame.right);
        let ends = self.lines.iter().flat_map(|line| {
            let errors = line.errors.iter().copied().chain(std::iter::repeat(0.0));
            let points = line.points.iter().zip(errors).filter(|(p, _)| shown(p));
            points.flat_map(|(&(_, y), error)| [y - error, y + error, y])
        });
        let y = ends.filter(|&end| self.y.shows(end));
        let y = self.y.scale(y, frame.floor, frame.top);
        let mut body = grid(frame, x, y);
        for (place, line) in self.lines.iter().enumerate() {
            draw(&mut body, place, line, &shown, x, y);
        }
        let _ = write!(
            body,
            r#"<text x="{}" y="{}" text-anchor="end">{}</text><text x="4" y="{}">{}{}</text>"#,
            frame.right,
            frame.floor + 32.0,
            esc(&self.x.label),
            frame.top - 12.0,
            esc(&self.y.label),
            // Who takes its foot for zero would see more of a difference than there is.
            if y.starts_above_zero() {
                " (not from 0)"
            } else {
                ""
            }
        );
        body
    }
}

fn draw(
    body: &mut String,
    place: usize,
    line: &Line,
    shown: &dyn Fn(&(f64, f64)) -> bool,
    x: Scale,
    y: Scale,
) {
    for (&(at, value), &error) in line.points.iter().zip(&line.errors) {
        if error > 0.0 && shown(&(at, value)) {
            let _ = write!(
                body,
                r#"<line class="interval s{}" x1="{2:.1}" x2="{2:.1}" y1="{1:.1}" y2="{3:.1}"/>"#,
                place % STYLES,
                y.at(value - error),
                x.at(at),
                y.at(value + error)
            );
        }
    }
    let places = line.points.iter().filter(|p| shown(p));
    let places: Vec<(f64, f64)> = places.map(|&(px, py)| (x.at(px), y.at(py))).collect();
    if places.len() > 1 {
        let words: Vec<String> = places
            .iter()
            .map(|(px, py)| format!("{px:.1},{py:.1}"))
            .collect();
        let _ = write!(
            body,
            r#"<polyline class="bold {}" points="{}"/>"#,
            class(place),
            words.join(" ")
        );
    }
    if places.len() <= MARKED {
        for (px, py) in places {
            body.push_str(&marker(place, px, py, 3.0));
        }
    }
}

fn grid(frame: &Frame, x: Scale, y: Scale) -> String {
    let (left, right, floor) = (frame.left, frame.right, frame.floor);
    let mut body = String::new();
    for tick in y.ticks(5) {
        let at = y.at(tick);
        let _ = write!(
            body,
            r#"<line class="grid" x1="{left}" x2="{right}" y1="{at:.1}" y2="{at:.1}"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            left - 6.0,
            at + 4.0,
            tick_text(tick)
        );
    }
    let mut free = 0.0;
    for tick in x.ticks(6) {
        let (words, at) = (tick_text(tick), x.at(tick));
        // Neighbours would print over each other, and the last beyond the edge.
        let half = 3.5 * words.len() as f64;
        if at - half > free && at + half < frame.wide {
            free = at + half + 3.0;
            let _ = write!(
                body,
                r#"<text x="{at:.1}" y="{}" text-anchor="middle">{words}</text>"#,
                floor + 16.0
            );
        }
    }
    let _ = write!(
        body,
        r#"<line class="axis" x1="{left}" x2="{right}" y1="{floor}" y2="{floor}"/>"#
    );
    body
}

/// What the page's style says, for a file that has no page.
fn style() -> String {
    let coloured = |dark: bool| {
        let mut out = String::new();
        for (place, (light, night)) in COLOURS.iter().enumerate() {
            let colour = if dark { night } else { light };
            let _ = write!(
                out,
                ".s{place}{{stroke:{colour}}}.dot.s{place}{{fill:{colour};stroke:none}}"
            );
        }
        out
    };
    format!(
        "svg{{background:#fff}}text{{font:12px system-ui,sans-serif;fill:#1a1a1a}}\
         .t{{font-size:15px;font-weight:600}}.grid{{stroke:#d6d6d6}}.axis{{stroke:#595959}}\
         .bold{{fill:none;stroke-width:1.8}}.interval{{stroke-width:1.5;opacity:.7}}\
         .round1{{stroke-dasharray:6 3}}.round2{{stroke-dasharray:2 3}}{}\
         @media (prefers-color-scheme:dark){{svg{{background:#15171a}}text{{fill:#e8e8e8}}\
         .grid{{stroke:#3a3f45}}.axis{{stroke:#a8adb3}}{}}}",
        coloured(false),
        coloured(true)
    )
}
