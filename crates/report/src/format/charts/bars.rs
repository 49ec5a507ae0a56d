//! A bar chart for a page.
use super::scale::Scale;
use super::svg::{frame, label, name, segment, Anchor};
use crate::format::number;
use maud::{html as markup, Markup};

/// The name, the number and the shown number of a row.
type Bar = (String, f64, String);

/// A bar for each row, in place of a line of one point.
pub fn bars(title: &str, rows: &[Bar]) -> Markup {
    const ROW: f64 = 20.0;
    let longest = |length: &dyn Fn(&Bar) -> usize| rows.iter().map(length).max().unwrap_or(0);
    let left = 10.0 + 6.2 * longest(&|row| row.0.chars().count()) as f64;
    let right = 360.0 - 8.0 - 6.2 * longest(&|row| row.2.chars().count()) as f64;
    let high = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    let scale = Scale::linear(0.0, high, left, right.max(left + 40.0));
    let body = markup! {
        @for (place, (title, value, shown)) in rows.iter().enumerate() {
            @let y = ROW * (place as f64 + 0.7);
            @let end = scale.at(*value);
            (name((left - 6.0, y + 4.0), "end", title))
            (segment("bar", (left, y), (end, y)))
            (label((end + 6.0, y + 4.0), Anchor::Start, shown))
        }
    };
    let about = rows
        .iter()
        .map(|(name, value, _)| format!("{name} {}", number::plain(*value)));
    let about: Vec<String> = about.collect();
    frame(
        title,
        &about.join("; "),
        ROW * (rows.len() as f64 + 0.5),
        &body,
    )
}
