//! Reading the directory of a run, and its errors.
mod common;

use common::{put, run, trials};
use std::fs;
use std::path::Path;

fn message(dir: &Path) -> String {
    format!("{:#}", report::load(dir).unwrap_err())
}

fn whole() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &run(), &trials());
    dir
}

#[test]
fn trials_come_in_the_order_of_arms_and_repetitions() {
    let dir = whole();
    let results = report::load(dir.path()).unwrap();
    assert_eq!(results.run, run());
    assert_eq!(results.trials, trials());
    // A writer's unfinished file and a file of another program are no trials.
    fs::write(dir.path().join("trials/.classic-on-9.json"), "{").unwrap();
    fs::write(dir.path().join("trials/notes.txt"), "x").unwrap();
    assert_eq!(
        report::load(dir.path()).unwrap().trials.len(),
        trials().len()
    );
}

#[test]
fn another_schema_is_refused_with_a_remedy() {
    let dir = whole();
    for (schema, advice) in [(0, "older hotset"), (99, "newer hotset")] {
        // Another schema may have other fields: only its number is certain.
        let path = dir.path().join("run.json");
        fs::write(&path, format!("{{\"schema\": {schema}, \"armies\": 3}}")).unwrap();
        let error = message(dir.path());
        assert!(
            error.contains("run.json") && error.contains(&format!("schema {schema}")),
            "{error}"
        );
        assert!(error.contains(advice), "{error}");
    }
    let dir = whole();
    let path = dir.path().join("trials/mglru-on-1.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"schema\":1", "\"schema\":0")).unwrap();
    let error = message(dir.path());
    assert!(error.contains("mglru-on-1.json has schema 0"), "{error}");
    fs::write(&path, "{}").unwrap();
    assert!(message(dir.path()).contains("mglru-on-1.json has no `schema`"));
}

#[test]
fn a_malformed_file_is_named_with_its_place() {
    for name in ["run.json", "trials/classic-on-2.json"] {
        let dir = whole();
        let path = dir.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        let error = message(dir.path());
        assert!(
            error.contains(name) && error.contains("malformed"),
            "{error}"
        );
        assert!(
            error.contains("line ") && error.contains("column "),
            "{error}"
        );
        fs::write(&path, text.replace("\"seed\":", "\"sead\":")).unwrap();
        let error = message(dir.path());
        assert!(
            error.contains(name) && error.contains("missing field `seed`"),
            "{error}"
        );
    }
}

#[test]
fn a_directory_without_trials_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(message(dir.path()).contains("run.json does not exist"));
    put(dir.path(), &run(), &[]);
    assert!(message(dir.path()).contains("holds no trial"));
    fs::remove_dir(dir.path().join("trials")).unwrap();
    assert!(message(dir.path()).contains("no trials"));
}

#[test]
fn trials_that_do_not_belong_are_refused() {
    let dir = whole();
    let stranger = dir.path().join("trials/zz.json");
    let mut trial = trials()[0].clone();
    fs::write(&stranger, serde_json::to_string(&trial).unwrap()).unwrap();
    let error = message(dir.path());
    assert!(
        error.contains("zz.json") && error.contains("both repetition 0"),
        "{error}"
    );
    trial.arm = "nobody".into();
    fs::write(&stranger, serde_json::to_string(&trial).unwrap()).unwrap();
    let error = message(dir.path());
    assert!(
        error.contains("zz.json") && error.contains("\"nobody\""),
        "{error}"
    );
}

#[test]
fn arms_that_contradict_are_refused() {
    let dir = whole();
    let mut run = run();
    run.arms[1].baseline = Some("ghost".into());
    put(dir.path(), &run, &[]);
    assert!(message(dir.path()).contains("\"ghost\""));
    run.arms[1] = run.arms[0].clone();
    put(dir.path(), &run, &[]);
    assert!(message(dir.path()).contains("two arms are called"));
}
