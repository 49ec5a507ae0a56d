//! The files of an array: a line of tasks for each element, and the script that an element runs.
use super::batch::Batch;
use crate::folder::{write, Folder};
use anyhow::Result;
use names::quoted;
use std::path::{Path, PathBuf};

/// The files of a batch.
pub(super) struct Array {
    pub script: PathBuf,
    pub log: PathBuf,
}

impl Array {
    /// Writes the files. `line` is what a shell replaces by the number of the element, from 0.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(folder: &Folder, batch: &Batch, program: &Path, line: &str) -> Result<Array> {
        let list = list(folder, batch)?;
        let file = |ending| folder.engine().join(format!("{}.{ending}", batch.name));
        let (script, log) = (file("sh"), file("log"));
        let mut words = vec![program.display().to_string()];
        words.extend(arguments(folder, batch, &list));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let text = format!(
            "#!/bin/sh\nexec {} --line {line} 2>>{}\n",
            words.join(" "),
            quoted(&log.display().to_string())
        );
        write(&script, |to| to.write_all(text.as_bytes()))?;
        Ok(Array { script, log })
    }
}

/// Writes the list of an array's tasks.
///
/// # Errors
/// The file cannot be written.
pub(super) fn list(folder: &Folder, batch: &Batch) -> Result<PathBuf> {
    let list = folder.engine().join(format!("{}.tasks", batch.name));
    let line = |tasks: &Vec<usize>| {
        let numbers: Vec<String> = tasks.iter().map(usize::to_string).collect();
        numbers.join(" ") + "\n"
    };
    let text: String = batch.elements.iter().map(line).collect();
    write(&list, |to| to.write_all(text.as_bytes()))?;
    Ok(list)
}

/// The arguments of `hotset` for an element, all but the number of its line.
pub(super) fn arguments(folder: &Folder, batch: &Batch, list: &Path) -> Vec<String> {
    let limits = batch.limits;
    [
        "sim",
        "campaign",
        "task",
        "--quiet",
        "--attempt",
        &batch.attempt.to_string(),
        "--memory",
        &limits.memory.to_string(),
        "--seconds",
        &limits.seconds.to_string(),
        &folder.path().display().to_string(),
        "--list",
        &list.display().to_string(),
    ]
    .map(str::to_string)
    .to_vec()
}
