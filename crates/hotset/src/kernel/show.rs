//! What `hotset kernel` prints: tables of checks and of the cache.
use anyhow::Result;
use kbuild::build;
use kbuild::cache::Cache;
use kbuild::check::{self, Report, Verdict};
use kbuild::clean::Item;
use kbuild::{debian, rooms, series, source, version, Flavour};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// One line a patch, then what failed and what was not run, with reasons.
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
    let what = match report.flavour {
        Flavour::Swappiness => "Swappiness series",
        Flavour::Both => "Swappiness series on top of the protection series",
        Flavour::Generations => "Test bed's generations",
        _ => "Series",
    };
    let mut text = format!("{what} on Linux {} ({})\n", report.version, report.arch);
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
                // Nothing is amiss: it stands in the last one's row.
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

/// What was removed from the cache, or would be.
pub fn cleaned(items: &[Item], dry_run: bool) -> String {
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let mut text = String::new();
    for item in items {
        let (size, path) = (megabytes(item.bytes), item.path.display());
        text.push_str(&format!("{size:>10}  {path} ({})\n", item.why));
    }
    let sum = megabytes(items.iter().map(|item| item.bytes).sum());
    let verb = if dry_run { "would free" } else { "freed" };
    text.push_str(&format!("{verb} {sum}\n"));
    text
}

/// What the cache, `kernel/series` and `kernel/testbed` hold.
pub fn list(as_json: bool) -> Result<ExitCode> {
    let cache = Cache::of_user()?;
    let sources = source::all_cached(&cache)?;
    let kernels = build::all(&cache)?;
    let debians = debian::all(&cache);
    let kernel_dir = rooms::kernel_dir().ok();
    let series: Vec<(String, PathBuf, Option<usize>)> = kernel_dir
        .iter()
        .flat_map(|dir| {
            version::KNOWN.iter().flat_map(move |line| {
                let series = [
                    ("series", None),
                    ("series", Some("swappiness")),
                    ("testbed", Some("generations")),
                    ("testbed", Some("um")),
                ];
                series.map(|(room, series)| rooms::series_dir(dir, room, *line, series))
            })
        })
        .map(|dir| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            let patches = series::load(&dir).ok().map(|patches| patches.len());
            (name.into_owned(), dir, patches)
        })
        .collect();
    if as_json {
        let series: Vec<_> = series
            .iter()
            .map(|(line, dir, patches)| json!({ "series": line, "dir": dir, "patches": patches }))
            .collect();
        let all = json!({ "cache": cache.root(), "sources": sources, "kernels": kernels,
            "debian": debians,
            "series": series });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("Cache: {}", cache.root().display());
    println!("Sources:");
    for source in &sources {
        let from = source.package.as_deref().unwrap_or_default();
        println!(
            "  {:8} {from}  {}",
            source.version.to_string(),
            source.dir.display()
        );
    }
    if sources.is_empty() {
        println!("  none; `hotset kernel fetch` gets one");
    }
    println!("Kernels:");
    for kernel in &kernels {
        println!(
            "  {:36} {:8} {}",
            kernel.label,
            kernel.arch,
            kernel.image.display()
        );
    }
    for image in &debians {
        println!(
            "  {:36} {:8} {}",
            image.label,
            "x86_64",
            image.image.display()
        );
    }
    if kernels.is_empty() && debians.is_empty() {
        println!("  none; `hotset kernel build` makes one");
    }
    println!("Series:");
    for (line, dir, patches) in &series {
        let what = match patches {
            Some(count) => format!("{count} patches"),
            None => "none".into(),
        };
        println!("  {line:16} {what:12} {}", dir.display());
    }
    Ok(ExitCode::SUCCESS)
}
