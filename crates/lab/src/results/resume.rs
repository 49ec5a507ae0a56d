//! Continues a run that was interrupted.
use crate::experiment::Experiment;
use anyhow::{Context, Result};
use names::shown;
use protocol::record::{Outcome, Run, Trial};
use std::path::{Path, PathBuf};

/// The folder has the results of another run.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: the run has another {part}; --resume continues the same run only",
    names::shown(path)
)]
pub struct Another {
    path: PathBuf,
    part: &'static str,
}

/// The folder has no run that could be continued.
#[derive(Debug, thiserror::Error)]
#[error("{}: there is no run to continue: {reason}", names::shown(path))]
pub struct Nothing {
    path: PathBuf,
    reason: String,
}

/// Checks that `dir` has a run of this command and experiment. Kernels and machine are compared when the run
/// begins.
///
/// # Errors
/// As [`made`].
pub fn check(dir: &Path, experiment: &Experiment, command: &str) -> Result<()> {
    let path = dir.join("run.json");
    let run = run_of(&path)?;
    let differs = [
        (run.source != experiment.text, "experiment file"),
        (run.command != command, "command line"),
    ];
    match differs.into_iter().find(|(differs, _)| *differs) {
        Some((_, part)) => Err(Another { path, part }.into()),
        None => Ok(()),
    }
}

fn run_of(path: &Path) -> Result<Run> {
    read(path).map_err(|error| {
        let reason = match error.downcast_ref::<std::io::Error>() {
            Some(error) => names::io_error(error),
            None => format!("{error:#}"),
        };
        let path = path.to_path_buf();
        Nothing { path, reason }.into()
    })
}

/// Arm, repetition and outcome of a finished trial.
pub type Made = (String, u32, Outcome);

/// The trials that `dir` has of the run that `wanted` describes, by arm and repetition.
///
/// # Errors
/// When `dir` is no run's folder, or another run's: another command, experiment file, kernel or
/// machine. Trials of two such runs cannot be compared.
pub fn made(dir: &Path, wanted: &Run) -> Result<Vec<Made>> {
    let path = dir.join("run.json");
    let run = run_of(&path)?;
    if let Some(part) = difference(&run, wanted) {
        return Err(Another { path, part }.into());
    }
    let trials = dir.join("trials");
    let entries = std::fs::read_dir(&trials).with_context(|| trials.display().to_string())?;
    let mut made = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| trials.display().to_string())?.path();
        if path.extension().is_some_and(|end| end == "json") {
            let trial: Trial = read(&path).with_context(|| shown(&path).to_string())?;
            made.push((trial.arm, trial.repetition, trial.outcome));
        }
    }
    made.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    Ok(made)
}

/// A file of a run.
///
/// # Errors
/// The file cannot be read, or is cut off or damaged.
pub(crate) fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path)?;
    let cut = |error: &serde_json::Error| match error.is_eof() {
        true => "the file is cut off".to_string(),
        false => format!("the file is damaged: {error}"),
    };
    serde_json::from_str(&text).map_err(|error| anyhow::anyhow!("{}", cut(&error)))
}

/// Checks that the run of `path` is the same as another, so that their trials belong together.
///
/// # Errors
/// It is another.
pub(crate) fn same(first: &Run, run: &Run, path: &Path) -> Result<()> {
    let path = path.to_path_buf();
    difference(first, run).map_or(Ok(()), |part| Err(Another { path, part }.into()))
}

/// The first difference between two runs; none where their trials belong together.
fn difference(was: &Run, wanted: &Run) -> Option<&'static str> {
    let machine = |run: &Run| (run.bed.name.clone(), run.bed.host_cpu.clone());
    let differs = [
        (was.schema != wanted.schema, "format"),
        (was.source != wanted.source, "experiment file"),
        // Presets, changes and arms are in the command.
        (was.command != wanted.command, "command line"),
        (was.arms != wanted.arms, "set of arms or kernels"),
        (
            was.repetitions != wanted.repetitions,
            "number of repetitions",
        ),
        (was.seed != wanted.seed, "seed"),
        (
            was.packages != wanted.packages,
            "set of packages in its root",
        ),
        (machine(was) != machine(wanted), "machine"),
    ];
    let mut differs = differs.into_iter().filter(|(differs, _)| *differs);
    differs.next().map(|(_, part)| part)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use protocol::record::{Bed, SCHEMA};

    /// The header of some run.
    pub(crate) fn run(seed: u64) -> Run {
        Run {
            schema: SCHEMA,
            experiment: "e".into(),
            title: String::new(),
            about: String::new(),
            command: "hotset lab run e".into(),
            hotset_version: String::new(),
            started: seed,
            bed: Bed::default(),
            arms: Vec::new(),
            repetitions: 2,
            seed,
            plan: Default::default(),
            source: String::new(),
            packages: Vec::new(),
        }
    }

    #[test]
    fn the_same_run_is_continued_and_another_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let results = crate::results::Results::create(dir.path()).unwrap();
        results.run(&run(1)).unwrap();
        let later = Run {
            started: 99,
            ..run(1)
        };
        assert_eq!(made(dir.path(), &later).unwrap(), []);
        let other = made(dir.path(), &run(2)).unwrap_err().to_string();
        assert!(other.contains("another seed"), "{other}");
        assert!(made(&dir.path().join("none"), &later).is_err());
    }
}
