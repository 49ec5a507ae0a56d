//! The table of `hotset kernel check`.
use kbuild::check::{self, Report, Verdict};
use kbuild::Flavour;

/// One line a patch, then each test that failed or was not run, with the reason.
pub fn table(report: &Report) -> String {
    let mut rows = vec![vec!["patch".to_string()]];
    rows[0].extend(check::TESTS.map(String::from));
    for patch in &report.patches {
        let mut row = vec![patch.patch.clone()];
        row.extend(patch.verdicts.iter().map(Verdict::cell));
        row.resize(rows[0].len(), "-".into());
        rows.push(row);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let series = match report.flavour {
        Flavour::Swappiness => "Swappiness series",
        Flavour::Both => "Swappiness series on top of the protection series",
        Flavour::Generations => "Generations of the test bed",
        Flavour::Foreign => "Foreign patches",
        _ => "Series",
    };
    let mut text = format!("{series} on Linux {} ({})\n", report.version, report.arch);
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    for patch in &report.patches {
        for (test, verdict) in check::TESTS.iter().zip(&patch.verdicts) {
            let (word, why) = match verdict {
                Verdict::Ok { .. } => continue,
                // The row of the last patch has the result.
                Verdict::NotRun { why } if why == check::WITH_THE_LAST => continue,
                Verdict::NotRun { why } => ("not run", why),
                Verdict::Failed { why } => ("FAILED", why),
            };
            let why = why.replace('\n', "\n    ");
            text.push_str(&format!("{}: {test}: {word}: {why}\n", patch.patch));
        }
    }
    text
}
