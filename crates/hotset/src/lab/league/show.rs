//! The standings as text, and the cells of their table.
use names::escaped;
use report::format::number;
use report::league::Standing;

/// The heads of the columns.
pub const HEADS: [&str; 8] = [
    "lost s/min",
    "still s/min",
    "p99",
    "longest",
    "in memory",
    "work",
    "killed/min",
    "to the kill",
];

/// A number with its unit, or a dash.
pub fn value(value: Option<f64>, unit: &str) -> String {
    match value {
        Some(value) => number::value(value, unit),
        None => "–".into(),
    }
}

/// The cells of a challenger, in the order of [`HEADS`].
pub fn cells(standing: &Standing) -> [String; 8] {
    let ratio = |ratio: f64| format!("{ratio:.2}x");
    let lost = match (standing.lost_s_per_min, standing.lost_range) {
        (None, _) => "–".into(),
        (Some(lost), None) => format!("{lost:.1}"),
        (Some(lost), Some((least, most))) => format!("{lost:.1} [{least:.1}-{most:.1}]"),
    };
    let tenth = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.1}"));
    [
        lost,
        tenth(standing.still_s_per_min),
        value(standing.p99_ms, "ms"),
        value(standing.longest_ms, "ms"),
        value(standing.resident, "%"),
        standing.work_ratio.map_or("–".into(), ratio),
        tenth(standing.innocents_per_min),
        value(standing.kill_ms, "ms"),
    ]
}

/// The standings in columns. Where they do not fit, the last columns are left out: the page has them.
pub fn table(standings: &[Standing], width: usize) -> String {
    let mut rows = vec![[
        vec![String::new(), "challenger".into()],
        HEADS.map(String::from).to_vec(),
    ]
    .concat()];
    for standing in standings {
        let first = vec![format!("{}.", standing.place), escaped(&standing.label)];
        rows.push([first, cells(standing).to_vec()].concat());
    }
    let length = |text: &String| text.chars().count();
    let columns = rows[0].len();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .map(|row| length(&row[column]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut shown = 3;
    while shown < columns && widths[..=shown].iter().sum::<usize>() + 2 * shown <= width {
        shown += 1;
    }
    let mut text = String::new();
    for row in rows {
        for column in 0..shown {
            let pad = " ".repeat(widths[column] - length(&row[column]));
            let gap = if column == 0 { "" } else { "  " };
            // Names are on the left, numbers on the right.
            match column {
                1 => text += &format!("{gap}{}{pad}", row[column]),
                _ => text += &format!("{gap}{pad}{}", row[column]),
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text + "\nLost: stood still, and 10 s for each innocent killed. Work against nothing's.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(place: usize, label: &str, lost: f64) -> Standing {
        Standing {
            place,
            name: label.into(),
            label: label.into(),
            kernel: String::new(),
            lost_s_per_min: Some(lost),
            lost_range: Some((lost, lost + 1.0)),
            still_s_per_min: Some(lost),
            p99_ms: Some(120.0),
            longest_ms: None,
            resident: Some(0.5),
            work_ratio: Some(1.0),
            innocents_per_min: Some(0.0),
            kill_ms: None,
            failed: 0,
            absent: 0,
            scores: Vec::new(),
        }
    }

    #[test]
    fn the_table_fits_its_width_and_keeps_the_order() {
        let all = [
            standing(1, "the series", 0.0),
            standing(2, "a\u{1b}b", 12.34),
        ];
        for width in [40, 80, 200] {
            let text = table(&all, width);
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines[1].starts_with("1.  the series"), "{text}");
            assert!(lines[2].contains("12.3 [12.3-13.3]"), "{text}");
            assert!(!text.contains('\u{1b}'));
            for line in &lines[..3] {
                assert!(line.chars().count() <= width, "{width}: {text}");
            }
        }
        assert!(table(&all, 200).contains("to the kill"));
    }
}
