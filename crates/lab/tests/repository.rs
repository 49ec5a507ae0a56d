//! The experiments of this repository: their folders, and that all of them are right.
use lab::experiment::{self, Changes, Experiment};
use std::path::{Path, PathBuf};

/// The experiments of this repository: each file with the folder that it lies in.
fn repository() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let read = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut found = Vec::new();
    for folder in read(&root) {
        assert!(folder.is_dir(), "{} lies in no folder", folder.display());
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let files = read(&folder);
        assert!(files.len() <= 12, "{name} has more than 12 files");
        let files = { files.into_iter() }.filter(|path| {
            let challengers = path.file_name().unwrap() == "challengers.toml";
            path.extension().unwrap() == "toml" && !challengers
        });
        found.extend(files.map(|path| (name.clone(), path)));
    }
    found
}

#[test]
fn the_experiments_of_this_repository_are_valid_with_every_preset() {
    let found = repository();
    assert!(found.len() > 30, "{found:?}");
    for (_, path) in found {
        let plain = Experiment::load(&path, &Changes::default());
        let plain = plain.unwrap_or_else(|broken| panic!("{broken}"));
        for preset in plain.presets {
            let changes = Changes {
                preset: Some(preset),
                set: vec![],
            };
            Experiment::load(&path, &changes).unwrap_or_else(|broken| panic!("{broken}"));
        }
    }
}

#[test]
fn an_experiment_is_found_by_its_name_whatever_its_folder() {
    // This test's program lies in the source tree.
    let listed = experiment::list().unwrap();
    for (folder, path) in repository() {
        let name = path.file_stem().unwrap().to_string_lossy();
        let found = experiment::find(&name).unwrap();
        assert_eq!(found.canonicalize().unwrap(), path.canonicalize().unwrap());
        let of_name = |one: &&experiment::Listed| {
            let experiment = one.experiment.as_ref();
            experiment.is_ok_and(|experiment| experiment.name == name)
        };
        let folders: Vec<&str> = { listed.iter().filter(of_name) }
            .map(|one| one.folder.as_str())
            .collect();
        assert_eq!(folders, [folder], "{name}");
    }
    let folders: Vec<&str> = listed.iter().map(|one| one.folder.as_str()).collect();
    assert!(folders.is_sorted(), "{folders:?}");
}
