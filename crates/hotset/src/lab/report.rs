//! The report of a run, on standard output.
use crate::shell::{document, error, line, out, outln, verbose};
use anyhow::Result;
use lab::host;
use lab::run::{display, Summary};
use names::shown;
use protocol::record::Outcome;
use report::{Study, Written};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes and shows the reports of finished runs.
///
/// # Errors
/// A folder has no run, or a report cannot be written.
pub fn again(folders: &[PathBuf], as_json: bool) -> Result<ExitCode> {
    let mut well = true;
    for folder in folders {
        verbose(format!("results: {}", shown(folder)));
        let written = report::write(folder)?;
        well &= written.study.all_well();
        match as_json {
            true => outln!("{}", line("lab.report", 1, &fields(folder, &written))?)?,
            false => text(&written)?,
        }
    }
    Ok(ExitCode::from(u8::from(!well)))
}

/// Reports on the trials of a run; returns whether all is well.
///
/// # Errors
/// The report cannot be written.
pub fn told(summary: &Summary, as_json: bool) -> Result<bool> {
    let written = report::write(&summary.dir)?;
    of_run(&written, summary, as_json)?;
    for (arm, repetition, outcome) in &summary.trials {
        if *outcome != Outcome::Ok {
            let message = display::message(outcome);
            error(format!("{arm}-{repetition}: {message}"));
        }
    }
    let promises = written.study.promises.iter().all(|promise| promise.holds);
    Ok(promises && summary.all_ok())
}

/// Shows the report of a run that has just ended.
///
/// # Errors
/// Standard output cannot be written.
fn of_run(written: &Written, summary: &Summary, as_json: bool) -> Result<()> {
    if !as_json {
        return text(written);
    }
    let row = |(arm, repetition, outcome): &(String, u32, Outcome)| json!({ "arm": arm, "repetition": repetition, "outcome": outcome });
    let mut whole = fields(&summary.dir, written);
    whole["trials"] = summary.trials.iter().map(row).collect();
    outln!("{}", document("lab.run", 1, &whole)?)
}

fn fields(folder: &Path, written: &Written) -> Value {
    let Study { arms, promises, .. } = &written.study;
    json!({
        "dir": folder, "html": written.html, "markdown": written.markdown, "study": written.json,
        "planned": arms.iter().map(|arm| arm.planned).sum::<u32>(),
        "ok": arms.iter().map(|arm| arm.ok).sum::<u32>(),
        "well": written.study.all_well(), "promises": promises,
    })
}

/// The report as text. Printing takes away the colours where nobody wants them.
fn text(written: &Written) -> Result<()> {
    let width = host::terminal_width();
    out!("{}", report::terminal(&written.study, width, true))?;
    outln!("{}", shown(&written.html))
}
