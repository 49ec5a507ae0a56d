//! Finds experiments in the places where they lie.
use super::definition::Experiment;
use super::load::Changes;
use super::text::source::Broken;
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An experiment file as `hotset lab list` shows it.
pub struct Listed {
    /// The name of the folder in `experiments/` that the file lies in; empty for none.
    pub folder: String,
    /// The experiment, or the reason why it cannot be run.
    pub experiment: Result<Experiment, Broken>,
    /// The experiment with each of its presets; empty where it is broken.
    pub presets: Vec<(String, Experiment)>,
}

impl Listed {
    /// The experiment file, checked with each of its presets. `folder` as in the field.
    pub fn read(folder: String, path: &Path) -> Listed {
        let (experiment, presets) = match checked(path) {
            Ok((experiment, presets)) => (Ok(experiment), presets),
            Err(broken) => (Err(broken), Vec::new()),
        };
        Listed {
            folder,
            experiment,
            presets,
        }
    }
}

/// Places that have experiments, the first before the others: the current folder, the source tree
/// that this program was built in, and the places of `make install`.
fn places() -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from("experiments")];
    if let Ok(program) = std::env::current_exe() {
        let above = program.ancestors().skip(1);
        let ours = above.map(|dir| dir.join("experiments"));
        places.extend(ours.filter(|dir| {
            dir.parent().is_some_and(|root| {
                // Only the folder of a source tree counts, not any folder of that name.
                root.join("crates").is_dir()
            })
        }));
    }
    places.extend(processes::program::installed("share/hotset/experiments"));
    places
}

/// The file of an experiment that is given by its name or by the path of its file.
///
/// # Errors
/// When there is no such experiment.
pub fn find(name: &str) -> Result<PathBuf> {
    if name.contains('/') || name.ends_with(".toml") {
        let path = PathBuf::from(name);
        if path.is_dir() {
            let shown = names::shown(&path);
            bail!("{shown}: it is a folder; name an experiment file in it");
        }
        if !path.is_file() {
            bail!("{}: there is no such experiment file", names::shown(&path));
        }
        return Ok(path);
    }
    let mut known = files()?;
    match known.remove(name) {
        Some((_, path)) => Ok(path),
        None => {
            let here = format!("./{name}.toml");
            if Path::new(&here).is_file() {
                let here = names::shown(Path::new(&here));
                bail!("no experiment is called {name:?}; did you mean the file {here}?");
            }
            let meant = names::suggestion(name, known.keys().map(String::as_str));
            bail!("no experiment is called {name:?}; `hotset lab list` lists them{meant}")
        }
    }
}

/// Folder and path of each experiment, by its name.
fn files() -> Result<BTreeMap<String, (String, PathBuf)>> {
    let mut found = BTreeMap::new();
    for place in places().iter().filter(|place| place.is_dir()) {
        for path in entries(place)? {
            if path.is_dir() {
                let folder = name(&path);
                for path in entries(&path)?.into_iter().filter(|path| is_toml(path)) {
                    found.entry(name(&path)).or_insert((folder.clone(), path));
                }
            } else if is_toml(&path) {
                let unfiled = (String::new(), path.clone());
                found.entry(name(&path)).or_insert(unfiled);
            }
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let reading = || format!("reading {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(reading)? {
        paths.push(entry.with_context(reading)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn is_toml(path: &Path) -> bool {
    // The league's challengers lie beside its scenes, and are no experiment.
    let challengers = path
        .file_name()
        .is_some_and(|name| name == "challengers.toml");
    path.extension().is_some_and(|end| end == "toml") && path.is_file() && !challengers
}

/// The name of a folder, or of a file without its ending.
fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// All experiments by folder and name, each checked with each of its presets.
///
/// # Errors
/// When a folder of experiments cannot be read.
pub fn list() -> Result<Vec<Listed>> {
    let mut listed: Vec<(String, PathBuf)> = files()?.into_values().collect();
    // Stable: in a folder the order of the names.
    listed.sort_by(|a, b| a.0.cmp(&b.0));
    let listed = { listed.into_iter() }.map(|(folder, path)| Listed::read(folder, &path));
    Ok(listed.collect())
}

type Presets = Vec<(String, Experiment)>;

fn checked(path: &Path) -> Result<(Experiment, Presets), Broken> {
    let experiment = Experiment::load(path, &Changes::default())?;
    let with = |preset: &String| {
        let changes = Changes {
            preset: Some(preset.clone()),
            set: Vec::new(),
        };
        let loaded = Experiment::load(path, &changes).map_err(|broken| Broken {
            message: format!("{} (with --preset {preset})", broken.message),
            ..broken
        })?;
        Ok((preset.clone(), loaded))
    };
    let presets = experiment
        .presets
        .iter()
        .map(with)
        .collect::<Result<Presets, Broken>>()?;
    Ok((experiment, presets))
}
