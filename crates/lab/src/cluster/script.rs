//! The script that each element of the array runs.
use super::parts::Parts;
use anyhow::{Context, Result};
use cluster::slurm::ELEMENT;
use names::quoted;
use std::path::{Path, PathBuf};

/// What the elements of the array run, and how they are submitted.
pub struct Job<'a> {
    /// The command line of the whole run, without variables and without its output: `hotset lab run ...`.
    pub words: &'a str,
    /// The program `hotset`, on the hosts.
    pub program: PathBuf,
    /// More options of sbatch.
    pub with: &'a [String],
}

/// Writes the script. Slurm hands the variables of this environment on.
///
/// # Errors
/// The script cannot be written, or a path is no UTF-8.
pub fn write(job: &Job<'_>, parts: &Parts<'_>) -> Result<PathBuf> {
    let here = std::env::current_dir().context("the current folder")?;
    let text = |path: &Path| -> Result<String> {
        let text = path.to_str();
        let text =
            text.with_context(|| format!("{}: the name is not UTF-8", names::shown(path)))?;
        Ok(quoted(text))
    };
    // The words have paths as the user wrote them. A repetition that its host lost is made again beside its rest.
    let text = format!(
        "#!/bin/sh\ncd {} || exit\necho \"host: ${{SLURMD_NODENAME:-$(hostname)}}\"\nhotset() {{ exec {} \"$@\"; }}\n{} --only-repetition {ELEMENT} --force --output {}/{ELEMENT}\n",
        text(&here)?,
        text(&job.program)?,
        job.words,
        text(parts.dir())?,
    );
    let script = parts.dir().join("array.sh");
    std::fs::write(&script, text).with_context(|| names::shown(&script).to_string())?;
    Ok(script)
}
