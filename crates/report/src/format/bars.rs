//! A bar chart: rows of one number each, for a page.
use super::plot::Scale;
use super::text::{self, html as esc};
use super::{number, svg};
use std::fmt::Write as _;

/// Rows of one number each, the length of a bar: what a line of one point would be.
pub fn bars(title: &str, rows: &[(String, f64, String)]) -> String {
    const ROW: f64 = 20.0;
    let longest = |words: &dyn Fn(&(String, f64, String)) -> usize| {
        rows.iter().map(words).max().unwrap_or(0) as f64
    };
    let left = 10.0 + 6.2 * longest(&|row| row.0.chars().count());
    let right = 360.0 - 8.0 - 6.2 * longest(&|row| row.2.chars().count());
    let high = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    let scale = Scale::linear(0.0, high, left, right.max(left + 40.0));
    let mut body = String::new();
    for (place, (name, value, said)) in rows.iter().enumerate() {
        let y = ROW * (place as f64 + 0.7);
        let end = scale.at(*value);
        let _ = write!(
            body,
            r#"<text class="name" x="{:.1}" y="{:.1}" text-anchor="end">{}</text><line class="bar" x1="{left:.1}" x2="{end:.1}" y1="{y:.1}" y2="{y:.1}"/><text x="{:.1}" y="{:.1}">{}</text>"#,
            left - 6.0,
            y + 4.0,
            esc(&text::line(name)),
            end + 6.0,
            y + 4.0,
            esc(said)
        );
    }
    let about: Vec<String> = rows
        .iter()
        .map(|(name, value, _)| format!("{name} {}", number::plain(*value)))
        .collect();
    svg::frame(
        title,
        &about.join("; "),
        ROW * (rows.len() as f64 + 0.5),
        &body,
    )
}
