//! Going on with a run that was interrupted.
use anyhow::{bail, Context, Result};
use raw::record::{Outcome, Run, Trial};
use std::path::Path;

/// A trial that was made.
pub type Made = (String, u32, Outcome);

/// The trials that `dir` has of the run that `wanted` describes, by arm and repetition.
///
/// # Errors
/// When `dir` is no run's folder, or another run's: another command, experiment file, kernel or
/// machine. Trials of two such runs cannot be compared.
pub fn made(dir: &Path, wanted: &Run) -> Result<Vec<Made>> {
    let path = dir.join("run.json");
    let run: Run = read(&path)?;
    if let Some(what) = difference(&run, wanted) {
        let path = path.display();
        bail!("{path} is of a run with another {what}: --resume goes on with the same run only");
    }
    let trials = dir.join("trials");
    let entries = std::fs::read_dir(&trials).with_context(|| trials.display().to_string())?;
    let mut made = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| trials.display().to_string())?.path();
        if path.extension().is_some_and(|end| end == "json") {
            let trial: Trial = read(&path)?;
            made.push((trial.arm, trial.repetition, trial.outcome));
        }
    }
    made.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    Ok(made)
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("reading {}, of a run to go on with", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("in {}", path.display()))
}

/// What two runs differ in, in words; none where their trials belong together.
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
        (machine(was) != machine(wanted), "machine"),
    ];
    let mut differs = differs.into_iter().filter(|(differs, _)| *differs);
    differs.next().map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raw::record::{Bed, SCHEMA};

    fn run(seed: u64) -> Run {
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
        }
    }

    #[test]
    fn the_same_run_goes_on_and_another_does_not() {
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
