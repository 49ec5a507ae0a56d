//! A run's report, written next to its raw results.
use crate::{format, load, study, Study};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// What was written, and what it says.
#[derive(Clone, Debug)]
pub struct Written {
    pub html: PathBuf,
    pub markdown: PathBuf,
    pub json: PathBuf,
    pub study: Study,
}

/// Reads the run in `dir` and writes `report.html`, `report.md` and `study.json` there, each whole
/// or not at all.
///
/// # Errors
/// Those of [`load`], and of writing: the error names the file.
pub fn write(dir: &Path) -> Result<Written> {
    let study = study(&load(dir)?);
    let json = serde_json::to_string_pretty(&study).context("the study cannot become JSON")?;
    let written = Written {
        html: dir.join("report.html"),
        markdown: dir.join("report.md"),
        json: dir.join("study.json"),
        study,
    };
    put(&written.json, &(json + "\n"))?;
    put(
        &written.markdown,
        &format::markdown::markdown(&written.study),
    )?;
    put(&written.html, &format::html::html(&written.study))?;
    Ok(written)
}

fn put(path: &Path, text: &str) -> Result<()> {
    let unfinished = path.with_extension("unfinished");
    let result =
        std::fs::write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, path));
    if result.is_err() {
        // The disk may be full: a half-written file would only keep it so.
        let _ = std::fs::remove_file(&unfinished);
    }
    result.with_context(|| format!("cannot write {}", path.display()))
}
