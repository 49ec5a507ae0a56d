//! Knobs of a trial: journaled and written by hotsetd's own code, and given back from the journal.
use crate::setting::daemon::Files;
use anyhow::{Context, Result};
use hotsetd::actuate::journal::Journal;
use hotsetd::actuate::knobs::{GivenBack, KnobWriter, Outcome};
use names::shown;
use std::path::{Path, PathBuf};

/// The knobs of one trial.
pub struct Knobs {
    writer: KnobWriter,
}

/// The journal of the trial's own knobs in its folder.
pub fn journal(folder: &Path) -> PathBuf {
    folder.join("journal")
}

fn writer(root: &Path, path: &Path) -> Result<KnobWriter> {
    let boot = root.join("proc/sys/kernel/random/boot_id");
    let boot = std::fs::read_to_string(boot).unwrap_or_default();
    let journal = Journal::open(path, &boot).with_context(|| shown(path).to_string())?;
    Ok(KnobWriter::new(root, journal, false))
}

impl Knobs {
    /// # Errors
    /// A journal is there and cannot be read.
    pub fn open(root: &Path, folder: &Path) -> Result<Knobs> {
        Ok(Knobs {
            writer: writer(root, &journal(folder))?,
        })
    }

    /// Writes a sysctl.
    ///
    /// # Errors
    /// A message: the sysctl cannot be read or written, or the journal cannot.
    pub fn set(&mut self, knob: &str, value: &str) -> Result<(), String> {
        match self.writer.set(knob, None, value) {
            Ok(Outcome::Yielded { found }) => Err(format!(
                "{knob} has become {found}: somebody else writes it during the trial"
            )),
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{knob} = {value}: {error}")),
        }
    }

    /// Gives every knob back.
    ///
    /// # Errors
    /// A message on the knobs that could not be given back.
    pub fn give_back(&mut self) -> Result<Vec<String>, String> {
        let (mut notes, mut failed) = (Vec::new(), Vec::new());
        self.writer.give_back(|done| match done {
            GivenBack::Restored { .. } => {}
            GivenBack::Left { knob, found } => notes.push(format!(
                "{knob} holds {found}, which somebody else has written: it is left alone"
            )),
            GivenBack::Failed { knob, error } => {
                failed.push(format!("{knob} cannot be given back: {error}"));
            }
        });
        match failed.is_empty() {
            true => Ok(notes),
            false => Err(failed.join("; ")),
        }
    }
}

/// Gives back what a killed trial and its hotsetd left in the knobs. Returns the names of the knobs.
///
/// # Errors
/// A journal cannot be read, or a knob cannot be given back.
pub fn recover(root: &Path, folder: &Path) -> Result<Vec<String>> {
    let mut restored = Vec::new();
    let mut failed = Vec::new();
    for path in [Files::of(folder).journal, journal(folder)] {
        if !path.exists() {
            continue;
        }
        writer(root, &path)?.give_back(|done| match done {
            GivenBack::Restored { knob, original } => restored.push(format!("{knob} = {original}")),
            GivenBack::Left { .. } => {}
            GivenBack::Failed { knob, error } => failed.push(format!("{knob}: {error}")),
        });
    }
    anyhow::ensure!(
        failed.is_empty(),
        "knobs that an earlier trial wrote cannot be given back: {}",
        failed.join("; ")
    );
    Ok(restored)
}
