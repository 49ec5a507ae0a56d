//! What was asked of a cluster: the run that a folder has.
use crate::experiment::Experiment;
use crate::results::resume;
use crate::run::Options;
use anyhow::{Context, Result};
use cluster::refused;
use names::shown;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the run of a folder is: `DIR/parts/asked.json`. Elements may begin days after it was written.
#[derive(Serialize, Deserialize)]
pub struct Asked {
    /// The name of its jobs, which no other run has.
    pub name: String,
    command: String,
    source: String,
}

impl Asked {
    /// A run that begins now.
    pub fn new(experiment: &Experiment, options: &Options) -> Asked {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos() as u64);
        let number = random::SplitMix64::new(now ^ u64::from(std::process::id())).next_u64();
        Asked {
            name: format!("hotset-lab-{number:016x}"),
            command: options.command.clone(),
            source: experiment.text.clone(),
        }
    }

    /// The run that a folder has.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(out: &Path) -> Result<Option<Asked>> {
        let path = out.join("parts").join("asked.json");
        match path.exists() {
            true => resume::read(&path).with_context(|| shown(&path).to_string()),
            false => Ok(None),
        }
    }

    /// Checks that it is this run.
    ///
    /// # Errors
    /// It is another.
    pub fn check(&self, experiment: &Experiment, options: &Options) -> Result<()> {
        let differs = [
            (self.source != experiment.text, "experiment file"),
            (self.command != options.command, "command line"),
        ];
        match differs.into_iter().find(|(differs, _)| *differs) {
            Some((_, part)) => Err(refused!(
                "{}: the run has another {part}; --resume continues the same run only",
                shown(&options.out)
            )),
            None => Ok(()),
        }
    }
}

/// The error of a folder without a run of a cluster.
pub fn nothing(options: &Options) -> anyhow::Error {
    refused!(
        "--resume: {}: there is no run of a cluster to continue",
        shown(&options.out)
    )
}
