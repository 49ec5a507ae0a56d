//! Reads an experiment file: merges presets and changes, and checks the whole.
use super::arm::Arm;
use super::definition::Experiment;
use super::machine::{Machine, Root};
use super::places::Places;
use super::text::source::{Broken, Pieces};
use super::{check, sweep};
use protocol::comparison::Comparison;
use protocol::plan::{Chart, Curve, Figure, Plan, Promise};
use protocol::size::Size;
use protocol::spec::{Scene, Worker};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Changes that the command line makes to an experiment file.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The name of a table below `[presets]`.
    pub preset: Option<String>,
    /// Lines such as `machine.memory_mb=256`.
    pub set: Vec<String>,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    title: String,
    #[serde(default)]
    about: String,
    #[serde(default = "default_repetitions")]
    repetitions: u32,
    #[serde(default = "default_seed")]
    seed: u64,
    #[serde(default)]
    machine: Machine,
    #[serde(default)]
    files: BTreeMap<String, Size>,
    root: Option<Root>,
    workers: BTreeMap<String, Worker>,
    scenes: Vec<Scene>,
    #[serde(default)]
    exhausted_below: Size,
    #[serde(default)]
    arms: Vec<Arm>,
    #[serde(default)]
    sweeps: Vec<sweep::Sweep>,
    #[serde(default)]
    figures: Vec<Figure>,
    #[serde(default)]
    charts: Vec<Chart>,
    #[serde(default)]
    curves: Vec<Curve>,
    #[serde(default)]
    comparisons: Vec<Comparison>,
    #[serde(default)]
    promises: Vec<Promise>,
}

fn default_repetitions() -> u32 {
    5
}

fn default_seed() -> u64 {
    1
}

impl Experiment {
    /// Reads, merges and checks an experiment file.
    pub fn load(path: &Path, changes: &Changes) -> Result<Experiment, Broken> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Broken::unreadable(path, error))?;
        Experiment::parse(path, &text, changes)
    }

    /// Merges and checks the text of an experiment file. `path` is for messages and for the name.
    pub fn parse(path: &Path, text: &str, changes: &Changes) -> Result<Experiment, Broken> {
        let pieces = Pieces::new(path, text, &changes.set)?;
        let (tree, presets) = pieces.merge(changes.preset.as_deref())?;
        let form: Form = pieces.read(&tree)?;
        let mut arms = form.arms;
        for (place, sweep) in form.sweeps.iter().enumerate() {
            arms.extend(sweep.arms(place));
        }
        for arm in &mut arms {
            if arm.label.is_empty() {
                arm.label.clone_from(&arm.name);
            }
            arm.kernel.below(path.parent().unwrap_or(Path::new("")));
        }
        let mut experiment = Experiment {
            name: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path: path.to_path_buf(),
            text: text.to_string(),
            presets,
            title: form.title,
            about: form.about,
            repetitions: form.repetitions,
            seed: form.seed,
            machine: form.machine,
            files: form.files,
            root: form.root,
            workers: form.workers,
            scenes: form.scenes,
            exhausted_below: form.exhausted_below,
            arms,
            plan: Plan {
                figures: form.figures,
                charts: form.charts,
                curves: form.curves,
                comparisons: form.comparisons,
                promises: form.promises,
            },
            notes: Vec::new(),
            places: Places::default(),
        };
        check::all(&experiment).map_err(|error| pieces.broken(&tree, &error))?;
        let notes = check::notes(&experiment, changes.preset.is_some());
        let placed = notes.iter().map(|note| pieces.broken(&tree, note));
        experiment.notes = placed.collect();
        experiment.places = Places::of(experiment.root.as_ref(), &experiment.workers, &|error| {
            pieces.broken(&tree, error)
        });
        Ok(experiment)
    }
}
