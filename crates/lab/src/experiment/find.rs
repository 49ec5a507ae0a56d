//! Where experiments are looked for.
use super::{Broken, Changes, Experiment};
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where packages install experiments.
const INSTALLED: &str = "/usr/share/hotset/experiments";

/// Folders, first come first served: here, in the source tree that this program was built in, and
/// where packages put them.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from("experiments")];
    if let Ok(program) = std::env::current_exe() {
        let ours = program
            .ancestors()
            .skip(1)
            .map(|dir| dir.join("experiments"));
        folders.extend(ours.filter(|dir| {
            dir.parent().is_some_and(|root| {
                // Not any folder of that name: the one of a source tree.
                root.join("crates").is_dir()
            })
        }));
    }
    folders.push(INSTALLED.into());
    folders
}

/// The file of an experiment that is given by name or by path.
pub fn find(name: &str) -> Result<PathBuf> {
    if name.contains('/') || name.ends_with(".toml") {
        let path = PathBuf::from(name);
        if !path.is_file() {
            bail!("there is no experiment file {name}");
        }
        return Ok(path);
    }
    for folder in folders() {
        let path = folder.join(format!("{name}.toml"));
        if path.is_file() {
            return Ok(path);
        }
    }
    let known: Vec<String> = files()?.into_keys().collect();
    bail!(
        "no experiment is called {name:?}; {}",
        super::source::there_are(&known)
    )
}

/// All experiments by name.
fn files() -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for folder in folders().iter().filter(|folder| folder.is_dir()) {
        let reading = || format!("reading {}", folder.display());
        for entry in std::fs::read_dir(folder).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let name = path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                files.entry(name).or_insert(path);
            }
        }
    }
    Ok(files)
}

/// All experiments, each checked with each of its presets.
pub fn list() -> Result<Vec<Result<Experiment, Broken>>> {
    Ok(files()?.values().map(|path| checked(path)).collect())
}

fn checked(path: &Path) -> Result<Experiment, Broken> {
    let experiment = Experiment::load(path, &Changes::default())?;
    for preset in &experiment.presets {
        let changes = Changes {
            preset: Some(preset.clone()),
            set: Vec::new(),
        };
        Experiment::load(path, &changes)?;
    }
    Ok(experiment)
}
