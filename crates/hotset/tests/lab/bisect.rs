//! `hotset lab bisect` before it builds anything: what it refuses, and what it says then.
use std::path::Path;
use std::process::{Command, Output};

fn bisect(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .args(["lab", "bisect"])
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn refused(folder: &Path, words: &[&str]) -> String {
    let output = bisect(folder, words);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A folder with three patches.
fn patches() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("my")).unwrap();
    for name in ["0001-a.patch", "0002-b.patch", "0003-c.patch", "cover"] {
        std::fs::write(folder.path().join("my").join(name), "").unwrap();
    }
    folder
}

const PROMISE: &str = "three-workers:the probe file stays 95% resident, MGLRU";

#[test]
fn a_range_that_names_nothing_is_refused() {
    let folder = patches();
    let at = folder.path();
    let text = refused(at, &["0", "--series", "my", "--promise", PROMISE]);
    assert!(text.contains("expected GOOD..BAD"), "{text}");
    let text = refused(at, &["0..4", "--series", "my", "--promise", PROMISE]);
    assert!(
        text.contains("expected a number of patches, 1 to 3"),
        "{text}"
    );
    let text = refused(at, &["2..2", "--series", "my", "--promise", PROMISE]);
    assert!(
        text.contains("expected a number of patches, 3 to 3"),
        "{text}"
    );
    let text = refused(at, &["0..3", "--promise", PROMISE]);
    assert!(text.contains("--series FOLDER"), "{text}");
}

#[test]
fn a_promise_that_is_none_is_refused_with_those_that_there_are() {
    let folder = patches();
    let with = |promise: &str| {
        refused(
            folder.path(),
            &["0..3", "--series", "my", "--promise", promise],
        )
    };
    assert!(with("three-workers").contains("expected EXPERIMENT:PROMISE"));
    assert!(with("three-worker:x").contains("three-workers"));
    assert!(with("three-workers:no such thing").contains("the probe file stays 95% resident"));
    assert!(with("three-workers:probe file").contains("fits more than one promise"));
}

#[test]
fn another_search_in_the_same_folder_is_refused() {
    let folder = patches();
    std::fs::create_dir_all(folder.path().join("out")).unwrap();
    let state = r#"{"schema":"hotset.lab.bisect.state.1","search":"0..9 other:promise","candidates":10,"tested":[]}"#;
    std::fs::write(folder.path().join("out/bisect.json"), state).unwrap();
    let words = ["0..3", "--series", "my", "--promise", PROMISE, "-o", "out"];
    let text = refused(folder.path(), &words);
    assert!(
        text.contains("another search (0..9 other:promise)"),
        "{text}"
    );
}
