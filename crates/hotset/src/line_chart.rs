//! A line chart as an SVG file that stands alone, readable on light and dark.
use report::format::number;
use report::format::plot::Scale;
use std::fmt::Write as _;

/// An axis fits its values.
pub struct Axis {
    label: String,
    log: bool,
}

impl Axis {
    /// From zero on, where no value is below.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            log: false,
        }
    }

    /// Values that are not above zero are left out.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis {
            label: label.into(),
            log: true,
        }
    }

    fn scale(&self, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            low = low.min(value);
            high = high.max(value);
        }
        match (self.log, low.is_finite()) {
            (true, true) => Scale::log(low, high, from, to),
            (true, false) => Scale::log(1.0, 10.0, from, to),
            (false, true) => Scale::linear(low.min(0.0), high, from, to),
            (false, false) => Scale::linear(0.0, 1.0, from, to),
        }
    }
}

/// Lines with names; a single nameless one needs no key.
pub struct LineChart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

const WIDE: f64 = 640.0;
const HIGH: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 40.0;
const FLOOR: f64 = 345.0;

/// Told apart by people who see few colours, on light and dark; dashes tell the second round.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#4aa3df"),
    ("#d55e00", "#f07f33"),
    ("#009e73", "#1fbf8f"),
    ("#b97f00", "#e69f00"),
    ("#b85c8e", "#d893ba"),
    ("#3a9bd6", "#9ad7f7"),
    ("#333", "#c4c4c4"),
    ("#8a7f00", "#f0e442"),
];

impl LineChart {
    /// The whole file.
    pub fn svg(&self) -> String {
        let shown = |&(x, y): &(f64, f64)| {
            let fits = |v: f64, axis: &Axis| v.is_finite() && (v > 0.0 || !axis.log);
            fits(x, &self.x) && fits(y, &self.y)
        };
        let points = || self.lines.iter().flat_map(|l| &l.1).copied().filter(shown);
        let x = self.x.scale(points().map(|p| p.0), LEFT, RIGHT);
        let y = self.y.scale(points().map(|p| p.1), FLOOR, TOP);
        let mut body = grid(x, y);
        for (at, (_, points)) in self.lines.iter().enumerate() {
            let places: Vec<String> = points
                .iter()
                .filter(|p| shown(p))
                .map(|&(px, py)| format!("{:.1},{:.1}", x.at(px), y.at(py)))
                .collect();
            let dash = if at >= COLOURS.len() { " dash" } else { "" };
            let _ = write!(
                body,
                r#"<polyline class="l s{}{dash}" points="{}"/>"#,
                at % COLOURS.len(),
                places.join(" ")
            );
        }
        self.words(&mut body);
        let mut style = String::new();
        for (at, (light, _)) in COLOURS.iter().enumerate() {
            let _ = write!(style, ".s{at}{{stroke:{light}}}");
        }
        style.push_str("@media (prefers-color-scheme:dark){svg{background:#15171a}text{fill:#e8e8e8}.g{stroke:#3a3f45}.a{stroke:#a8adb3}");
        for (at, (_, dark)) in COLOURS.iter().enumerate() {
            let _ = write!(style, ".s{at}{{stroke:{dark}}}");
        }
        style.push('}');
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img"><title>{}</title><style>svg{{background:#fff}}text{{font:12px system-ui,sans-serif;fill:#1a1a1a}}.t{{font-size:15px;font-weight:600}}.g{{stroke:#d6d6d6}}.a{{stroke:#595959}}.l{{fill:none;stroke-width:1.8}}.dash{{stroke-dasharray:5 3}}{style}</style>{body}</svg>
"#,
            escaped(&self.title)
        )
    }

    fn words(&self, body: &mut String) {
        let middle = (LEFT + RIGHT) / 2.0;
        let _ = write!(
            body,
            r#"<text class="t" x="{LEFT}" y="24">{}</text><text x="{middle}" y="{}" text-anchor="middle">{}</text><text transform="translate(14 {}) rotate(-90)" text-anchor="middle">{}</text>"#,
            escaped(&self.title),
            HIGH - 16.0,
            escaped(&self.x.label),
            (TOP + FLOOR) / 2.0,
            escaped(&self.y.label)
        );
        for (at, (name, _)) in self.lines.iter().enumerate() {
            if name.is_empty() {
                continue;
            }
            let high = TOP + 14.0 + 17.0 * at as f64;
            let dash = if at >= COLOURS.len() { " dash" } else { "" };
            let _ = write!(
                body,
                r#"<line class="l s{}{dash}" x1="{}" x2="{RIGHT}" y1="{high}" y2="{high}"/><text x="{}" y="{}" text-anchor="end">{}</text>"#,
                at % COLOURS.len(),
                RIGHT - 26.0,
                RIGHT - 32.0,
                high + 4.0,
                escaped(name)
            );
        }
    }
}

fn grid(x: Scale, y: Scale) -> String {
    let mut body = String::new();
    for tick in y.ticks(5) {
        let at = y.at(tick);
        let _ = write!(
            body,
            r#"<line class="g" x1="{LEFT}" x2="{RIGHT}" y1="{at:.1}" y2="{at:.1}"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 6.0,
            at + 4.0,
            tick_text(tick)
        );
    }
    for tick in x.ticks(6) {
        let _ = write!(
            body,
            r#"<text x="{:.1}" y="{}" text-anchor="middle">{}</text>"#,
            x.at(tick),
            FLOOR + 17.0,
            tick_text(tick)
        );
    }
    let _ = write!(
        body,
        r#"<line class="a" x1="{LEFT}" x2="{RIGHT}" y1="{FLOOR}" y2="{FLOOR}"/>"#
    );
    body
}

/// Short: 20k, 1.5M.
fn tick_text(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // Sums of steps may be a hair off.
    format!("{}{unit}", number::plain((scaled * 1e9).round() / 1e9))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
