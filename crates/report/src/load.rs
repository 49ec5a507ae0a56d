//! Reads the results of a run: `run.json` and `trials/*.json` in its directory.
use anyhow::{bail, Context, Result};
use protocol::record::{Run, Trial, SCHEMA};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Results {
    pub run: Run,
    /// The trials in the order of the run's arms, then of repetitions.
    pub trials: Vec<Trial>,
}

/// Reads the directory of a run.
///
/// # Errors
/// A file is missing, unreadable, malformed or of another schema, or a trial does not belong to the
/// run. The error names the file, and the line and column of malformed text.
pub fn load(dir: &Path) -> Result<Results> {
    let path = dir.join("run.json");
    if !path.is_file() {
        bail!(
            "{} does not exist: {} is not the folder of a run; `hotset lab run` makes one",
            path.display(),
            dir.display()
        );
    }
    let run: Run = read(&path)?;
    check_run(&run, &path)?;
    let places: BTreeMap<&str, usize> = run
        .arms
        .iter()
        .enumerate()
        .map(|(place, arm)| (arm.name.as_str(), place))
        .collect();

    let mut found: BTreeMap<(usize, u32), (PathBuf, Trial)> = BTreeMap::new();
    for path in trial_files(&dir.join("trials"))? {
        let trial: Trial = read(&path)?;
        let Some(&place) = places.get(trial.arm.as_str()) else {
            bail!(
                "{}: its arm {:?} is not in {}: remove the file or restore the run.json it belongs to",
                path.display(),
                trial.arm,
                dir.join("run.json").display()
            );
        };
        let key = (place, trial.repetition);
        if let Some((other, _)) = found.get(&key) {
            bail!(
                "{} and {} are both repetition {} of arm {:?}: remove one",
                other.display(),
                path.display(),
                trial.repetition,
                trial.arm
            );
        }
        found.insert(key, (path, trial));
    }
    if found.is_empty() {
        bail!(
            "{} holds no trial: the run ended before its first one did; run it again",
            dir.join("trials").display()
        );
    }
    let trials = found.into_values().map(|(_, trial)| trial).collect();
    Ok(Results { run, trials })
}

fn check_run(run: &Run, path: &Path) -> Result<()> {
    let mut names = BTreeSet::new();
    for arm in &run.arms {
        if !names.insert(arm.name.as_str()) {
            bail!("{}: two arms are called {:?}", path.display(), arm.name);
        }
    }
    for arm in &run.arms {
        if let Some(baseline) = &arm.baseline {
            if !names.contains(baseline.as_str()) {
                bail!(
                    "{}: the baseline {baseline:?} of arm {:?} is no arm of the run",
                    path.display(),
                    arm.name
                );
            }
        }
    }
    Ok(())
}

/// The files of the trials. A name that begins with a dot belongs to an unfinished file.
fn trial_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir)
        .with_context(|| format!("cannot list {}: the run has no trials", dir.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot list {}", dir.display()))?
            .path();
        let hidden = path
            .file_name()
            .is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        if path.extension().is_some_and(|e| e == "json") && !hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    check_schema(&text, path)?;
    serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is malformed: it was cut short or edited; run that trial again or restore the file",
            path.display()
        )
    })
}

/// Checks the schema before anything else, since the fields of another schema give misleading errors.
fn check_schema(text: &str, path: &Path) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: Option<u32>,
    }
    let Ok(head) = serde_json::from_str::<Head>(text) else {
        // Malformed as a whole: reading all of it names the place.
        return Ok(());
    };
    match head.schema {
        Some(SCHEMA) => Ok(()),
        Some(other) => bail!(
            "{} has schema {other}, this hotset reads schema {SCHEMA}: {}",
            path.display(),
            if other < SCHEMA {
                "report it with the older hotset that wrote it, or run the experiment again"
            } else {
                "use the newer hotset that wrote it"
            }
        ),
        None => bail!(
            "{} has no `schema`: it is not a result of `hotset lab run`",
            path.display()
        ),
    }
}
