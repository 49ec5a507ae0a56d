//! Writes the report of a run beside its results.
use crate::{format, load, study, Study};
use anyhow::{bail, Context, Result};
use names::shown;
use outfile::Rules;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The name and version of the fields of `study.json`. The version grows when a field goes or changes its
/// meaning.
pub const SCHEMA: &str = "hotset.lab.study.1";

/// `study.json`.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    study: &'a Study,
}

/// The files of a report, and the study in them.
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
/// The errors of [`load`], and of writing a file; the error names the file.
pub fn write(dir: &Path) -> Result<Written> {
    let study = study(&load(dir)?);
    let json = serde_json::to_string_pretty(&Document {
        schema: SCHEMA,
        study: &study,
    });
    let json = json.context("the study cannot become JSON")?;
    let written = Written {
        html: dir.join("report.html"),
        markdown: dir.join("report.md"),
        json: dir.join("study.json"),
        study,
    };
    // All are checked before any is written.
    for path in [&written.json, &written.markdown, &written.html] {
        ours(path)?;
    }
    put(&written.json, &(json + "\n"))?;
    let markdown = format::markdown::markdown(&written.study);
    put(&written.markdown, &markdown)?;
    put(&written.html, &format::html::html(&written.study))?;
    Ok(written)
}

/// Checks that an earlier report, and no other file, is replaced. Every report names hotset's version between
/// dots, and every study its run.
fn ours(path: &Path) -> Result<()> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        text => text.with_context(|| shown(path).to_string())?,
    };
    let text = String::from_utf8_lossy(&text);
    if !text.contains("· hotset ") && !text.contains("\"hotset_version\"") {
        bail!(
            "{}: the file is no report of hotset, and would be lost; move it elsewhere",
            shown(path)
        );
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> Result<()> {
    let rules = Rules {
        force: true,
        inputs: &[],
    };
    Ok(outfile::write(path, rules, text)?)
}
